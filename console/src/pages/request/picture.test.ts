import { expect, test } from 'vitest';
import type { CallFacts } from './explain.ts';
import { acme, attempt, beta, call, failed, gamma } from './facts.test-data.ts';
import { axisEnd, picture } from './picture.ts';

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
    for (const bar of bars)
      expect(
        bar.stretches.reduce((end, { from, width }) => Math.max(end, from + width), 0),
      ).toBeLessThanOrEqual(1);
  }
});

test('an attempt at an endpoint that the trace had no room for still has its track', () => {
  const { tracks } = picture(call({ endpoints: [], attempts: [attempt({})] }));
  expect(tracks.map(({ fact, bars }) => [fact.endpoint, bars.length])).toEqual([['ep_a', 1]]);
});

test('five attempts stand one after another on one axis, each in the track of its endpoint', () => {
  const starts = [0, 820, 840, 970, 4_990];
  const endpoints = starts.map((_, i) => ({ ...acme, endpoint: `ep_${i}`, planned_at: i + 1 }));
  const attempts = starts.map((ms, i) =>
    attempt({
      endpoint: `ep_${i}`,
      at_ms: 1_000 + ms,
      ok: i === 4,
      fault: i === 4 ? '' : 'network',
      duration_ms: 10,
    }),
  );
  const { tracks, end_ms } = picture(call({ candidates: 5, endpoints, attempts }));
  expect(tracks.map(({ fact, bars }) => [fact.endpoint, bars.map(({ number }) => number)])).toEqual(
    starts.map((_, i) => [`ep_${i}`, [i + 1]]),
  );
  expect(tracks.map(({ bars }) => (bars[0]?.stretches[0]?.from ?? 0) * end_ms)).toEqual(starts);
});

test('an endpoint that has left the catalog is named by its attempt', () => {
  const gone = { ...acme, provider: null };
  const { tracks } = picture(call({ endpoints: [gone, { ...beta, provider: null }] }));
  expect(tracks.map(({ fact }) => fact.provider)).toEqual(['acme', null]);
});

const shapesOf = (facts: CallFacts) =>
  picture(facts).tracks.flatMap(({ bars }) =>
    bars.map(({ stretches }) => stretches.map(({ what, from, width }) => [what, from, width])),
  );

test('what is read after the caller left is not shown as streamed to it', () => {
  const left = { ms: 1_200, read_on: 'billed_whole' } as const;
  expect(shapesOf(call({ status: 'cancelled', left }))).toEqual([
    [
      ['wait', 0, 0.2],
      ['stream', 0.2, 0.4],
      ['after', 0.6, 0.4],
    ],
  ]);
  const early = call({ status: 'cancelled', left: { ms: 100, read_on: 'whole_answer' } });
  expect(shapesOf(early)).toEqual([
    [
      ['wait', 0, 0.05],
      ['after', 0.05, 0.95],
    ],
  ]);
  // A call that was answered shows no leaving, whatever its connection did afterwards.
  expect(shapesOf(call({ left }))).toEqual([
    [
      ['wait', 0, 0.2],
      ['stream', 0.2, 0.8],
    ],
  ]);
});

test('a caller who left ends the bar of the attempt that ended with it', () => {
  const ended = attempt({ ok: false, cancelled: true });
  const [track] = picture(
    call({ status: 'cancelled', attempts: [ended], left: { ms: 2_003, read_on: null } }),
  ).tracks;
  expect(track?.bars[0]?.left_ms).toBe(2_000);
});

test('an attempt that broke off after its first token shows that tokens had come', () => {
  const broke = attempt({ ok: false, fault: 'stream' });
  expect(shapesOf(call({ attempts: [broke] }))).toEqual([
    [
      ['wait', 0, 0.2],
      ['broken', 0.2, 0.8],
    ],
  ]);
});

test('forty excluded endpoints are told by reason, in the order of the filters, until all are asked for', () => {
  const many = Array.from({ length: 40 }, (_, i) => ({
    ...gamma,
    endpoint: `ep_${i}`,
    excluded_by: i < 25 ? 'region' : 'price',
  }));
  const spare = Array.from({ length: 9 }, (_, i) => ({ ...beta, endpoint: `ep_s${i}`, planned_at: i + 2 }));
  const facts = call({ candidates: 50, endpoints: [acme, ...spare, ...many] });
  const { tracks, folds } = picture(facts);
  expect(tracks.map(({ fact }) => fact.endpoint)).toEqual(['ep_a', 'ep_s0', 'ep_s1']);
  expect(folds.map(({ reason, facts }) => [reason, facts.length])).toEqual([
    [null, 7],
    ['region', 25],
    ['price', 15],
  ]);
  const whole = picture(facts, true);
  expect([whole.tracks.length, whole.folds.length]).toEqual([50, 0]);
});

test('no axis is drawn where nothing was tried', () => {
  expect(picture(call({ attempts: [] })).ticks).toEqual([]);
});
