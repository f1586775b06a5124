// Adds members that an older version of the format leaves out.
import type { JsonObject } from '../../../../kernel/index.ts';
import { memberOf, type TopLevel } from '../../../wire/scan.ts';

function missing(keys: readonly string[]): (top: TopLevel) => Record<string, string> {
  return (top) => {
    const absent: Record<string, string> = {};
    for (const key of keys) if (memberOf(top, key) === undefined) absent[key] = 'null';
    return absent;
  };
}

const COUNTS = [
  'input_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'output_tokens',
  'output_tokens_details',
  'server_tool_use',
];

/**
 * Nullable keys that an older version of the format leaves out: answers always have the keys of both versions.
 * Returns members to add with their JSON text; {} when nothing is missing.
 */
export const withMissing = {
  message: missing(['stop_reason', 'stop_sequence', 'stop_details', 'container', 'diagnostics']),
  usage: missing([
    'cache_creation_input_tokens',
    'cache_read_input_tokens',
    'cache_creation',
    'output_tokens_details',
    'server_tool_use',
    'service_tier',
    'inference_geo',
    'speed',
  ]),
  /** Of the last usage: with the values of the events before it. */
  counts(top: TopLevel, known: JsonObject | null): Record<string, string> {
    const absent: Record<string, string> = {};
    for (const key of COUNTS) {
      if (memberOf(top, key) === undefined) absent[key] = JSON.stringify(known?.[key] ?? null);
    }
    return absent;
  },
  delta: missing(['stop_reason', 'stop_sequence', 'stop_details', 'container']),
};
