// A whole response of the same format: read for metering, and passed on with our id, model and `svc` spliced in.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { RawWhole, Target } from '../../../canonical/contract.ts';
import type {
  CanonicalRequest,
  ReplyEnd,
  ReplyMeta,
  Stop,
  Usage,
  Warning,
} from '../../../canonical/types.ts';
import { hasCounts, hasNoOthers, isCharged } from '../../../canonical/usage.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { duplicated, scanObject, splice } from '../../../wire/scan.ts';
import { USAGE_FLAGS } from '../../openai-chat/words/usage.ts';
import { responseStateOf, svcOf, usageText } from '../caller/response.ts';
import { parseResponse } from '../upstream/decode.ts';
import { stopOf } from '../words/stop.ts';
import { readUsage } from '../words/usage.ts';
import { measure, type Ours, oursOf, responseEdits } from './response.ts';

/** @throws StreamErrorFault for an error, ProtocolFault when `body` is no response otherwise */
export function rawWhole(body: Buffer, _request: CanonicalRequest, target: Target): RawWhole {
  const value = parseResponse(body);
  if (!(value['output'] as unknown[]).every(isObject)) throw new ProtocolFault('an item is not an object');
  const { bytes, calls, searches, refusal } = measure(value['output']);
  const stop = stopOf(value, { refusal, calls: calls > 0 });
  // Not done, or ended in an unknown way: not an answer that can be charged.
  if (stop === null) throw new ProtocolFault(`a response ended with status '${String(value['status'])}'`);
  const usage = readUsage(value['usage'], target.flags, searches);
  const { service_tier: tier, id } = value;
  return {
    usage,
    stop,
    output_bytes: bytes,
    tool_calls: calls,
    service_tier: typeof tier === 'string' ? tier : null,
    upstream_id: typeof id === 'string' ? id : null,
    finish(meta, end) {
      const own = ownUsage(value['usage'], usage, { end, target });
      return finish(body, value, oursOf(meta, target), endMembers(meta, { end, stop, own }));
    },
  };
}

/**
 * Whether our usage object must replace the provider's, which is `sent`: that one does not say what was charged, or has
 * not the counts that clients of this dialect read.
 */
export function ownUsage(
  sent: unknown,
  usage: Usage | null,
  how: { readonly end: ReplyEnd; readonly target: Target },
): boolean {
  if (!isCharged(usage, how.end) || how.target.flags.some((flag) => USAGE_FLAGS.includes(flag))) return true;
  if (!isObject(sent) || !hasCounts(sent, ['input_tokens', 'output_tokens', 'total_tokens'])) return true;
  const { input_tokens_details: input, output_tokens_details: output } = sent;
  return !(
    hasCounts(input, ['cached_tokens']) &&
    hasNoOthers(input, ['cache_write_tokens']) &&
    hasCounts(output, ['reasoning_tokens'])
  );
}

/** Members at the end of a response, as JSON texts. */
export function endMembers(
  meta: ReplyMeta,
  how: { end: ReplyEnd; stop: Stop | null; own: boolean },
): Record<string, string> {
  const { end, stop, own } = how;
  const warnings: Warning[] = [];
  const outcome = responseStateOf(end.stop ?? stop, warnings);
  const members: Record<string, string> = { svc: svcOf(meta, end, warnings) };
  if (own) members['usage'] = usageText(end.usage);
  if (end.stop !== undefined) {
    members['status'] = JSON.stringify(outcome.status);
    const reason = outcome.status === 'incomplete' ? { reason: outcome.reason } : null;
    members['incomplete_details'] = JSON.stringify(reason);
  }
  return members;
}

function finish(
  body: Buffer,
  value: JsonObject,
  ours: Ours,
  members: Readonly<Record<string, string>>,
): Buffer {
  const top = scanObject(body);
  if (top !== null && duplicated(top) === null) return splice(body, responseEdits(body, top, ours, members));
  // The scan is not certain, or a key occurs twice: the parsed value is written.
  const text = Buffer.from(JSON.stringify(value));
  const anew = scanObject(text);
  return anew === null ? text : splice(text, responseEdits(text, anew, ours, members));
}
