import { expect, test } from 'vitest';
import {
  type AttemptFact,
  axisEnd,
  type CallFacts,
  explain,
  movesOf,
  picture,
  reasonText,
  recompute,
} from './explain.ts';

const acme = {
  endpoint: 'ep_a',
  provider: 'acme',
  region: 'eu-west',
  score: 0.981,
  planned_at: 1,
  excluded_by: null,
};
const beta = {
  endpoint: 'ep_b',
  provider: 'beta',
  region: 'eu-central',
  score: 0.744,
  planned_at: 2,
  excluded_by: null,
};
const gamma = {
  endpoint: 'ep_g',
  provider: 'gamma',
  region: 'us-east',
  score: null,
  planned_at: null,
  excluded_by: 'region',
};

function attempt(over: Partial<AttemptFact>): AttemptFact {
  return {
    endpoint: 'ep_a',
    provider: 'acme',
    at_ms: 1_000,
    ok: true,
    cancelled: false,
    http_status: 200,
    fault: '',
    ttft_ms: 400,
    duration_ms: 2_000,
    ...over,
  };
}
function call(over: Partial<CallFacts>): CallFacts {
  return {
    status: 'ok',
    error_code: '',
    candidates: 3,
    hidden: 0,
    endpoints: [acme, beta, gamma],
    attempts: [attempt({})],
    cost_micro: '21432',
    start_ms: 1_000,
    ...over,
  };
}
const failed = attempt({ ok: false, http_status: 503, fault: 'overloaded', ttft_ms: null, duration_ms: 812 });
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

test('a caller who left is told whether what was made by then was charged', () => {
  const left = attempt({ ok: false, cancelled: true });
  expect(said(call({ status: 'cancelled', attempts: [left] }))).toContain(
    'what had been made by then was charged',
  );
  expect(said(call({ status: 'cancelled', attempts: [left], cost_micro: '0' }))).toContain(
    'nothing was charged',
  );
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
  expect(said(early)).toBe('Refused before any endpoint was asked; nothing was charged.');
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

test('the axis covers every attempt and ends on a round number', () => {
  expect([3_186, 812, 1, 0, 4_001, 10_000].map((ms) => axisEnd(ms).end_ms)).toEqual([
    4_000, 1_000, 1, 1, 5_000, 10_000,
  ]);
  const second = attempt({
    endpoint: 'ep_b',
    provider: 'beta',
    at_ms: 1_818,
    ttft_ms: 402,
    duration_ms: 2_368,
  });
  const { tracks, end_ms } = picture(call({ attempts: [failed, second] }));
  expect(end_ms).toBe(4_000);
  expect(tracks.map(({ fact, bars }) => [fact.provider, bars.length])).toEqual([
    ['acme', 1],
    ['beta', 1],
    ['gamma', 0],
  ]);
  for (const { bars } of tracks) {
    for (const bar of bars) expect(bar.from + bar.wait + bar.stream).toBeLessThanOrEqual(1);
  }
});

test('an attempt at an endpoint that the trace had no room for still has its track', () => {
  const { tracks } = picture(call({ endpoints: [], attempts: [attempt({})] }));
  expect(tracks.map(({ fact, bars }) => [fact.endpoint, bars.length])).toEqual([['ep_a', 1]]);
});

test('the recomputed cost rounds each line half up, once', () => {
  const line = (units: number, nano: number) => ({ kind: 'input', units, nano, micro: '0' });
  expect(recompute([line(4_096, 2_500), line(12_288, 250), line(812, 10_000)])).toBe(21_432n);
  expect(recompute([line(1, 499), line(1, 500), line(1, 1_499)])).toBe(2n);
});
