import { expect, test } from 'vitest';
import {
  attemptText,
  type CallFacts,
  explain,
  movesOf,
  policyText,
  reasonText,
  recompute,
} from './explain.ts';
import { acme, attempt, call, failed } from './facts.test-data.ts';

const said = (facts: CallFacts) =>
  explain(facts)
    .map((part) => (typeof part === 'string' ? part : part.strong))
    .join('');

test('a call that went right at once says so', () => {
  expect(said(call({}))).toBe(
    '3 endpoints serve this model: 1 was excluded, 2 planned, 1 tried. acme answered at the first try.',
  );
});

test('a call that moved on names who failed, why, and that it cost nothing', () => {
  const second = attempt({ endpoint: 'ep_b', provider: 'beta', at_ms: 1_818 });
  expect(said(call({ attempts: [failed, second] }))).toBe(
    '3 endpoints serve this model: 1 was excluded, 2 planned, 2 tried. beta answered after acme was overloaded. ' +
      'The failed attempt cost nothing.',
  );
});

test('attempts at one endpoint that ended alike are told once', () => {
  const again = { ...failed, at_ms: 1_900 };
  const third = attempt({ endpoint: 'ep_b', provider: 'beta', at_ms: 2_800 });
  expect(said(call({ attempts: [failed, again, third] }))).toContain(
    'beta answered after acme was overloaded twice. The failed attempts cost nothing.',
  );
  expect(movesOf([failed, again, third])).toBe(1);
  expect(movesOf([])).toBe(0);
});

test('a failed call says that nothing was charged', () => {
  const timeout = attempt({ endpoint: 'ep_b', provider: 'beta', ok: false, fault: 'timeout' });
  expect(said(call({ status: 'error', attempts: [failed, timeout], cost_micro: '0' }))).toContain(
    'acme was overloaded and beta took too long. The call failed and was not charged.',
  );
});

test('a call that ended with an error and was charged does not say that it was free', () => {
  const broke = attempt({ ok: false, fault: 'timeout' });
  expect(said(call({ status: 'error', attempts: [broke] }))).toContain(
    'acme took too long. The call ended with an error, and what had been produced by then was charged.',
  );
});

test('a call that was lost with its gateway names no provider', () => {
  const lost = attempt({ provider: '', ok: false, fault: 'gateway_lost', ttft_ms: null, duration_ms: null });
  const facts = call({ status: 'error', candidates: 0, endpoints: [], attempts: [lost], cost_micro: '0' });
  expect(said(facts)).toBe('The gateway process that served this call was lost; nothing was charged.');
});

test('providers in a row that met the same are named together', () => {
  const network = (provider: string) =>
    attempt({ endpoint: `ep_${provider}`, provider, ok: false, fault: 'network' });
  const attempts = [network('acme'), network('beta'), network('gamma'), { ...failed, provider: 'delta' }];
  expect(said(call({ status: 'error', attempts, cost_micro: '0' }))).toContain(
    'acme, beta and gamma could not be reached, and delta was overloaded.',
  );
});

test('an own key is named, and that it was refused is not called ours', () => {
  const refused = attempt({ ok: false, fault: 'auth', http_status: 401, own_key: '4f2a', ttft_ms: null });
  expect(said(call({ attempts: [attempt({ own_key: '4f2a' })] }))).toContain(
    'acme answered at the first try, with your own key that ends in 4f2a.',
  );
  expect(said(call({ attempts: [refused, attempt({})] }))).toContain(
    'acme answered after it refused your own key. The failed attempt cost nothing.',
  );
});

test('of a caller who left it is told when, what became of the answer, and why it was charged', () => {
  const left = (over: Partial<CallFacts>) => said(call({ status: 'cancelled', ...over }));
  const ended = attempt({ ok: false, cancelled: true });
  const at = (read_on: NonNullable<CallFacts['left']>['read_on']) => ({ ms: 1_202, read_on });
  expect(left({ attempts: [ended], left: at(null) })).toContain(
    'The caller left after 1,202 ms while acme was answering. ' +
      'The answer ended with it, and what had been produced by then was charged.',
  );
  expect(left({ attempts: [ended], left: at(null), cost_micro: '0' })).toContain('nothing was charged.');
  expect(left({ left: at('billed_whole') })).toContain(
    'This provider bills an answer whole, whoever reads it, so it was read to its end, and the whole was charged.',
  );
  expect(left({ left: at('idempotency_key') })).toContain('The call has an Idempotency-Key');
  expect(left({ left: at('whole_answer') })).toContain('An answer that is not streamed');
  expect(left({ attempts: [failed, attempt({ endpoint: 'ep_b', provider: 'beta' })] })).toContain(
    'The caller left while beta was answering. It was read to its end, and the whole was charged. ' +
      'Before that acme was overloaded.',
  );
  const drain = attempt({ ok: false, fault: 'stream' });
  expect(left({ attempts: [drain], left: at('billed_whole') })).toContain(
    'It was read on, but acme broke off with an error; what had been produced by then was charged.',
  );
  expect(left({ attempts: [], left: at(null), cost_micro: '0' })).toContain(
    'The caller left after 1,202 ms, before a provider was asked; nothing was charged.',
  );
});

test('the words of a bar say what the bar shows', () => {
  const words = (over: Parameters<typeof attempt>[0], more: object = {}) =>
    attemptText(attempt(over), { number: 1, total: 1, output_tokens: 412, left_ms: null, ...more });
  expect(words({})).toBe('first token after 400 ms, then 258 tokens/s');
  expect(words({}, { number: 2, total: 2 })).toMatch(/^attempt 2 · first token/);
  expect(words({ ttft_ms: null })).toBe('answered after 2,000 ms');
  expect(words({ own_key: '4f2a' })).toMatch(/ · own key …4f2a$/);
  expect(words({}, { left_ms: 900 })).toBe(
    'first token after 400 ms, caller left after 900 ms, read to the end',
  );
  const ended = { ok: false, cancelled: true };
  expect(words(ended, { left_ms: 900 })).toBe('first token after 400 ms, caller left after 900 ms');
  expect(words({ ...failed, http_status: 503 })).toBe('503 overloaded after 812 ms');
  // A status that tells of success would say what is not so.
  expect(words({ ok: false, http_status: 200, fault: 'stream' })).toBe('broke off after 2,000 ms');
  expect(words({ ok: false, http_status: 0, fault: 'network' })).toBe('not reached after 2,000 ms');
});

test('a call without an endpoint says so, and one refused earlier does not blame the filters', () => {
  const none = call({
    status: 'rejected',
    error_code: 'no_endpoint_available',
    attempts: [],
    cost_micro: '0',
  });
  expect(said(none)).toContain('No endpoint was left after the filters; nothing was charged.');
  const early = call({
    status: 'rejected',
    error_code: 'insufficient_credits',
    candidates: 0,
    endpoints: [],
    attempts: [],
  });
  const excluded = { ...acme, planned_at: null, excluded_by: 'region' };
  expect(said({ ...none, candidates: 1, endpoints: [excluded] })).toContain(
    '1 endpoint serves this model: 1 was excluded. No endpoint',
  );
  expect(said(early)).toBe('Refused before any endpoint was asked; nothing was charged.');
});

test('the policy that decided is named, with its version and rule where it has them', () => {
  const route = { policy: 'agents', version: '7', rule: 'office-hours', sort: 'latency' };
  expect(policyText(route)).toBe('policy agents v7 · rule office-hours · sort latency');
  expect(policyText({ policy: 'default', version: null, rule: '-', sort: 'price' })).toBe(
    'built-in policy · sort price',
  );
});

test('five attempts are told in their order, each with what became of it', () => {
  const at = (provider: string, fault: string) =>
    attempt({ endpoint: `ep_${provider}`, provider, ok: false, fault });
  const attempts = [
    at('acme', 'overloaded'),
    at('beta', 'network'),
    at('gamma', 'rate_limit'),
    at('delta', 'stream'),
    attempt({ endpoint: 'ep_e', provider: 'epsilon' }),
  ];
  expect(said(call({ attempts }))).toContain(
    'epsilon answered after acme was overloaded, beta could not be reached, gamma was at its rate limit and delta ' +
      'broke off with an error. The failed attempts cost nothing.',
  );
});

test('endpoints beyond the trace are counted, not forgotten', () => {
  expect(said(call({ candidates: 40, hidden: 37 }))).toContain(
    '40 endpoints serve this model: 1 was excluded, 2 planned, 1 tried, 37 not shown.',
  );
});

test('an unknown reason or fault of a newer server is shown as it came', () => {
  expect(reasonText('moon_phase')).toBe('moon phase');
  expect(reasonText('circuit')).toBe('was failing at that moment');
});

test('the recomputed cost rounds each line half up, once', () => {
  const line = (units: number, nano: number) => ({ kind: 'input', units, nano, micro: '0' });
  expect(recompute([line(4_096, 2_500), line(12_288, 250), line(812, 10_000)])).toBe(21_432n);
  expect(recompute([line(1, 499), line(1, 500), line(1, 1_499)])).toBe(2n);
});
