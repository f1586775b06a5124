// The lots of one book in replay: opened by credits, burned in order by settles, from chosen lots by the rest. What a
// debit took may come back, once, in lots of the terms and the place of those that it was taken from.
import { lotTerms, originTerms } from './hash.ts';
import type { Row } from './store.ts';

interface LotState {
  readonly no: string;
  readonly id: string;
  readonly seq: bigint;
  /** Of the entry that first brought the credit; another than `seq` where a debit's was put back. */
  readonly origin: bigint;
  readonly isGrant: boolean;
  /** Microseconds since 1970; null: never. */
  readonly expires: bigint | null;
  readonly amount: bigint;
  readonly burnedRow: bigint;
  readonly isOpenRow: boolean;
  burned: bigint;
  isOpened: boolean;
}

export interface Range {
  readonly lot: string;
  readonly from: bigint;
  readonly to: bigint;
}

/** An entry that moved credit beside calls. */
interface Movement {
  readonly seq: bigint;
  readonly amount: bigint;
  readonly kind: string;
  readonly ref_type: string | null;
  readonly ref_id: string | null;
}

/** By the kind of an entry that puts credit back, the kind of its debit: of a refund, a gift, a dispute. */
const RESTORES: Readonly<Record<string, string>> = { '4': '3', '8': '7', '18': '17' };
const RESTORED = new Set(Object.values(RESTORES));

/** Earliest expiry first, at equal expiry granted before paid, no expiry last, then oldest: the lowest origin. */
function burnOrder(a: LotState, b: LotState): number {
  if (a.expires !== b.expires) {
    if (a.expires === null) return 1;
    if (b.expires === null) return -1;
    return a.expires < b.expires ? -1 : 1;
  }
  if (a.isGrant !== b.isGrant) return a.isGrant ? -1 : 1;
  if (a.origin !== b.origin) return a.origin < b.origin ? -1 : 1;
  return a.seq < b.seq ? -1 : 1;
}

export class LotCheck {
  private readonly report: (check: string, message: string) => void;
  private readonly lots = new Map<string, LotState>();
  private readonly bySeq = new Map<bigint, LotState[]>();
  /** What debits took that may be put back: by kind and reference, and by the origin of the credit. */
  private readonly taken = new Map<string, ReadonlyMap<bigint, bigint>>();
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
      origin: BigInt(row[9]!),
      burned: 0n,
      isOpened: false,
    };
    this.lots.set(lot.no, lot);
    const others = this.bySeq.get(lot.seq);
    if (others === undefined) this.bySeq.set(lot.seq, [lot]);
    else others.push(lot);
  }

  /** The terms of the lots that the entry at `seq` brought, as its hash covers them; empty when it brought none. */
  terms(seq: bigint): Buffer {
    const lots = this.bySeq.get(seq) ?? [];
    const parts = lots.map((lot) => [lotTerms(lot), ...(lot.origin === seq ? [] : [originTerms(lot)])]);
    return Buffer.concat(parts.flat());
  }

  /** What moved beside calls: a credit brings a lot of its own, a restoration the lots that its debit took from. */
  move(entry: Movement, ranges: readonly Range[]): void {
    const { seq, amount, kind, ref_type, ref_id } = entry;
    if (RESTORED.has(kind)) this.taken.set(`${kind} ${ref_type} ${ref_id}`, this.byOrigin(ranges));
    if (amount <= 0n) return;
    const lots = this.bySeq.get(seq) ?? [];
    const debit = RESTORES[kind];
    if (debit === undefined) {
      const isOwn = lots.length === 1 && lots[0]!.origin === seq && lots[0]!.amount === amount;
      if (!isOwn) this.report('lot', `the credit at ${seq} of ${amount} has no lot of that amount`);
    } else this.putBack(entry, lots, `${debit} ${ref_type} ${ref_id}`);
    for (const lot of lots) this.open(lot);
  }

  private byOrigin(ranges: readonly Range[]): ReadonlyMap<bigint, bigint> {
    const sums = new Map<bigint, bigint>();
    for (const { lot, from, to } of ranges) {
      const origin = this.lots.get(lot)?.origin ?? 0n;
      sums.set(origin, (sums.get(origin) ?? 0n) + to - from);
    }
    return sums;
  }

  private putBack({ seq, amount }: Movement, lots: readonly LotState[], debit: string): void {
    const taken = this.taken.get(debit) ?? new Map<bigint, bigint>();
    // Once: a second one finds nothing to put back.
    this.taken.delete(debit);
    let sum = 0n;
    for (const lot of lots) {
      sum += lot.amount;
      const first = this.bySeq.get(lot.origin)?.find(({ origin }) => origin === lot.origin);
      const isLike = first?.isGrant === lot.isGrant && first.expires === lot.expires;
      if (!isLike || taken.get(lot.origin) !== lot.amount)
        this.report('restore', `lot ${lot.no} at ${seq} is not what its debit took of ${lot.origin}`);
    }
    if (sum !== amount || lots.length !== taken.size)
      this.report('restore', `the entry at ${seq} puts back ${amount}, which is not what its debit took`);
  }

  private open(lot: LotState): void {
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
