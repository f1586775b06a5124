// Turns the facts of one call into what a person reads. Pure; every case has a test.
import { durationText } from '../../ui/format/numbers.ts';

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
  /** The last characters of the caller's own provider key, "" without one. */
  readonly own_key: string;
}

/** When the caller left, and why the answer was read to its end all the same. */
interface LeftFact {
  readonly ms: number;
  readonly read_on: 'billed_whole' | 'idempotency_key' | 'whole_answer' | null;
}

export interface EndpointFact {
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
  readonly left: LeftFact | null;
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

/** "policy cheap v3 · rule nights · sort price": who decided the order of the endpoints. */
export function policyText(route: {
  readonly policy: string;
  readonly version: string | null;
  readonly rule: string;
  readonly sort: string;
}): string {
  const policy = route.policy === 'default' ? 'built-in policy' : `policy ${route.policy}`;
  const version = route.version ? ` v${route.version}` : '';
  const rule = route.rule !== '-' && route.rule !== '' ? ` · rule ${route.rule}` : '';
  return `${policy}${version}${rule} · sort ${route.sort}`;
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
function faultText({ fault, own_key }: AttemptFact): string {
  if (fault === 'auth' && own_key !== '') return 'refused your own key';
  return faults[fault] ?? `failed (${fault.replaceAll('_', ' ') || 'unknown'})`;
}

/** A part of the sentence; `strong` ones are names. */
export type Part = string | { readonly strong: string };

function numbers({ candidates, endpoints, hidden, attempts }: CallFacts): string {
  const excluded = endpoints.filter(({ planned_at }) => planned_at === null).length;
  const planned = endpoints.length - excluded;
  const counts = [
    excluded > 0 ? `${excluded} ${excluded === 1 ? 'was' : 'were'} excluded` : '',
    planned > 0 ? `${planned} planned` : '',
    planned > 0 ? `${new Set(attempts.map(({ endpoint }) => endpoint)).size} tried` : '',
    hidden > 0 ? `${hidden} not shown` : '',
  ].filter(Boolean);
  const serve = candidates === 1 ? '1 endpoint serves' : `${candidates} endpoints serve`;
  return `${serve} this model: ${counts.join(', ')}.`;
}

const times = ['', '', ' twice', ' three times'];
const strong = (text: string): Part => ({ strong: text });

/** `items` one after another: "a", "a and b", "a, b and c". */
function joined(items: readonly (readonly Part[])[], and = ' and '): Part[] {
  return items.flatMap((item, i) => [...(i === 0 ? [] : [i === items.length - 1 ? and : ', ']), ...item]);
}

/** What happened, in their order: equal results of one endpoint in a row are one, with how often. */
function results(failed: readonly AttemptFact[]): { provider: string; what: string }[] {
  const runs: { attempt: AttemptFact; count: number }[] = [];
  for (const attempt of failed) {
    const last = runs.at(-1);
    if (last?.attempt.endpoint === attempt.endpoint && faultText(last.attempt) === faultText(attempt))
      last.count++;
    else runs.push({ attempt, count: 1 });
  }
  return runs.map(({ attempt, count }) => ({
    provider: attempt.provider,
    what: `${faultText(attempt)}${times[count] ?? ` ${count} times`}`,
  }));
}

/** "acme was overloaded and beta took too long"; providers in a row that met the same are named together. */
function failures(failed: readonly AttemptFact[]): Part[] {
  const groups: { names: string[]; what: string }[] = [];
  for (const { provider, what } of results(failed)) {
    const last = groups.at(-1);
    if (last?.what === what) last.names.push(provider);
    else groups.push({ names: [provider], what });
  }
  const clauses = groups.map(({ names, what }) => [
    ...joined(names.map((name) => [strong(name)])),
    ` ${what}`,
  ]);
  return joined(clauses, groups.some(({ names }) => names.length > 1) ? ', and ' : ' and ');
}

const whyRead: Readonly<Record<NonNullable<LeftFact['read_on']>, string>> = {
  billed_whole: 'This provider bills an answer whole, whoever reads it, so it was read to its end',
  idempotency_key:
    'The call has an Idempotency-Key, so that it can be asked for again: it was read to its end',
  whole_answer:
    'An answer that is not streamed can be counted only when it is whole, so it was read to its end',
};

/** A caller that left: when, what became of the answer, and why it was charged as it was. */
function leaving(call: CallFacts, failed: readonly AttemptFact[]): Part[] {
  const { attempts, left } = call;
  const charged = call.cost_micro !== '0';
  const when = left === null ? '' : ` after ${durationText(left.ms)}`;
  const last = attempts.at(-1);
  if (last === undefined)
    return [`The caller left${when}, before a provider was asked; nothing was charged.`];
  const head: Part[] = [`The caller left${when} while `, strong(last.provider), ' was answering'];
  const earlier = failed.filter((attempt) => attempt !== last);
  const before: Part[] = earlier.length === 0 ? [] : [' Before that ', ...failures(earlier), '.'];
  if (last.ok) {
    const why = left?.read_on ? whyRead[left.read_on] : 'It was read to its end';
    const end = charged ? 'the whole was charged.' : 'nothing was charged.';
    return [...head, `. ${why}, and ${end}`, ...before];
  }
  const made = charged ? 'what had been produced by then was charged.' : 'nothing was charged.';
  if (last.cancelled) return [...head, `. The answer ended with it, and ${made}`, ...before];
  return [...head, '. It was read on, but ', ...failures([last]), `; ${made}`, ...before];
}

/** A call that was answered. */
function answered(last: AttemptFact, failed: readonly AttemptFact[]): Part[] {
  const own = last.own_key === '' ? '' : `, with your own key that ends in ${last.own_key}`;
  if (failed.length === 0) return [strong(last.provider), ` answered at the first try${own}.`];
  const cost =
    failed.length === 1 ? ' The failed attempt cost nothing.' : ' The failed attempts cost nothing.';
  const alone = failed.every(({ endpoint }) => endpoint === last.endpoint);
  const clauses: Part[] = alone
    ? [`it ${joined(results(failed).map(({ what }) => [what])).join('')}`]
    : failures(failed);
  return [strong(last.provider), ` answered${own}${own && ','} after `, ...clauses, `.${cost}`];
}

/** The call in one to three sentences. */
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
  if (status === 'cancelled') return [...head, ...leaving(call, failed)];
  if (last === undefined) return [...head, 'No attempt is recorded.'];
  if (last.provider === '')
    return ['The gateway process that served this call was lost; nothing was charged.'];
  if (status !== 'error') return [...head, ...answered(last, failed)];
  const end =
    call.cost_micro === '0'
      ? 'The call failed and was not charged.'
      : 'The call ended with an error, and what had been produced by then was charged.';
  return failed.length === 0 ? [...head, end] : [...head, ...failures(failed), `. ${end}`];
}

const briefly: Readonly<Record<string, string>> = {
  rate_limit: 'rate limit',
  network: 'not reached',
  auth: 'credentials refused',
  server: 'server error',
  client: 'request refused',
  stream: 'broke off',
  truncated: 'cut off',
  client_gone: 'left by the caller',
  gateway_lost: 'lost with its gateway process',
  gateway_defect: 'defect of the gateway',
};

function failureText({ http_status, fault, duration_ms, own_key }: AttemptFact): string {
  const status = http_status >= 400 ? `${http_status} ` : '';
  const what = fault === 'auth' && own_key !== '' ? 'own key refused' : briefly[fault];
  const after = duration_ms === null ? '' : ` after ${durationText(duration_ms)}`;
  return `${status}${what ?? (fault.replaceAll('_', ' ') || 'failed')}${after}`;
}

function firstText({ ttft_ms, duration_ms, ok }: AttemptFact): string {
  if (ttft_ms !== null) return `first token after ${durationText(ttft_ms)}`;
  return ok ? `answered after ${durationText(duration_ms)}` : `no token in ${durationText(duration_ms)}`;
}

/** "attempt 2 · first token after 402 ms, then 412 tokens/s", or what went wrong: the words below a bar. */
export function attemptText(
  attempt: AttemptFact,
  call: {
    readonly number: number;
    readonly total: number;
    readonly output_tokens: number;
    readonly left_ms: number | null;
  },
): string {
  const { ok, cancelled, ttft_ms, duration_ms, own_key } = attempt;
  const which = call.total > 1 ? `attempt ${call.number} · ` : '';
  const own = own_key === '' ? '' : ` · own key …${own_key}`;
  if (!ok && !cancelled) return `${which}${failureText(attempt)}${own}`;
  const left = call.left_ms === null ? '' : ` after ${durationText(call.left_ms)}`;
  if (cancelled) return `${which}${firstText(attempt)}, caller left${left}${own}`;
  if (call.left_ms !== null)
    return `${which}${firstText(attempt)}, caller left${left}, read to the end${own}`;
  const streaming = (duration_ms ?? 0) - (ttft_ms ?? duration_ms ?? 0);
  const rate =
    call.output_tokens > 0 && streaming > 50 ? Math.round((call.output_tokens * 1000) / streaming) : null;
  return `${which}${firstText(attempt)}${rate === null ? '' : `, then ${rate} tokens/s`}${own}`;
}

/** How often the call went to another endpoint. */
export function movesOf(attempts: readonly Pick<AttemptFact, 'endpoint'>[]): number {
  return Math.max(0, new Set(attempts.map(({ endpoint }) => endpoint)).size - 1);
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
