// OpenTelemetry metrics of ended calls. Attribute values are names from the catalog or our own error codes. A
// caller's text would make the number of series unbounded, and might be content.
import type { Attributes, Histogram, Meter } from '@opentelemetry/api';
import type { AttemptRecord, CallRecord } from '@svc/core/inference/index.ts';
import { type Address, metrics, attributes as names, providerOf } from './names.ts';
import { inputTokens } from './spans.ts';

/** Bucket bounds that the semantic conventions give for each kind of metric. */
const TOKENS = [
  1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
];
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const FIRST = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const EACH = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];

type Figure = keyof typeof metrics;

/** Returns a function that records ended calls in the histograms of `meter`. */
export function countInto(
  meter: Meter,
  addressOf: (attempt: AttemptRecord) => Address,
): (record: CallRecord) => void {
  const histogram = (
    figure: Figure,
    unit: string,
    description: string,
    bounds: readonly number[],
  ): Histogram =>
    meter.createHistogram(metrics[figure], {
      unit,
      description,
      advice: { explicitBucketBoundaries: [...bounds] },
    });
  const usage = histogram('token_usage', '{token}', 'Number of input and output tokens used.', TOKENS);
  const operations = histogram('operation_duration', 's', 'GenAI operation duration.', SECONDS);
  const chunks = histogram('first_chunk', 's', 'Time to receive the first chunk.', FIRST);
  const requests = histogram('request_duration', 's', 'Generative AI server request duration.', SECONDS);
  const firsts = histogram(
    'first_token',
    's',
    'Time to generate first token for successful responses.',
    FIRST,
  );
  const each = histogram(
    'per_output_token',
    's',
    'Time per output token generated after the first token for successful responses.',
    EACH,
  );

  function countAttempt(record: CallRecord, attempt: AttemptRecord): void {
    const of = { ...clientAttributes(record, attempt), ...addressOf(attempt) };
    const failed = attempt.error_class === '' ? {} : { [names.error]: attempt.error_class };
    operations.record((attempt.duration_ms ?? 0) / 1_000, { ...of, ...failed });
    if (record.stream && attempt.ttft_ms !== null) chunks.record(attempt.ttft_ms / 1_000, of);
  }

  function countUsage(record: CallRecord): void {
    const last = record.attempts.at(-1);
    if (record.usage === null || last === undefined) return;
    const of = { ...clientAttributes(record, last), ...addressOf(last) };
    usage.record(inputTokens(record.usage), { ...of, [names.token_type]: 'input' });
    usage.record(record.usage.output_tokens, { ...of, [names.token_type]: 'output' });
  }

  return (record) => {
    const of = serverAttributes(record);
    const failed = record.error_code === '' ? {} : { [names.error]: record.error_code };
    requests.record(record.duration_ms / 1_000, { ...of, ...failed });
    for (const attempt of record.attempts) countAttempt(record, attempt);
    countUsage(record);
    if (record.status !== 'ok' || !record.stream || record.ttft_ms === null) return;
    firsts.record(record.ttft_ms / 1_000, of);
    const later = (record.usage?.output_tokens ?? 0) - 1;
    if (later > 0) each.record(Math.max(0, record.duration_ms - record.ttft_ms) / 1_000 / later, of);
  };
}

function clientAttributes(record: CallRecord, { endpoint }: AttemptRecord): Attributes {
  return {
    [names.operation]: record.operation,
    [names.provider]: providerOf(endpoint),
    [names.request_model]: endpoint.upstream_model,
  };
}

function serverAttributes({ operation: operation_name, endpoint }: CallRecord): Attributes {
  const operation = { [names.operation]: operation_name };
  if (endpoint === null) return operation;
  return {
    ...operation,
    [names.provider]: providerOf(endpoint),
    [names.request_model]: endpoint.model_id,
    [names.response_model]: endpoint.upstream_model,
  };
}
