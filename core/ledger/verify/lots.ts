// The lots of one book in replay: opened by credits, burned in order by settles, from a chosen lot by the rest.
import { lotTerms } from './hash.ts';
import type { Row } from './store.ts';

interface LotState {
  readonly no: string;
  readonly id: string;
  readonly seq: bigint;
  readonly isGrant: boolean;
  /** Microseconds since 1970; null: never. */
  readonly expires: bigint | null;
  readonly amount: bigint;
  readonly burnedRow: bigint;
  readonly isOpenRow: boolean;
  burned: bigint;
  isOpened: boolean;
}

interface Range {
  readonly lot: string;
  readonly from: bigint;
  readonly to: bigint;
}

/** Earliest expiry first, at equal expiry granted before paid, no expiry last, then oldest: the lowest seq. */
function burnOrder(a: LotState, b: LotState): number {
  if (a.expires !== b.expires) {
    if (a.expires === null) return 1;
    if (b.expires === null) return -1;
    return a.expires < b.expires ? -1 : 1;
  }
  if (a.isGrant !== b.isGrant) return a.isGrant ? -1 : 1;
  return a.seq < b.seq ? -1 : 1;
}

export class LotCheck {
  private readonly report: (check: string, message: string) => void;
  private readonly lots = new Map<string, LotState>();
  private readonly bySeq = new Map<bigint, LotState>();
  /** Lots with something left, in burn order. */
  private queue: LotState[] = [];

  constructor(report: (check: string, message: string) => void) {
    this.report = report;
  }

  add(row: Row): void {
    const lot: LotState = {
      no: row[1]!,
      id: row[2]!,
      seq: BigInt(row[3]!),
      isGrant: row[4] === 'true',
      expires: row[5] === 'infinity' ? null : BigInt(row[5]!),
      amount: BigInt(row[6]!),
      burnedRow: BigInt(row[7]!),
      isOpenRow: row[8] === 'true',
      burned: 0n,
      isOpened: false,
    };
    this.lots.set(lot.no, lot);
    this.bySeq.set(lot.seq, lot);
  }

  /** The terms of the lot that the entry at `seq` brought, as its hash covers them; empty when it brought none. */
  terms(seq: bigint): Buffer {
    const lot = this.bySeq.get(seq);
    return lot === undefined ? Buffer.alloc(0) : lotTerms(lot);
  }

  /** A credit at `seq` must have brought a lot of its amount. */
  open(seq: bigint, amount: bigint): void {
    const lot = this.bySeq.get(seq);
    if (lot === undefined || lot.amount !== amount) {
      this.report('lot', `the credit at ${seq} of ${amount} has no lot of that amount`);
      return;
    }
    lot.isOpened = true;
    const at = this.queue.findIndex((other) => burnOrder(lot, other) < 0);
    if (at < 0) this.queue.push(lot);
    else this.queue.splice(at, 0, lot);
  }

  /** An expiry burns its own lot alone. */
  expectExpiry(lot_id: string, ranges: readonly Range[], seq: bigint): void {
    for (const { lot } of ranges) {
      if (this.lots.get(lot)?.id !== lot_id)
        this.report('burn', `the expiry at ${seq} burned another lot than its own`);
    }
  }

  /** The ranges of a block: together what it debited, each where its lot had come to; settles in burn order. */
  burn(of: { block: bigint; ranges: readonly Range[]; debited: bigint; isSettle: boolean }): void {
    const { block, ranges, debited, isSettle } = of;
    let sum = 0n;
    for (const { from, to } of ranges) sum += to - from;
    if (sum !== debited) this.report('burn', `block ${block} debits ${debited} and burns ${sum}`);
    if (isSettle) this.expectOrder(block, ranges);
    for (const range of ranges) {
      const lot = this.lots.get(range.lot);
      if (lot === undefined || !lot.isOpened) {
        this.report('burn', `block ${block} burns lot ${range.lot}, which is not there`);
        continue;
      }
      if (range.from !== lot.burned || range.to <= range.from || range.to > lot.amount) {
        this.report(
          'burn',
          `block ${block} burns ${range.from} to ${range.to} of lot ${range.lot}, at ${lot.burned}`,
        );
      }
      lot.burned = range.to;
    }
    if (ranges.length > 0) this.queue = this.queue.filter((lot) => lot.burned < lot.amount);
  }

  private expectOrder(block: bigint, ranges: readonly Range[]): void {
    // A settle burns the head of the queue and goes on only when that is used up.
    const byLot = new Map(ranges.map((range) => [range.lot, range]));
    let left = ranges.length;
    for (const lot of this.queue) {
      if (left === 0) return;
      const range = byLot.get(lot.no);
      if (range === undefined) break;
      left--;
      if (left > 0 && range.to !== lot.amount) break;
    }
    if (left > 0) this.report('burn', `block ${block} burned lots out of order`);
  }

  compare(book: { balance: bigint; granted: bigint; current: string | null }): void {
    let rest = 0n;
    let granted = 0n;
    for (const lot of this.lots.values()) {
      if (!lot.isOpened) this.report('lot', `lot ${lot.no} was brought by no entry`);
      if (lot.burnedRow !== lot.burned) {
        this.report('lot', `lot ${lot.no} says ${lot.burnedRow} burned, its ranges sum to ${lot.burned}`);
      }
      if (lot.isOpenRow !== lot.burnedRow < lot.amount)
        this.report('lot', `lot ${lot.no} has a wrong open mark`);
      rest += lot.amount - lot.burned;
      if (lot.isGrant) granted += lot.amount - lot.burned;
    }
    if (rest !== book.balance)
      this.report('lot', `the lots hold ${rest}, available + held is ${book.balance}`);
    if (granted !== book.granted)
      this.report('granted', `granted is ${book.granted}, the lots say ${granted}`);
    const first = this.queue[0]?.no ?? null;
    if (book.current !== first)
      this.report('lot', `the current lot is ${book.current}, it should be ${first}`);
  }
}
