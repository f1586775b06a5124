import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lookedAt } from './range.ts';
import type { AdvisedCall } from './store.ts';

const HOUR_MS = 3_600_000;
const to = Date.parse('2026-11-21T10:20:30.000Z');
const from = Math.floor((to - 24 * HOUR_MS) / HOUR_MS) * HOUR_MS;
const callAt = (at: number) => ({ ts: new Date(at) }) as AdvisedCall;

test('the calls that are looked at are all of their time, however many were left unread', () => {
  const times = fc.array(fc.integer({ min: from, max: to - 1 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(times, fc.integer({ min: 1, max: 20 }), (all, limit) => {
      const newest = all.toSorted((a, b) => b - a).slice(0, limit);
      const range = { from: new Date(from), to: new Date(to) };
      const found = lookedAt(newest.map(callAt), range, limit);
      const within = all.filter((at) => at >= found.from.getTime() && at < found.to.getTime());
      expect(found.calls.map(({ ts }) => ts.getTime()).sort()).toEqual(within.sort());
      // Sums are asked for by whole hours.
      if (found.whole_hours) expect(found.from.getTime() % HOUR_MS).toBe(0);
    }),
  );
});
