// Prometheus metrics of ended calls and of their attempts. Label values come from fixed lists, never from a caller's
// text, which would make the number of series unbounded.
import type { AttemptRecord, CallRecord } from '@svc/core/inference/index.ts';
import type { Example, Spread } from '@svc/core/kernel/index.ts';
import type { Registry } from 'prom-client';
import { type Sum, spreads, sums } from './plain.ts';

/** The metrics for one combination of labels, so that a call needs one look-up. */
interface CallFigures {
  readonly calls: Sum;
  readonly input: Sum;
  readonly output: Sum;
  readonly charged: Sum;
  readonly first: Spread;
  readonly whole: Spread;
  readonly own: Spread;
}

/** The metrics of an attempt for one combination of labels. */
interface AttemptFigures {
  readonly attempts: Sum;
  readonly responses: Sum | null;
  readonly whole: Spread;
}

const TRACE_ID = /^[0-9a-f]{2}-([0-9a-f]{32})-/;

function exampleOf({ request_id, traceparent, received_at_ms, duration_ms }: CallRecord): Example {
  const trace_id = traceparent === '' ? '' : (TRACE_ID.exec(traceparent)?.[1] ?? '');
  return { request_id, trace_id, at_ms: received_at_ms + duration_ms };
}

/** Returns a function that counts ended calls and their attempts into `registry`. */
export function countCalls(registry: Registry): (record: CallRecord) => void {
  const countCall = callCounter(registry);
  const countAttempt = attemptCounter(registry);
  return (record) => {
    const example = exampleOf(record);
    countCall(record, example);
    const { attempts } = record;
    for (let at = 0; at < attempts.length; at++) {
      countAttempt(attempts[at] as AttemptRecord, example, at < attempts.length - 1);
    }
  };
}

function callCounter(registry: Registry): (record: CallRecord, example: Example) => void {
  const sum = (name: string, help: string, labels: string) => sums(registry, name, help, labels.split(' '));
  const calls = sum(
    'svc_calls_total',
    'Ended calls by dialect, environment, status and error code.',
    'dialect environment status error_code',
  );
  const tokens = sum(
    'svc_call_tokens_total',
    'Metered tokens by provider and direction.',
    'provider direction',
  );
  const charged = sum('svc_call_charged_micro_usd_total', 'Micro-USD charged for calls.', 'environment');
  const spread = (name: string, help: string) => spreads(registry, name, help);
  const first = spread('svc_call_time_to_first_token_seconds', 'Seconds to the first token of the answer.');
  const whole = spread('svc_call_duration_seconds', 'Seconds from the request to the end of the answer.');
  const own = spread('svc_call_overhead_seconds', 'Seconds that the gateway itself added.');
  const known = new Map<string, CallFigures>();
  const figuresOf = (record: CallRecord): CallFigures => {
    const { dialect_in: dialect, status, error_code } = record;
    const { environment } = record.grant;
    const provider = record.endpoint?.provider ?? '';
    const key = `${dialect} ${environment} ${status} ${error_code} ${provider}`;
    let figures = known.get(key);
    if (figures === undefined) {
      figures = {
        calls: calls.of({ dialect, environment, status, error_code }),
        input: tokens.of({ provider, direction: 'input' }),
        output: tokens.of({ provider, direction: 'output' }),
        charged: charged.of({ environment }),
        first: first.of({ provider }),
        whole: whole.of({ provider }),
        own: own.of({ provider }),
      };
      known.set(key, figures);
    }
    return figures;
  };
  return (record, example) => {
    const to = figuresOf(record);
    to.calls.n++;
    if (record.usage !== null) {
      const { input_tokens, cache_read_tokens, cache_write_tokens, output_tokens } = record.usage;
      to.input.n += input_tokens + cache_read_tokens + cache_write_tokens;
      to.output.n += output_tokens;
    }
    to.charged.n += record.charged_micro_usd;
    if (record.ttft_ms !== null) to.first.observe(record.ttft_ms / 1000, example);
    to.whole.observe(record.duration_ms / 1000, example);
    to.own.observe(record.gw_overhead_ms / 1000, example);
  };
}

function attemptCounter(
  registry: Registry,
): (attempt: AttemptRecord, example: Example, isFollowed: boolean) => void {
  const sum = (name: string, help: string, labels: string) => sums(registry, name, help, labels.split(' '));
  const attempts = sum(
    'svc_attempts_total',
    'Attempts at providers by endpoint, whose key it was, outcome and class of the error.',
    'provider endpoint_id own_key outcome error_class',
  );
  const responses = sum(
    'svc_upstream_responses_total',
    'Answers of providers by HTTP status.',
    'provider status',
  );
  const failovers = sum(
    'svc_failovers_total',
    'Attempts that failed and were followed by another, by the endpoint that failed.',
    'provider endpoint_id error_class',
  );
  const whole = spreads(
    registry,
    'svc_attempt_duration_seconds',
    'Seconds from sending a request to a provider to the end of its answer.',
  );
  const known = new Map<string, AttemptFigures>();
  const figuresOf = ({ endpoint, outcome, error_class, http_status }: AttemptRecord): AttemptFigures => {
    const { id, provider } = endpoint;
    const own_key = String(endpoint.own_key !== undefined);
    const key = `${id} ${own_key} ${outcome} ${error_class} ${http_status}`;
    let figures = known.get(key);
    if (figures === undefined) {
      figures = {
        attempts: attempts.of({ provider, endpoint_id: id, own_key, outcome: outcome ?? '', error_class }),
        responses: http_status === 0 ? null : responses.of({ provider, status: String(http_status) }),
        whole: whole.of({ provider }),
      };
      known.set(key, figures);
    }
    return figures;
  };
  return (attempt, example, isFollowed) => {
    const to = figuresOf(attempt);
    to.attempts.n++;
    if (to.responses !== null) to.responses.n++;
    if (isFollowed) {
      const { endpoint, error_class } = attempt;
      failovers.of({ provider: endpoint.provider, endpoint_id: endpoint.id, error_class }).n++;
    }
    if (attempt.duration_ms !== null) to.whole.observe(attempt.duration_ms / 1000, example);
  };
}
