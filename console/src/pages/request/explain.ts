// Turns the facts of one call into what a person reads: a sentence, and a row per endpoint on one time axis.
// Pure; every case has a test.

export interface AttemptFact {
  readonly endpoint: string;
  readonly provider: string;
  /** Milliseconds since the epoch. */
  readonly at_ms: number;
  readonly ok: boolean;
  readonly cancelled: boolean;
  readonly http_status: number;
  /** Class of the fault, "" when there was none. */
  readonly fault: string;
  readonly ttft_ms: number | null;
  readonly duration_ms: number | null;
}

interface EndpointFact {
  readonly endpoint: string;
  readonly provider: string | null;
  readonly region: string | null;
  readonly score: number | null;
  /** From 1; null when excluded. */
  readonly planned_at: number | null;
  readonly excluded_by: string | null;
}

export interface CallFacts {
  readonly status: 'ok' | 'error' | 'cancelled' | 'rejected';
  readonly error_code: string;
  readonly candidates: number;
  readonly hidden: number;
  readonly endpoints: readonly EndpointFact[];
  readonly attempts: readonly AttemptFact[];
  /** Settled cost in micro-USD, as the API's text. */
  readonly cost_micro: string;
  /** When the call began, milliseconds since the epoch. */
  readonly start_ms: number;
}

/** What each reason word means, and where it is decided. */
const reasons: Readonly<Record<string, string>> = {
  status: 'switched off in the catalog',
  environment: 'does not serve this environment',
  only: 'not among the providers or endpoints asked for',
  ignored: 'on the list to ignore',
  zdr: 'keeps data, and zero retention is asked for',
  train: 'may train on data, and that is not allowed',
  retention: 'keeps data longer than allowed',
  region: 'outside the regions allowed',
  quantization: 'runs at a precision that is not allowed',
  capability: 'cannot do what the call asks for',
  lossy: 'would lose a part of the request',
  server_tool: 'does not run the tool that is offered',
  context: 'its context is too small for this call',
  max_output: 'cannot write that many tokens',
  tier: 'does not offer the service tier',
  price: 'more expensive than the limit of the call',
  byok: 'not usable with the setting for own provider keys',
  uptime: 'failed too often lately',
  circuit: 'was failing at that moment',
  rate: 'at its rate limit at that moment',
  capacity: 'full at that moment',
  policy: 'excluded by the policy',
};

/** A sentence part for a reason word; an unknown word (a newer server) stands for itself. */
export function reasonText(word: string): string {
  return reasons[word] ?? word.replaceAll('_', ' ');
}

const faults: Readonly<Record<string, string>> = {
  overloaded: 'was overloaded',
  rate_limit: 'was at its rate limit',
  timeout: 'took too long',
  idle: 'fell silent',
  network: 'could not be reached',
  auth: 'refused our credentials',
  server: 'failed',
  client: 'refused the request',
  stream: 'broke off with an error',
  truncated: 'was cut off',
  content_filter: 'filtered the content',
  client_gone: 'was left by the caller',
  gateway_lost: 'was lost with its gateway process',
  gateway_defect: 'met a defect of the gateway',
};

/** "was overloaded": what became of an attempt, to follow a provider's name. */
function faultText(fault: string): string {
  return faults[fault] ?? `failed (${fault.replaceAll('_', ' ') || 'unknown'})`;
}

/** A part of the sentence; `strong` ones are names. */
export type Part = string | { readonly strong: string };

function numbers({ candidates, endpoints, hidden, attempts }: CallFacts): string {
  const excluded = endpoints.filter(({ planned_at }) => planned_at === null).length;
  const planned = endpoints.length - excluded;
  const counts = [
    excluded > 0 ? `${excluded} ${excluded === 1 ? 'was' : 'were'} excluded` : '',
    `${planned} planned`,
    `${new Set(attempts.map(({ endpoint }) => endpoint)).size} tried`,
    hidden > 0 ? `${hidden} not shown` : '',
  ].filter(Boolean);
  const serve = candidates === 1 ? '1 endpoint serves' : `${candidates} endpoints serve`;
  return `${serve} this model: ${counts.join(', ')}.`;
}

const times = ['', '', ' twice', ' three times'];

/** "acme was overloaded, beta took too long"; equal results of one provider in a row are named once. */
function failures(failed: readonly AttemptFact[]): Part[] {
  const runs: { attempt: AttemptFact; count: number }[] = [];
  for (const attempt of failed) {
    const last = runs.at(-1);
    if (last?.attempt.endpoint === attempt.endpoint && last.attempt.fault === attempt.fault) last.count++;
    else runs.push({ attempt, count: 1 });
  }
  return runs.flatMap(({ attempt, count }, i) => [
    ...(i === 0 ? [] : [i === runs.length - 1 ? ' and ' : ', ']),
    { strong: attempt.provider },
    ` ${faultText(attempt.fault)}${times[count] ?? ` ${count} times`}`,
  ]);
}

/** The call in one or two sentences. */
export function explain(call: CallFacts): Part[] {
  const { status, attempts, error_code } = call;
  if (status === 'rejected' && attempts.length === 0) {
    const why =
      error_code === 'no_endpoint_available'
        ? 'No endpoint was left after the filters'
        : 'Refused before any endpoint was asked';
    return [`${call.candidates > 0 ? `${numbers(call)} ` : ''}${why}; nothing was charged.`];
  }
  const last = attempts.at(-1);
  const failed = attempts.filter(({ ok, cancelled }) => !ok && !cancelled);
  const head: Part[] = call.candidates > 0 ? [`${numbers(call)} `] : [];
  if (last === undefined) return [...head, 'No attempt is recorded.'];
  const charged = call.cost_micro !== '0';
  if (status === 'cancelled') {
    const end = charged ? 'what had been made by then was charged.' : 'nothing was charged.';
    return [...head, 'The caller left while ', { strong: last.provider }, ` was answering; ${end}`];
  }
  if (status === 'error') return [...head, ...failures(failed), '. The call failed and was not charged.'];
  if (failed.length === 0) return [...head, { strong: last.provider }, ' answered at the first try.'];
  const cost =
    failed.length === 1 ? ' The failed attempt cost nothing.' : ' The failed attempts cost nothing.';
  return [...head, { strong: last.provider }, ' answered after ', ...failures(failed), `.${cost}`];
}

/** How often the call went to another endpoint. */
export function movesOf(attempts: readonly Pick<AttemptFact, 'endpoint'>[]): number {
  return Math.max(0, new Set(attempts.map(({ endpoint }) => endpoint)).size - 1);
}

export interface Bar {
  /** From 1, over the whole call. */
  readonly number: number;
  /** Shares of the axis, 0..1. */
  readonly from: number;
  readonly wait: number;
  readonly stream: number;
  readonly attempt: AttemptFact;
}
export interface Track {
  readonly fact: EndpointFact;
  readonly bars: readonly Bar[];
}
interface Picture {
  readonly tracks: readonly Track[];
  /** Milliseconds at the end of the axis, and its ticks. */
  readonly end_ms: number;
  readonly ticks: readonly number[];
}

/** A round number of milliseconds that covers `ms`: 1, 2 or 5 × 10ⁿ, cut into 4 or 5 steps. */
export function axisEnd(ms: number): { end_ms: number; ticks: number[] } {
  const power = 10 ** Math.floor(Math.log10(Math.max(ms, 1)));
  const end = [1, 2, 4, 5, 10].map((n) => n * power).find((n) => n >= ms) ?? 10 * power;
  const parts = end / power === 1 || end / power === 5 || end / power === 10 ? 5 : 4;
  return { end_ms: end, ticks: Array.from({ length: parts + 1 }, (_, i) => (end / parts) * i) };
}

function barOf(attempt: AttemptFact, number: number, start_ms: number, end_ms: number): Bar {
  const duration = attempt.duration_ms ?? attempt.ttft_ms ?? 0;
  const wait = attempt.ok || attempt.cancelled ? Math.min(attempt.ttft_ms ?? duration, duration) : duration;
  return {
    number,
    from: Math.max(0, attempt.at_ms - start_ms) / end_ms,
    wait: wait / end_ms,
    stream: (duration - wait) / end_ms,
    attempt,
  };
}

/**
 * One track per endpoint: planned ones in their order, then the excluded; attempts elsewhere get a track at the end.
 */
export function picture(call: CallFacts): Picture {
  const { start_ms, attempts } = call;
  const last = Math.max(
    1,
    ...attempts.map(({ at_ms, duration_ms }) => at_ms - start_ms + (duration_ms ?? 0)),
  );
  const { end_ms, ticks } = axisEnd(last);
  const bars = attempts.map((attempt, i) => barOf(attempt, i + 1, start_ms, end_ms));
  const known = new Set(call.endpoints.map(({ endpoint }) => endpoint));
  const unknown = attempts
    .filter(
      ({ endpoint }, i) => !known.has(endpoint) && attempts.findIndex((a) => a.endpoint === endpoint) === i,
    )
    .map(({ endpoint, provider }) => ({
      endpoint,
      provider,
      region: null,
      score: null,
      planned_at: null,
      excluded_by: null,
    }));
  const place = (fact: EndpointFact) => fact.planned_at ?? Number.MAX_SAFE_INTEGER;
  const facts = [...call.endpoints.toSorted((a, b) => place(a) - place(b)), ...unknown];
  const tracks = facts.map((fact) => ({
    fact,
    bars: bars.filter(({ attempt }) => attempt.endpoint === fact.endpoint),
  }));
  return { tracks, end_ms, ticks };
}

export interface CostLine {
  readonly kind: string;
  readonly units: number;
  readonly nano: number;
  readonly micro: string;
}

/** The cost computed anew from units and prices alone: each line once rounded, half up, then added. */
export function recompute(lines: readonly CostLine[]): bigint {
  return lines.reduce((sum, { units, nano }) => sum + (BigInt(units) * BigInt(nano) + 500n) / 1000n, 0n);
}
