import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createHealth } from '../index.ts';
import { healthOf } from '../test-kit.ts';

const T = 10_000_000;
const fine = { ttft_ms: 100, duration_ms: 1_100, output_tokens: 50 };

test('a circuit opens at the fifth failure that is more than half of the last 30 seconds, not before', () => {
  const health = healthOf();
  for (let i = 0; i < 4; i++) health.failed('e', 'server', T + i);
  expect(health.circuit('e', T + 4)).toBe('closed');
  health.failed('e', 'timeout', T + 5);
  expect(health.circuit('e', T + 6)).toBe('open');
  expect(health.circuit('other', T)).toBe('closed');
});

test('five failures among as many successes leave the circuit closed, one more opens it', () => {
  const health = healthOf();
  for (let i = 0; i < 5; i++) health.succeeded('e', fine, T);
  for (let i = 0; i < 5; i++) health.failed('e', 'overloaded', T);
  expect(health.circuit('e', T)).toBe('closed');
  health.failed('e', 'overloaded', T);
  expect(health.circuit('e', T)).toBe('open');
});

test('failures older than 30 seconds do not count for the circuit', () => {
  const health = healthOf();
  for (let i = 0; i < 4; i++) health.failed('e', 'server', T);
  health.failed('e', 'server', T + 31_000);
  expect(health.circuit('e', T + 31_000)).toBe('closed');
});

test("the caller's own faults never open a circuit", () => {
  const health = healthOf();
  for (const fault of ['client', 'content_filter', 'context_length', 'too_large']) {
    for (let i = 0; i < 10; i++) health.failed('e', fault, T);
  }
  expect(health.circuit('e', T)).toBe('closed');
  expect(health.figures('e', T)?.success ?? null).toBe(null);
});

test('after 15 seconds one probe passes; its failure opens for 15 more, its success closes, its loss frees the probe', () => {
  const health = healthOf();
  for (let i = 0; i < 5; i++) health.failed('e', 'server', T);
  expect(health.circuit('e', T + 14_999)).toBe('open');
  expect(health.circuit('e', T + 15_000)).toBe('half_open');
  health.probe('e', T + 15_000);
  expect(health.circuit('e', T + 15_001)).toBe('open');
  health.failed('e', 'server', T + 16_000);
  expect(health.circuit('e', T + 30_999)).toBe('open');
  expect(health.circuit('e', T + 31_000)).toBe('half_open');
  health.probe('e', T + 31_000);
  expect(health.circuit('e', T + 46_000)).toBe('half_open');
  health.succeeded('e', fine, T + 46_000);
  expect(health.circuit('e', T + 46_000)).toBe('closed');
});

test("a probe that ends with the caller's own fault keeps no other call from probing", () => {
  const health = healthOf();
  for (let i = 0; i < 5; i++) health.failed('e', 'server', T);
  health.probe('e', T + 15_000);
  health.failed('e', 'client', T + 15_100);
  expect(health.circuit('e', T + 15_100)).toBe('half_open');
});

test('a time to rest that is no number is none, and leaves the next one its effect', () => {
  const health = healthOf();
  for (const ms of [Number.NaN, -1, Number.NEGATIVE_INFINITY]) health.rest('e', ms, T);
  expect(health.figures('e', T)?.rest_ms ?? 0).toBe(0);
  health.rest('e', 1_000, T);
  expect(health.figures('e', T)?.rest_ms).toBe(1_000);
});

test('an endpoint rests for as long as it asks, a minute at most, and takes calls again after it', () => {
  const health = healthOf();
  expect(health.figures('e', T)).toBe(null);
  health.rest('e', 5_000, T);
  expect(health.figures('e', T + 4_999)?.rest_ms).toBe(1);
  expect(health.figures('e', T + 5_000)?.rest_ms).toBe(0);
  health.rest('e', 86_400_000, T);
  health.rest('e', 10, T + 1);
  expect(health.figures('e', T + 1)?.rest_ms).toBe(59_999);
  expect(health.circuit('e', T)).toBe('closed');
});

test('what is remembered of an endpoint between two looks is what a fresh look finds', () => {
  const event = fc.record({
    kind: fc.constantFrom('ok', 'bad', 'missing', 'rest', 'probe', 'look'),
    step_ms: fc.constantFrom(0, 1, 400, 1_000, 5_000, 15_000, 31_000, 299_000),
    value: fc.integer({ min: 1, max: 900 }),
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const health = healthOf();
      let now = T;
      for (const { kind, step_ms, value } of events) {
        now += step_ms;
        if (kind === 'ok') {
          health.succeeded('e', { ttft_ms: value, duration_ms: value + 1_000, output_tokens: value }, now);
        } else if (kind === 'bad') health.failed('e', 'server', now);
        else if (kind === 'missing') health.missing('e', now);
        else if (kind === 'rest') health.rest('e', value, now);
        else if (kind === 'probe' && health.circuit('e', now) === 'half_open') health.probe('e', now);
        const figures = health.figures('e', now);
        if (figures === null) continue;
        const kept = { ...figures };
        // Another organization's look, and one of a moment that was not looked at, make it forget nothing.
        expect({ ...health.figures('e', now) }).toEqual(kept);
        expect(figures.circuit).toBe(health.circuit('e', now));
        expect(figures.circuit_ms > 0).toBe(figures.circuit === 'open');
      }
    }),
    { numRuns: 300 },
  );
});

test('latency, throughput and success are of the last five minutes and unknown without samples', () => {
  const health = healthOf();
  const seen = (now: number) => {
    const { ttft_ms = null, tokens_per_s = null, success = null } = health.figures('e', now) ?? {};
    return { ttft_ms, tokens_per_s, success };
  };
  expect(seen(T).ttft_ms).toBe(null);
  for (let i = 1; i <= 100; i++) {
    health.succeeded('e', { ttft_ms: i, duration_ms: i + 1_000, output_tokens: i * 10 }, T);
  }
  health.failed('e', 'server', T);
  // The first answer had 10 tokens: too few to measure speed.
  expect(seen(T)).toMatchObject({ ttft_ms: 51, tokens_per_s: 510, success: expect.closeTo(100 / 101) });
  expect(seen(T + 301_000)).toEqual({ ttft_ms: null, tokens_per_s: null, success: null });
});

test('an endpoint without its model counts as failing for ten minutes, or until it answers, and is reported once in that time', () => {
  const health = healthOf();
  const minute = 60_000;
  const well = { ttft_ms: 5, duration_ms: 1_000, output_tokens: 100 };
  for (let n = 0; n < 1_000; n++) health.succeeded('e', well, T);
  expect([health.missing('e', T), health.missing('e', T + minute)]).toEqual([true, false]);
  expect(health.figures('e', T + minute)?.success).toBe(0);
  expect(health.withoutModel(T + minute)).toEqual(['e']);
  expect(health.withoutModel(T + 11 * minute)).toEqual([]);
  expect(health.figures('e', T + 11 * minute)?.success).toBe(null);
  expect(health.missing('e', T + 11 * minute)).toBe(true);
  health.succeeded('e', well, T + 12 * minute);
  expect(health.figures('e', T + 12 * minute)?.success).toBe(1);
  expect([health.withoutModel(T + 12 * minute), health.missing('e', T + 12 * minute)]).toEqual([[], false]);
});

test('the third answer without usage within an hour flags an endpoint, once while the flag stands', () => {
  const health = healthOf();
  const minute = 60_000;
  expect(health.unmetered('e', T)).toBe(false);
  expect(health.unmetered('e', T + minute)).toBe(false);
  // An hour after the first, only two are within it.
  expect(health.unmetered('e', T + 60 * minute)).toBe(false);
  expect(health.flagged(T + 60 * minute)).toEqual([]);
  expect(health.unmetered('e', T + 60 * minute + 1)).toBe(true);
  expect(health.unmetered('e', T + 60 * minute + 2)).toBe(false);
  expect(health.unmetered('other', T + 60 * minute + 2)).toBe(false);
  expect(health.flagged(T + 60 * minute + 2)).toEqual(['e']);
  expect(health.flagged(T + 119 * minute)).toEqual(['e']);
  expect(health.flagged(T + 120 * minute)).toEqual([]);
  expect(health.circuit('e', T + 61 * minute)).toBe('closed');
});

test('who watches hears once when a circuit opens, widens and closes, and reads for whom it is open', () => {
  const heard: string[] = [];
  const health = createHealth((id, open_for) => heard.push(`${id} ${open_for}`));
  const of = (org_id: string) => ({ org_id, path: 'chat' });
  const fail = (org_id: string) => {
    for (let i = 0; i < 8; i++) health.failed('e', of(org_id), 'server', T);
  };
  const facts = { ttft_ms: null, duration_ms: 5, output_tokens: 1 };
  fail('a');
  expect(health.open()).toEqual([{ endpoint_id: 'e', everybody: false, orgs: 1 }]);
  fail('b');
  expect(health.open()).toEqual([{ endpoint_id: 'e', everybody: true, orgs: 2 }]);
  health.succeeded('e', of('a'), facts, T + 1);
  health.succeeded('e', of('b'), facts, T + 2);
  health.succeeded('e', of('b'), facts, T + 3);
  expect(health.open()).toEqual([]);
  expect(heard).toEqual(['e some organizations', 'e everybody', 'e some organizations', 'e nobody']);
  health.rest('f', 30_000, T);
  expect([health.resting(T + 29_999), health.resting(T + 30_000)]).toEqual([['f'], []]);
});

describe('failures of one organization', () => {
  const a = { org_id: 'a', path: 'chat' };
  const b = { org_id: 'b', path: 'chat' };
  const c = { org_id: 'c', path: 'messages' };
  const setUp = () => {
    const health = createHealth();
    const fail = (viewer: typeof a, times: number, at = T, fault = 'server') => {
      for (let i = 0; i < times; i++) health.failed('e', viewer, fault, at);
    };
    const circuits = (at: number) => [a, b, c].map((viewer) => health.seenBy(viewer).circuit('e', at));
    return { health, fail, circuits };
  };

  test('close the endpoint for it alone, however many they are', () => {
    const { health, fail, circuits } = setUp();
    fail(a, 500);
    expect(circuits(T)).toEqual(['open', 'closed', 'closed']);
    expect(health.seenBy(b).figures('e', T)?.circuit).toBe('closed');
    expect(health.seenBy(a).figures('e', T)).toMatchObject({ circuit: 'open', circuit_ms: 15_000 });
  });

  test('and of a second one close it for everybody, until one call succeeds', () => {
    const { health, fail, circuits } = setUp();
    fail(a, 5);
    fail(b, 4);
    expect(circuits(T)).toEqual(['open', 'closed', 'closed']);
    fail(b, 1);
    expect(circuits(T)).toEqual(['open', 'open', 'open']);
    health.probe('e', c, T + 15_000);
    expect(circuits(T + 15_000)).toEqual(['open', 'open', 'open']);
    health.succeeded('e', c, fine, T + 15_100);
    expect(circuits(T + 15_100)).toEqual(['half_open', 'half_open', 'closed']);
  });

  test('that go on alone keep nobody else out: its failed probe ends what two had closed', () => {
    const { fail, circuits } = setUp();
    fail(a, 5);
    fail(b, 5);
    fail(a, 1, T + 31_000);
    expect(circuits(T + 31_000)).toEqual(['open', 'half_open', 'closed']);
  });

  test('that a third one meets at the probe keep it closed for everybody', () => {
    const { fail, circuits } = setUp();
    fail(a, 5);
    fail(b, 5);
    fail(c, 1, T + 16_000);
    expect(circuits(T + 16_000)).toEqual(['open', 'open', 'open']);
  });

  test('on the path of one API leave its other paths open', () => {
    const { health, fail, circuits } = setUp();
    fail(a, 5, T, 'protocol');
    expect(circuits(T)).toEqual(['open', 'closed', 'closed']);
    expect(health.seenBy({ ...a, path: 'messages' }).circuit('e', T)).toBe('closed');
    fail(b, 5, T, 'protocol');
    expect(circuits(T)).toEqual(['open', 'open', 'closed']);
  });

  test('are forgotten with those who called longest ago', () => {
    const { fail, circuits } = setUp();
    fail(a, 5);
    for (let i = 0; i < 300; i++) fail({ org_id: `o${i}`, path: 'chat' }, 1);
    expect(circuits(T)).toEqual(['closed', 'closed', 'closed']);
  });
});
