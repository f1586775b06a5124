// The lots of one book, as the verifier replays them: which is burned first, and what comes back of a debit.
import { expect, test } from 'vitest';
import { LotCheck } from './lots.ts';

interface Lot {
  readonly seq: number;
  readonly granted?: boolean;
  /** Microseconds since 1970; null: never. */
  readonly ends?: number | null;
  readonly amount?: number;
  readonly origin?: number;
}

/** A book whose lots are numbered from 1; what is found goes to `found`. */
class Book {
  readonly found: string[] = [];
  readonly check = new LotCheck((check) => this.found.push(check));
  private readonly lots: readonly Lot[];

  constructor(lots: readonly Lot[]) {
    this.lots = lots;
    for (const [i, { seq, granted = false, ends = null, amount = 10, origin = seq }] of lots.entries())
      this.check.add([
        ...['1', `${i + 1}`, `lot_${i + 1}`, `${seq}`, `${granted}`, `${ends ?? 'infinity'}`, `${amount}`],
        ...['0', 'true', `${origin}`],
      ]);
  }

  /** The credits of all lots that are their own origin come in. */
  credited(): this {
    for (const { seq, origin = seq, amount = 10 } of this.lots)
      if (origin === seq) this.move(seq, amount, '5', `${seq}`);
    return this;
  }

  move(
    seq: number,
    amount: number,
    kind: string,
    ref_id: string,
    ranges: [lot: number, from: number, to: number][] = [],
  ) {
    const burned = ranges.map(([lot, from, to]) => ({ lot: `${lot}`, from: BigInt(from), to: BigInt(to) }));
    this.check.move({ seq: BigInt(seq), amount: BigInt(amount), kind, ref_type: 'of', ref_id }, burned);
    if (amount < 0) this.check.burn({ block: 9n, ranges: burned, debited: BigInt(-amount), isSettle: false });
  }

  settle(lot: number, from: number, to: number): string[] {
    const range = { lot: `${lot}`, from: BigInt(from), to: BigInt(to) };
    this.check.burn({ block: 10n, ranges: [range], debited: BigInt(to - from), isSettle: true });
    return this.found;
  }
}

test.each<[string, Lot, Lot]>([
  ['which ends first', { seq: 2, ends: 5 }, { seq: 1, ends: 6 }],
  ['which ends at all', { seq: 2, ends: 5 }, { seq: 1, granted: true }],
  ['which was granted, at an equal end', { seq: 2, ends: 5, granted: true }, { seq: 1, ends: 5 }],
  ['which was granted, where neither ends', { seq: 2, granted: true }, { seq: 1 }],
  ['which came first, at an equal end of one kind', { seq: 1, ends: 5 }, { seq: 2, ends: 5 }],
  ['which came first, where neither ends', { seq: 1 }, { seq: 2 }],
])('that lot is burned first %s, in whatever order they are read', (_, first, then) => {
  for (const lots of [
    [first, then],
    [then, first],
  ]) {
    const of = (lot: Lot) => lots.indexOf(lot) + 1;
    expect(new Book(lots).credited().settle(of(first), 0, 1)).toEqual([]);
    expect(new Book(lots).credited().settle(of(then), 0, 1)).toEqual(['burn']);
  }
});

/** By kind of debit the kind that puts it back: of refunds, gifts and disputes. */
const BACK: [debit: string, back: string][] = [
  ['3', '4'],
  ['7', '8'],
  ['17', '18'],
];

/** Two payments, of the first of which `taken` goes away by a debit and comes back. */
function putBack(debit: string, back: string, taken: number): Book {
  const book = new Book([{ seq: 1 }, { seq: 2 }, { seq: 4, origin: 1, amount: taken }]).credited();
  book.move(3, -taken, debit, 'r', [[1, 0, taken]]);
  book.move(4, taken, back, 'r');
  expect(book.found).toEqual([]);
  return book;
}

test.each(BACK)(
  'what a debit of kind %s took comes back by kind %s, at the place of its origin',
  (debit, back) => {
    expect(putBack(debit, back, 10).settle(3, 0, 1)).toEqual([]);
    expect(putBack(debit, back, 10).settle(2, 0, 1)).toEqual(['burn']);
    // Of one origin what was never taken is burned before what came back.
    expect(putBack(debit, back, 4).settle(1, 4, 5)).toEqual([]);
    expect(putBack(debit, back, 4).settle(3, 0, 1)).toEqual(['burn']);
  },
);

test.each(BACK)('what a debit of kind %s took comes back by no other kind than %s', (debit, back) => {
  for (const [, other] of BACK.filter(([, kind]) => kind !== back)) {
    const book = new Book([{ seq: 1 }, { seq: 4, origin: 1 }]).credited();
    book.move(3, -10, debit, 'r', [[1, 0, 10]]);
    book.move(4, 10, other, 'r');
    expect(book.found).toEqual(['restore', 'restore']);
  }
});

test('what a debit took comes back once', () => {
  const book = new Book([{ seq: 1 }, { seq: 4, origin: 1 }, { seq: 5, origin: 1 }]).credited();
  book.move(3, -10, '7', 'r', [[1, 0, 10]]);
  book.move(4, 10, '8', 'r');
  expect(book.found).toEqual([]);
  book.move(5, 10, '8', 'r');
  expect(book.found).toEqual(['restore', 'restore']);
});

test('credit that is not put back is a lot of its own, of no earlier origin', () => {
  const book = new Book([{ seq: 1 }, { seq: 2, origin: 1 }]).credited();
  book.move(2, 10, '5', 'x');
  expect(book.found).toEqual(['lot']);
  book.move(3, 0, '21', 'nothing');
  expect(book.found).toEqual(['lot']);
});

test('what is left of granted lots is what the book says is granted', () => {
  const compared = (granted: number) => {
    const book = new Book([
      { seq: 1, amount: 30 },
      { seq: 2, granted: true, ends: 5 },
    ]).credited();
    book.check.compare({ balance: 40n, granted: BigInt(granted), current: '2' });
    return book.found;
  };
  expect(compared(10)).toEqual([]);
  expect(compared(0)).toEqual(['granted']);
});
