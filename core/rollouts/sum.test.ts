import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Id } from '../kernel/index.ts';
import type { Compared } from './compare.ts';
import { sumUp } from './sum.ts';

const place = fc
  .constantFrom(null, 'a', 'b', 'c')
  .map((name) =>
    name === null ? null : { id: `ep_${name}` as Id<'endpoint'>, provider: name, region: 'eu' },
  );
const choice = fc
  .record({ endpoint: place, cost_micro: fc.nat(1_000_000) })
  .map(({ endpoint, cost_micro }) => ({ endpoint, cost_micro: endpoint === null ? 0 : cost_micro }));
const compared: fc.Arbitrary<Compared> = fc
  .record({ model: fc.constantFrom('m1', 'm2'), before: choice, after: choice })
  // A call that stays is the same call at the same price.
  .map((one) => (one.before.endpoint?.id === one.after.endpoint?.id ? { ...one, after: one.before } : one));

test('the moves add up to what moved, what is refused, and the difference of the whole', () => {
  fc.assert(
    fc.property(fc.array(compared, { maxLength: 200 }), (calls) => {
      const sum = sumUp(calls);
      const over = (read: (move: (typeof sum.moves)[number]) => number) =>
        sum.moves.reduce((total, move) => total + read(move), 0);
      expect(over(({ calls }) => calls)).toBe(sum.moved);
      expect(over((move) => move.after_micro_usd - move.before_micro_usd)).toBe(
        sum.after_micro_usd - sum.before_micro_usd,
      );
      expect(over(({ to, calls }) => (to === null ? calls : 0))).toBe(sum.newly_refused);
      expect(sum.compared).toBe(calls.length);
      expect(sum.moves.every(({ from, to }) => from?.id !== to?.id)).toBe(true);
    }),
  );
});
