// The spans of an ended call: a server span for the call, with a client span below it for each attempt. They are made
// only from the call's record, which holds no content. Nothing that a caller can write freely (tags, app, agent) is
// used.
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { AttemptRecord, CallRecord } from '@svc/core/inference/index.ts';
import { type Address, attributes as names, providerOf } from './names.ts';

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * The parent span that the caller names in `traceparent` (W3C Trace Context); the root context when it names none
 * that can be read.
 */
function parentOf(traceparent: string): Context {
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(traceparent) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined))
    return ROOT_CONTEXT;
  if (traceId === undefined || spanId === undefined) return ROOT_CONTEXT;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags as string, 16) & TraceFlags.SAMPLED;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

/**
 * Tokens of the whole prompt. In the conventions this includes the cached tokens, which our records count separately.
 */
export function inputTokens(usage: NonNullable<CallRecord['usage']>): number {
  return usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
}

function usageAttributes({ usage }: CallRecord): Attributes {
  if (usage === null) return {};
  return {
    [names.input_tokens]: inputTokens(usage),
    [names.output_tokens]: usage.output_tokens,
    [names.cache_read]: usage.cache_read_tokens,
    [names.cache_creation]: usage.cache_write_tokens,
    [names.reasoning]: usage.reasoning_tokens,
    'svc.usage.source': usage.source,
  };
}

/** Only for streams: for an answer that came whole it would be the duration of the answer. */
function firstChunk({ stream }: CallRecord, ttft_ms: number | null): Attributes {
  return stream && ttft_ms !== null ? { [names.first_chunk]: ttft_ms / 1_000 } : {};
}

/** What the caller asked for; the number of answers only where it is not one, as the conventions say. */
function askedAttributes({ asked }: CallRecord): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(asked)) {
    if (name !== 'candidates' || value !== 1) attributes[names[name as keyof typeof asked]] = value;
  }
  return attributes;
}

/** How the answer ended and what it used: of the call, and of the attempt that it came from. */
function answerAttributes(record: CallRecord): Attributes {
  const { endpoint, stop } = record;
  return {
    ...(stop === null ? {} : { [names.finish_reasons]: [stop.reason] }),
    ...(endpoint === null ? {} : { [names.response_model]: endpoint.upstream_model }),
    ...usageAttributes(record),
  };
}

function callAttributes(record: CallRecord): Attributes {
  const { endpoint, grant } = record;
  return {
    [names.operation]: record.operation,
    [names.request_stream]: record.stream,
    [names.response_id]: record.request_id,
    [names.http_status]: record.http_status,
    'svc.status': record.status,
    'svc.dialect': record.dialect_in,
    'svc.org_id': grant.org_id,
    'svc.project_id': grant.project_id,
    'svc.key_id': grant.key_id,
    'svc.attempts': record.attempts.length,
    'svc.cost_micro_usd': record.charged_micro_usd,
    ...(record.error_code === '' ? {} : { [names.error]: record.error_code }),
    ...askedAttributes(record),
    ...answerAttributes(record),
    // When the model was not found, its name is the caller's own text and is left out.
    ...(endpoint === null
      ? {}
      : {
          [names.provider]: providerOf(endpoint),
          [names.request_model]: endpoint.model_id,
          'svc.endpoint_id': endpoint.id,
        }),
    ...firstChunk(record, record.ttft_ms),
  };
}

function attemptAttributes(record: CallRecord, attempt: AttemptRecord, address: Address): Attributes {
  const { endpoint } = attempt;
  return {
    [names.operation]: record.operation,
    [names.provider]: providerOf(endpoint),
    [names.request_model]: endpoint.upstream_model,
    ...address,
    'svc.attempt': attempt.attempt,
    'svc.endpoint_id': endpoint.id,
    'svc.region': endpoint.region,
    ...(attempt.http_status === 0 ? {} : { [names.http_status]: attempt.http_status }),
    ...(attempt.error_class === '' ? {} : { [names.error]: attempt.error_class }),
    ...(attempt.upstream_id === null ? {} : { [names.response_id]: attempt.upstream_id }),
    ...firstChunk(record, attempt.ttft_ms),
    [names.request_stream]: record.stream,
    ...askedAttributes(record),
    // Of several attempts the last one gave the answer.
    ...(record.usage !== null && attempt === record.attempts.at(-1) ? answerAttributes(record) : {}),
  };
}

/**
 * Whether the server span is an error. What the caller caused, or a caller that disconnected, is not an error of the
 * server.
 */
function isError({ status, http_status }: CallRecord): boolean {
  return status === 'error' || (status === 'rejected' && http_status >= 500);
}

/** Starts and ends the spans of `record`. */
export function traceCall(
  tracer: Tracer,
  record: CallRecord,
  addressOf: (attempt: AttemptRecord) => Address,
): void {
  const operation = record.operation;
  const model = record.endpoint?.model_id;
  const span = tracer.startSpan(
    model === undefined ? operation : `${operation} ${model}`,
    { kind: SpanKind.SERVER, startTime: record.received_at_ms, attributes: callAttributes(record) },
    parentOf(record.traceparent),
  );
  if (isError(record)) span.setStatus({ code: SpanStatusCode.ERROR });
  if (span.isRecording()) {
    const inside = trace.setSpan(ROOT_CONTEXT, span);
    for (const attempt of record.attempts) {
      const { endpoint, started_at_ms: startTime } = attempt;
      const child = tracer.startSpan(
        `${operation} ${endpoint.upstream_model}`,
        {
          kind: SpanKind.CLIENT,
          startTime,
          attributes: attemptAttributes(record, attempt, addressOf(attempt)),
        },
        inside,
      );
      if (attempt.outcome === 'error' || attempt.outcome === 'timeout') {
        child.setStatus({ code: SpanStatusCode.ERROR });
      }
      child.end(startTime + (attempt.duration_ms ?? 0));
    }
  }
  span.end(record.received_at_ms + record.duration_ms);
}
