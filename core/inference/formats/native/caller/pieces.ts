// What a whole native answer and a stream share: parts, stop reasons, and the members about provider and time.

import { shownWarnings } from '../../../caller/svc.ts';
import type { Part, ReplyEnd, ReplyMeta, Stop, Warning } from '../../../canonical/types.ts';
import { nativeParam } from './params.ts';

/** `{reason, sequence, detail}`; null when the provider gave none. */
export function stopText(stop: Stop | null): string {
  if (stop === null) return 'null';
  const { reason, sequence = null, detail = null } = stop;
  return JSON.stringify({ reason, sequence, detail });
}

/**
 * A part as the caller sees it, without members that only its family can read; `n` counts the calls of its candidate.
 */
export function shownPart(part: Part, request_id: string, n: number): Part {
  const { ext: _ext, cache: _cache, ...shown } = part;
  if (shown.type === 'tool_call' && shown.id === '') shown.id = `call_${request_id}_${n}`;
  if (shown.type === 'text') {
    if (shown.citations?.length === 0) delete shown.citations;
    if (shown.logprobs?.length === 0) delete shown.logprobs;
  }
  if (shown.type === 'reasoning' || shown.type === 'tool_call') {
    if (shown.signature === '') delete shown.signature;
  }
  if (shown.type === 'reasoning' && shown.data === '') delete shown.data;
  if (shown.type === 'audio' && shown.transcript === '') delete shown.transcript;
  return shown as Part;
}

/** `provider_meta` of `start`, of `end` and of a whole answer. */
export function providerMetaText(meta: ReplyMeta): string {
  const { provider, endpoint_id, region = '', attempt = 1 } = meta;
  return JSON.stringify({ provider, endpoint_id, region, attempt });
}

/** The members that end an answer, whole or streamed, without braces. */
export function endMembers(meta: ReplyMeta, end: ReplyEnd, reported_model: string | undefined): string {
  const { provider, endpoint_id, region = '' } = meta;
  const upstream_model = meta.upstream_model ?? reported_model ?? '';
  const resolved = JSON.stringify({ provider, endpoint_id, upstream_model, region });
  const timing = end.timing ?? { ttft_ms: null, duration_ms: 0, upstream_ttft_ms: null };
  return (
    `"usage":${JSON.stringify(end.usage)},"cost":${JSON.stringify(end.cost)},"resolved":${resolved},` +
    `"provider_meta":${providerMetaText(meta)},"timing":${JSON.stringify(timing)},` +
    `"warnings":${JSON.stringify(nativeWarnings(end.warnings))}`
  );
}

/** At most 20 warnings, with their `param` in native names. */
export function nativeWarnings(warnings: readonly Warning[]): ReturnType<typeof shownWarnings> {
  return shownWarnings(warnings).map((warning) =>
    'param' in warning && warning.param !== undefined
      ? { ...warning, param: nativeParam(warning.param) }
      : warning,
  );
}
