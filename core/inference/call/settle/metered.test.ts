// Every settled cost is made again from what the ledger keeps of its call and the price version alone, whatever the
// usage and whatever is priced.
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../../test/support/database.ts';
import { type PriceVersion, type RateKind, type Rates, rateKinds } from '../../../catalog/index.ts';
import { createPool } from '../../../db/index.ts';
import { microUsd, newRequestId } from '../../../kernel/index.ts';
import { meteredUsage, readMeter, verifyLedger } from '../../../ledger/index.ts';
import {
  holdOf,
  journalDirectory,
  makeBook,
  openTestLedger,
  PATIENT,
  settleOf,
  subjectOf,
} from '../../../ledger/testing/testing.ts';
import { recompute } from '../../../pricing/index.ts';
import type { Stop, Usage } from '../../canonical/types.ts';
import { chargeOf, soundUsage, unitsOf } from './usage.ts';

const url = await createTestDatabase();
const db = createPool(url);
const journal = journalDirectory();
const ledger = await openTestLedger(url, journal.dir, PATIENT);
afterAll(async () => {
  await ledger.close();
  await db.end();
  journal.remove();
});

const count = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 5_000 }), fc.constant(20_000_000));
const some = fc.option(count, { nil: undefined });
const usage: fc.Arbitrary<Usage> = fc
  .record({
    ...{ input_tokens: count, output_tokens: count, cache_read_tokens: count, cache_write_tokens: count },
    ...{ reasoning_tokens: count, cache_write_5m_tokens: some, cache_write_1h_tokens: some },
    ...{ cache_write_30m_tokens: some, audio_input_tokens: some, audio_output_tokens: some },
    ...{ image_input_tokens: some, image_output_tokens: some, tool_prompt_tokens: some },
    ...{ search_units: fc.option(fc.nat(200), { nil: undefined }) },
    ...{ requests: fc.option(fc.nat(3), { nil: undefined }) },
    source: fc.constantFrom('provider' as const, 'estimate' as const),
  })
  // A field that was not reported is left out, as adapters do.
  .map(
    (given) => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never,
  );

const rate = fc.oneof(fc.integer({ min: 0, max: 80_000 }), fc.integer({ min: 0, max: 40_000_000 }));
const rates: fc.Arbitrary<Rates> = fc
  .record(Object.fromEntries(rateKinds.map((kind) => [kind, rate])) as Record<RateKind, typeof rate>, {
    requiredKeys: ['input', 'output'],
  })
  .map((given) => given as unknown as Rates);
const version: fc.Arbitrary<PriceVersion> = fc
  .record({
    rates,
    bands: fc.array(rates, { maxLength: 2 }),
    fee_bps: fc.option(
      fc.nat(30).map((n) => n * 10),
      { freq: 3 },
    ),
  })
  .map(({ bands, fee_bps, ...rest }) => ({
    ...rest,
    ...{ id: 'pv_1', price_no: 7, endpoint_id: 'ep_1' },
    bands: bands.map((of, i) => ({ from_prompt_tokens: (i + 1) * 1_000, rates: of })),
    ...(fee_bps === null ? {} : { fee_bps }),
  })) as unknown as fc.Arbitrary<PriceVersion>;

const stops = ['end_turn', 'max_tokens', 'malformed', 'error'] as const;
const call = fc.record({
  usage,
  price: version,
  stop: fc.option(fc.constantFrom(...stops).map((reason): Stop => ({ reason }))),
  /** Counted by us, and fitted under what was held. */
  estimated: fc.boolean(),
  held: fc.constantFrom(0, 3, 700, 1_000_000),
  ordinary: fc.boolean(),
  task: fc.boolean(),
});

/** What was met, so that the property cannot hold for want of cases. */
const met = new Set<string>();

test('the cost of any usage at any price is that of its metering record', async () => {
  const subject = subjectOf(await makeBook(db, { amount: 500_000 }));
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 12 }), async (calls) => {
      const settled = await Promise.all(
        calls.map(async ({ usage: reported, estimated, stop, ...terms }) => {
          const charge = chargeOf(reported, { estimated, stop }, terms);
          const request_id = newRequestId();
          await ledger.hold(holdOf(subject, Math.min(terms.held, 100), request_id));
          const { status } = await ledger.settle({
            ...settleOf(subject, request_id, 0),
            cost_micro_usd: microUsd(charge.cost.total_micro_usd),
            price_no: terms.price.price_no,
            units: unitsOf(charge.usage, charge.insured),
            estimated: estimated || charge.usage.source === 'estimate',
          });
          expect(['settled', 'late']).toContain(status);
          return { request_id, charge, price: terms.price };
        }),
      );
      for (const { request_id, charge, price } of settled) {
        const metered = await readMeter(db, request_id);
        if (metered === null) throw new Error('it was not settled');
        const again = recompute(meteredUsage(metered), price, metered.cost_micro_usd);
        expect(again.exact).toBe(true);
        expect(again.cost.total_micro_usd).toBe(charge.cost.total_micro_usd);
        expect(again.cost.lines.filter(({ units }) => units > 0)).toEqual(
          charge.cost.lines.filter(({ units }) => units > 0),
        );
        for (const { kind, units } of charge.cost.lines) if (units > 0) met.add(kind);
        if (charge.insured) met.add('insured');
        if (charge.usage.requests === 0) met.add('nothing fits the hold');
      }
    }),
    { numRuns: 60 },
  );
  expect([...met].sort()).toEqual([...rateKinds, 'byok_fee', 'insured', 'nothing fits the hold'].sort());
  expect((await verifyLedger({ url })).findings).toEqual([]);
}, 30_000);

test.each([
  'audio_input_tokens',
  'audio_output_tokens',
  'image_input_tokens',
  'image_output_tokens',
  'search_units',
] as const)('%s that cannot be true are taken as no usage', (name) => {
  const plain: Usage = {
    ...{ input_tokens: 5, output_tokens: 6, cache_read_tokens: 0, cache_write_tokens: 0 },
    ...{ reasoning_tokens: 0, source: 'provider' },
  };
  expect(soundUsage({ ...plain, [name]: 4 })).not.toBe(null);
  for (const wrong of [-1, 0.5, 2 ** 31, Number.NaN])
    expect(soundUsage({ ...plain, [name]: wrong })).toBe(null);
});
