// How prices that staff set stand among those of the files.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FileEndpoint } from '../file-schema.ts';
import { chargedNano, priceOfUse } from './charge.ts';
import { changedPrices, hashOf, pricesOn, type RateChange, type SetPrice, withSetPrices } from './rows.ts';

const file: FileEndpoint = {
  ...{ provider: 'acme', upstream_model: 'fast', price: { input: '2.50', output: '10' } },
  bands: [{ from_prompt_tokens: 200_000, price: { input: '5', output: '20' } }],
  tiers: { flex: { price: { input: '1', output: '5' } } },
};
const input = (usd_per_million: string, more: Partial<RateChange> = {}): RateChange => ({
  ...{ kind: 'input', usd_per_million },
  ...more,
});
let serial = 0;
/** A price that is set on what `priced` has on that day. */
function setOn(priced: FileEndpoint, from: string, changes: readonly RateChange[]): SetPrice {
  const before = pricesOn(priced, from);
  const made = changedPrices(before, changes);
  if ('fault' in made) throw new Error(made.fault.reason);
  return { set_no: ++serial, from, prices: made.prices, replaces: hashOf(before) };
}
const inputOn = (of: FileEndpoint, set: readonly SetPrice[], day: string) =>
  pricesOn(withSetPrices(of, set).file, day).price.input;

test('a set price holds from its day on, and keeps the bands and tiers that it does not change', () => {
  const set = [setOn(file, '2026-12-10', [input('3'), input('6', { from_prompt_tokens: 200_000 })])];
  expect(inputOn(file, set, '2026-12-09')).toBe('2.50');
  expect(pricesOn(withSetPrices(file, set).file, '2026-12-10')).toEqual({
    price: { input: '3', output: '10' },
    bands: [{ from_prompt_tokens: 200_000, price: { input: '6', output: '20' } }],
    tiers: { flex: { price: { input: '1', output: '5' }, bands: [] } },
  });
});

test('a file that gives other prices overtakes it; one that writes the same amounts otherwise does not', () => {
  const set = [setOn(file, '2026-12-10', [input('3')])];
  const rewritten = { ...file, price: { input: '2.5', output: '10.00' } };
  expect(inputOn(rewritten, set, '2026-12-11')).toBe('3');
  const other = { ...file, price: { input: '2.75', output: '10' } };
  expect(inputOn(other, set, '2026-12-11')).toBe('2.75');
  expect(withSetPrices(other, set).held.size).toBe(0);
  // What the file tells of a band or a tier is a price too.
  const { tiers: _, ...no_tiers } = file;
  expect(withSetPrices(no_tiers, set).held.size).toBe(0);
});

test('a later day of the file follows it, and one that the file adds before it overtakes it', () => {
  const set = [setOn(file, '2026-12-10', [input('3')])];
  const later: FileEndpoint = {
    ...file,
    scheduled: [{ from: '2027-01-01', price: { input: '4', output: '10' } }],
  };
  expect(['2026-12-31', '2027-01-01'].map((day) => inputOn(later, set, day))).toEqual(['3', '4']);
  const before: FileEndpoint = {
    ...file,
    scheduled: [{ from: '2026-12-05', price: { input: '4', output: '10' } }],
  };
  expect(inputOn(before, set, '2026-12-11')).toBe('4');
});

test('one set for the same day stands in the place of the first, and one for a later day on top of it', () => {
  const first = setOn(file, '2026-12-10', [input('3')]);
  const same = setOn(withSetPrices(file, [first]).file, '2026-12-10', [input('2.8')]);
  const later = setOn(withSetPrices(file, [first, same]).file, '2026-12-20', [
    { kind: 'output', usd_per_million: '9' },
  ]);
  const set = [later, same, first];
  expect(withSetPrices(file, set).held.size).toBe(3);
  expect(['2026-12-10', '2026-12-20'].map((day) => inputOn(file, set, day))).toEqual(['2.8', '2.8']);
  expect(pricesOn(withSetPrices(file, set).file, '2026-12-20').price.output).toBe('9');
});

test('a change of a tier, band or kind that is not there, of nothing, or made twice is refused at its member', () => {
  const prices = pricesOn(file, '2026-12-10');
  const faultOf = (...changes: RateChange[]) => {
    const made = changedPrices(prices, changes);
    return 'fault' in made ? [made.fault.place, made.fault.member] : null;
  };
  expect(faultOf(input('1', { tier: 'scale' }))).toEqual([0, 'tier']);
  for (const tier of ['constructor', '__proto__', 'toString'])
    expect(faultOf(input('1', { tier }))).toEqual([0, 'tier']);
  expect(faultOf(input('1', { from_prompt_tokens: 5 }))).toEqual([0, 'from_prompt_tokens']);
  for (const kind of ['cache_read', 'hasOwnProperty', '__proto__'])
    expect(faultOf(input('3'), { kind, usd_per_million: '1' })).toEqual([1, 'kind']);
  expect(faultOf(input('2.500'))).toEqual([0, 'usd_per_million']);
  expect(faultOf(input('3'), input('4'))).toEqual([1, 'kind']);
  expect(faultOf(input('3'), input('4', { tier: 'flex' }))).toBeNull();
});

test('whatever is set in whichever order, each price that holds is charged from its day until the next, and no other', () => {
  const day = fc.integer({ min: 1, max: 28 }).map((n) => `2027-02-${String(n).padStart(2, '0')}`);
  fc.assert(
    fc.property(
      fc.array(fc.tuple(day, fc.integer({ min: 1, max: 999 })), { maxLength: 8 }),
      fc.array(fc.integer()),
      (wanted, order) => {
        const set: SetPrice[] = [];
        for (const [from, cents] of wanted) {
          const { file: priced, held } = withSetPrices(file, set);
          const price = `0.${String(cents).padStart(3, '0')}`;
          if (set.some((one) => held.has(one.set_no) && one.from > from)) continue;
          if (Number(pricesOn(priced, from).price.input) !== Number(price))
            set.push(setOn(priced, from, [input(price)]));
        }
        const shuffled = set.toSorted((a, b) => (order[a.set_no % 7] ?? 0) - (order[b.set_no % 7] ?? 0));
        expect(withSetPrices(file, shuffled).held.size).toBe(set.length);
        for (let n = 1; n <= 28; n++) {
          const at = `2027-02-${String(n).padStart(2, '0')}`;
          const last = set.findLast((one) => one.from <= at);
          expect(inputOn(file, shuffled, at)).toBe(last?.prices.price.input ?? '2.50');
        }
      },
    ),
  );
});

test('what callers are charged of each use is what the catalog charges: markup, tiers, tiers of resellers, own keys', () => {
  const prices = pricesOn(file, '2026-12-10');
  expect(chargedNano('2.50', 1_000)).toBe(2_750);
  expect(priceOfUse(prices, 'standard', 1_000)).toMatchObject({
    ...{ rates: { input: 2_750, output: 11_000 }, list: { rates: { input: 2_500 } } },
    bands: [{ from_prompt_tokens: 200_000, rates: { input: 5_500 } }],
  });
  expect(priceOfUse(prices, 'flex', 0)).toEqual({ rates: { input: 1_000, output: 5_000 }, bands: [] });
  expect(priceOfUse(prices, 'byok:flex', 0)).toMatchObject({ fee_bps: 500, rates: { input: 1_000 } });
  expect(priceOfUse(prices, 'tier:1250 standard', 0)?.rates.input).toBe(2_813);
  expect(priceOfUse(prices, 'scale', 0)).toBeNull();
});
