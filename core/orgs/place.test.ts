// Where the books of new organizations come to, over many of them.
import { expect, test } from 'vitest';
import { newId } from '../kernel/index.ts';
import { placeFor } from './place.ts';

const OPEN = ['main', 'a', 'b'];
const ids = Array.from({ length: 3_000 }, () => newId('org'));

function share(calls: ReadonlyMap<string, number>): Record<string, number> {
  const counts: Record<string, number> = { main: 0, a: 0, b: 0 };
  for (const id of ids) counts[placeFor(id, OPEN, calls)]! += 1 / ids.length;
  return counts;
}

test('while nothing is counted, ledgers get new organizations equally often, and one id comes to the same one', () => {
  const counts = share(new Map());
  for (const name of OPEN) expect(counts[name]).toBeCloseTo(1 / 3, 1);
  for (const id of ids.slice(0, 100)) expect(placeFor(id, OPEN)).toBe(placeFor(id, OPEN));
});

test('the busiest ledger gets one in nine, the calmest five, whatever lies between them', () => {
  const counts = share(
    new Map([
      ['main', 1_000_000],
      ['a', 10],
      ['b', 999_999],
    ]),
  );
  expect(counts['main']).toBeCloseTo(1 / 9, 1);
  expect(counts['b']).toBeCloseTo(3 / 9, 1);
  expect(counts['a']).toBeCloseTo(5 / 9, 1);
});

test('a ledger that nothing is known of yet counts as calm, and where none is open there is an error', () => {
  expect(share(new Map([['main', 5]]))['main']).toBeCloseTo(1 / 9, 1);
  expect(() => placeFor(ids[0]!, [])).toThrow('no shard of the ledger is open');
});
