// What the sequences of the model test are drawn from, weighted so that credit, budgets and holds run out often.
import fc from 'fast-check';

/** Amounts are small, so that balances and budgets run out often. */
const amount = fc.integer({ min: 1, max: 40 });
const pick = fc.nat({ max: 1_000 });

/** Half of them none; a run is used by calls of all keys, with budgets that change from call to call. */
const budget = fc.option(fc.record({ run: fc.nat({ max: 1 }), max: fc.integer({ min: 0, max: 90 }) }), {
  nil: null,
  freq: 2,
});

/** One step of a sequence. */
export const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant('hold' as const),
      calls: fc.array(fc.record({ key: pick, yesterday: fc.boolean(), amount, budget }), {
        minLength: 1,
        maxLength: 6,
      }),
      // A hold that stands is sent again beside them, as after a lost answer.
      again: fc.option(pick, { nil: null, freq: 2 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant('settle' as const),
      calls: fc.array(fc.record({ which: pick, cost: fc.integer({ min: 0, max: 50 }) }), {
        minLength: 1,
        maxLength: 6,
      }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant('extend' as const),
      which: pick,
      total: fc.integer({ min: 1, max: 90 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('release' as const), which: pick }) },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant('credit' as const),
      amount,
      grant: fc.boolean(),
      days: fc.option(fc.integer({ min: 0, max: 2 }), { nil: null, freq: 3 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constant('debit' as const),
      amount,
      lot: fc.option(pick, { nil: null, freq: 2 }),
      paid_only: fc.constantFrom(true, true, false),
      short: fc.constantFrom('refuse', 'refuse', 'take_less', 'write_off'),
    }),
  },
  // Mostly of a debit that took something, now and then of one that was refused or has been put back.
  { weight: 4, arbitrary: fc.record({ op: fc.constant('restore' as const), which: pick }) },
  // A payment is disputed: credit of its lot is held.
  { weight: 3, arbitrary: fc.record({ op: fc.constant('dispute' as const), amount, lot: pick }) },
  // It is won or lost, once, now and then again.
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constant('end_dispute' as const), which: pick, lost: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant('budget' as const),
      subject: fc.constantFrom('key 0', 'key 1', 'key 2', 'project 0', 'project 1'),
      cap: fc.option(fc.integer({ min: 0, max: 80 }), { nil: null, freq: 4 }),
      hard: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('expire' as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('end_grants' as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('sweep' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant('later' as const), hours: fc.integer({ min: 1, max: 30 }) }),
  },
);
export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Scarce credit that ends soon, or so much that budgets are what runs out. */
export const first = fc.constantFrom(
  { op: 'credit', amount: 60, grant: false, days: 1 } as const,
  { op: 'credit', amount: 600, grant: false, days: null } as const,
);
