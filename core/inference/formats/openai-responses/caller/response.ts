// The `Response` object, which whole answers and five events of a stream contain.
import type { ErrorCode } from '../../../../kernel/index.ts';
import { svcText } from '../../../caller/svc.ts';
import type { ReplyEnd, ReplyMeta, Stop, StreamFault, Usage, Warning } from '../../../canonical/types.ts';
import { repeatedText } from './echo.ts';

/** The status of a response; `incomplete` and `failed` have a reason. */
export type ResponseState =
  | { status: 'in_progress' | 'completed' }
  | { status: 'incomplete'; reason: 'max_output_tokens' | 'content_filter' }
  | { status: 'failed'; code: FailureCode; message: string };

/** OpenAI's error codes that clients' types know and that fit faults of ours. */
type FailureCode = 'server_error' | 'rate_limit_exceeded' | 'invalid_prompt';

/** JSON text of `usage`, with every key that OpenAI sends. */
export function usageText(usage: Usage): string {
  const input = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
  const { cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens } = usage;
  return (
    `{"input_tokens":${input},"input_tokens_details":{"cached_tokens":${cache_read_tokens}` +
    `,"cache_write_tokens":${cache_write_tokens}},"output_tokens":${output_tokens}` +
    `,"output_tokens_details":{"reasoning_tokens":${reasoning_tokens}},"total_tokens":${input + output_tokens}}`
  );
}

/** Status of the response for a stop; what the dialect has no word for goes to `warnings` (docs/compatibility.md#answers). */
export function responseStateOf(stop: Stop | null, warnings: Warning[]): ResponseState {
  switch (stop?.reason) {
    case 'max_tokens':
    case 'context_window':
      return { status: 'incomplete', reason: 'max_output_tokens' };
    case 'content_filter':
      return { status: 'incomplete', reason: 'content_filter' };
    case 'error':
      return { status: 'failed', code: 'server_error', message: 'The provider cut the answer off.' };
    case 'pause':
    case 'compaction':
      warnings.push({
        code: 'turn_paused',
        message: 'The provider paused the turn; send the answer back to go on.',
      });
      break;
    case 'malformed':
      warnings.push({ code: 'malformed_output', message: 'The model produced a malformed answer.' });
      break;
    default:
  }
  return { status: 'completed' };
}

const LIMITS: ReadonlySet<ErrorCode> = new Set(['rate_limit_exceeded', 'upstream_rate_limited']);
const PROMPTS: ReadonlySet<ErrorCode> = new Set([
  ...(['invalid_request', 'content_filtered', 'context_length_exceeded', 'request_too_large'] as const),
]);

/** The outcome of a stream that `fault` ended; the gateway's own code is in `svc.error`. */
export function failureOf({ code, message }: StreamFault): ResponseState {
  if (LIMITS.has(code)) return { status: 'failed', code: 'rate_limit_exceeded', message };
  return { status: 'failed', code: PROMPTS.has(code) ? 'invalid_prompt' : 'server_error', message };
}

/** `svc` of a response; that of a failed one names the cause. */
export function svcOf(
  meta: ReplyMeta,
  end: ReplyEnd | null,
  warnings: readonly Warning[],
  fault?: StreamFault,
): string {
  const text = svcText(meta, end, warnings);
  if (fault === undefined) return text;
  const { code, message, details = {} } = fault;
  return `${text.slice(0, -1)},"error":${JSON.stringify({ code, message, details })}}`;
}

/** The members that are the same in all events of one response, without braces. */
export function fixedText(meta: ReplyMeta): string {
  return (
    `"id":${JSON.stringify(meta.request_id)},"object":"response","created_at":${meta.created},"background":false` +
    `,"model":${JSON.stringify(meta.model)},"previous_response_id":null,"store":false,${repeatedText(meta)}`
  );
}

/** Epoch seconds when the answer was complete; for a replay, when its first call was. */
export function completedAt(meta: ReplyMeta, end: ReplyEnd): number {
  return meta.created + Math.round((end.timing?.duration_ms ?? 0) / 1_000);
}

/** The response in its present state; `output`, `usage` and `svc` are JSON texts. */
export function responseText(
  fixed: string,
  outcome: ResponseState,
  facts: { output: string; usage: string; tier: string | null; svc: string; completed_at?: number },
): string {
  const { status } = outcome;
  const completed = status === 'completed' ? (facts.completed_at ?? null) : null;
  const error =
    status === 'failed' ? JSON.stringify({ code: outcome.code, message: outcome.message }) : 'null';
  const details = status === 'incomplete' ? `{"reason":"${outcome.reason}"}` : 'null';
  const { output, usage, tier, svc } = facts;
  return (
    `{${fixed},"status":"${status}","completed_at":${completed},"error":${error},"incomplete_details":${details}` +
    `,"output":[${output}],"service_tier":${JSON.stringify(tier ?? 'default')},"usage":${usage},"svc":${svc}}`
  );
}
