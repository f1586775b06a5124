// The check of one book: a replay of its blocks from nothing, compared with what the rows say now.

import type { Cursors } from './cursor.ts';
import { genesis, movementHash, otherUnitsOf, settleHash, ulidDayOf } from './hash.ts';
import { LotCheck, type Range } from './lots.ts';
import { RunCheck } from './runs.ts';
import type { Row } from './store.ts';

const SETTLE = '1';
const EXPIRE = '16';
/** The last kind of ledger.unit_kind. */
const LAST_UNIT_KIND = 7;

/** Whether `units` are pairs of a known kind and a count, each kind once and in order. */
function areOtherUnits(units: readonly number[]): boolean {
  if (units.length === 0 || units.length % 2 !== 0) return false;
  let last = 0;
  for (let i = 0; i < units.length; i += 2) {
    const [kind, count] = [units[i]!, units[i + 1]!];
    if (!Number.isInteger(kind) || kind <= last || kind > LAST_UNIT_KIND) return false;
    if (!Number.isInteger(count) || count < 0 || count > 2_147_483_647) return false;
    last = kind;
  }
  return true;
}

interface EntryRow {
  readonly seq: bigint;
  readonly amount: bigint;
  readonly balance: bigint;
  readonly at: string;
  readonly request_id: string | null;
  readonly kind: string;
  readonly ref_type: string | null;
  readonly ref_id: string | null;
}

interface BlockRow {
  readonly no: bigint;
  readonly first: bigint;
  readonly entries: bigint;
  readonly meters: bigint;
  readonly at: bigint;
  readonly hash: string;
}

interface Window {
  spent: bigint;
  held: bigint;
}

export class BookCheck {
  private readonly row: Row;
  private readonly book: string;
  private readonly cursors: Cursors;
  private readonly report: (check: string, message: string) => void;
  private readonly lots: LotCheck;
  private readonly runs: RunCheck;
  private readonly windows = new Map<string, Window>();
  private seq = 0n;
  private balance = 0n;
  private block = 0n;
  private at: bigint | null = null;
  private head = genesis;
  entries = 0;
  meters = 0;

  constructor(row: Row, cursors: Cursors, report: (check: string, message: string) => void) {
    this.row = row;
    this.book = row[0]!;
    this.cursors = cursors;
    this.report = report;
    this.lots = new LotCheck(report);
    this.runs = new RunCheck(report);
  }

  async run(): Promise<void> {
    for (let row = await this.take('lot'); row !== null; row = await this.take('lot')) this.lots.add(row);
    for (let row = await this.take('run'); row !== null; row = await this.take('run')) this.runs.add(row);
    for (let row = await this.take('block'); row !== null; row = await this.take('block')) {
      await this.replay({
        no: BigInt(row[1]!),
        first: BigInt(row[2]!),
        entries: BigInt(row[3]!),
        meters: BigInt(row[4]!),
        at: BigInt(row[5]!),
        hash: row[6]!,
      });
    }
    await this.leftovers();
    const held = await this.holds();
    await this.compareWindows();
    this.runs.compare();
    this.compareBook(held);
  }

  private take(table: keyof Cursors, wanted: (row: Row) => boolean = () => true): Promise<Row | null> {
    return this.cursors[table].take((row) => row[0] === this.book && wanted(row));
  }

  private async replay(block: BlockRow): Promise<void> {
    if (block.no !== this.block + 1n) this.report('block', `block ${this.block + 1n} is missing`);
    if (block.first !== this.seq + 1n) {
      this.report('block', `block ${block.no} begins at ${block.first}, not at ${this.seq + 1n}`);
    }
    if (this.at !== null && block.at < this.at)
      this.report('time', `block ${block.no} is older than the one before`);
    const before = this.balance;
    const entries = await this.takeEntries(block);
    const meters = await this.takeMeters(block);
    const isSettle = block.meters > 0n;
    const hash = isSettle
      ? await this.replaySettles(block, before, entries, meters)
      : await this.replayMovement(block, before, entries);
    if (hash !== block.hash) this.report('hash', `the hash of block ${block.no} is not that of its content`);
    await this.replayBurns(block, entries, isSettle);
    // What is stored is taken over, so that one fault is reported once and not in every later block.
    this.block = block.no;
    this.seq = block.first + block.entries - 1n;
    this.at = block.at;
    this.head = block.hash;
  }

  private async takeEntries(block: BlockRow): Promise<EntryRow[]> {
    const rows: EntryRow[] = [];
    const last = block.first + block.entries - 1n;
    let expected = block.first;
    for (;;) {
      const row = await this.take('entry', (next) => BigInt(next[1]!) <= last);
      if (row === null) break;
      const entry = {
        seq: BigInt(row[1]!),
        amount: BigInt(row[2]!),
        balance: BigInt(row[3]!),
        at: row[4]!,
        request_id: row[5]!,
        kind: row[6]!,
        ref_type: row[7]!,
        ref_id: row[8]!,
      };
      this.entries++;
      if (entry.seq !== expected) this.report('seq', `entry ${entry.seq} stands where ${expected} should`);
      if (entry.balance !== this.balance + entry.amount) {
        this.report(
          'balance',
          `entry ${entry.seq}: ${this.balance} + ${entry.amount} is not ${entry.balance}`,
        );
      }
      if (entry.balance < 0n) this.report('balance', `entry ${entry.seq} leaves the balance below zero`);
      if (BigInt(entry.at) !== block.at)
        this.report('time', `entry ${entry.seq} has not the time of its block`);
      this.balance = entry.balance;
      expected = entry.seq + 1n;
      rows.push(entry);
    }
    if (expected !== last + 1n) this.report('seq', `entries ${expected} to ${last} are missing`);
    return rows;
  }

  private async takeMeters(block: BlockRow): Promise<Row[]> {
    const rows: Row[] = [];
    for (;;) {
      const row = await this.take('meter', (next) => BigInt(next[1]!) <= block.no);
      if (row === null) break;
      if (BigInt(row[1]!) !== block.no)
        this.report('meter', `${row[2]} names block ${row[1]}, which is not there`);
      const units = otherUnitsOf(row);
      if (units !== null && !areOtherUnits(units)) this.report('unit', `${row[2]} has units that are none`);
      this.meters++;
      rows.push(row);
    }
    if (BigInt(rows.length) !== block.meters) {
      this.report(
        'meter',
        `block ${block.no} says ${block.meters} metering records, there are ${rows.length}`,
      );
    }
    return rows;
  }

  /** Metering records and entries of a block side by side; returns the hash that they give. */
  private async replaySettles(
    block: BlockRow,
    before: bigint,
    entries: EntryRow[],
    meters: Row[],
  ): Promise<string> {
    const charges: bigint[] = [];
    const bySeq = new Map(entries.map((entry) => [entry.seq, entry]));
    let lastSeq = 0n;
    for (const meter of meters) {
      const cost = BigInt(meter[4]!);
      if (cost < 0n) this.report('meter', `${meter[2]} has a negative cost`);
      if (meter[3] === null) {
        if (cost !== 0n) this.report('meter', `${meter[2]} cost ${cost} and has no entry`);
        charges.push(0n);
        continue;
      }
      const seq = BigInt(meter[3]!);
      const entry = bySeq.get(seq);
      bySeq.delete(seq);
      if (entry === undefined || entry.request_id !== meter[2] || entry.kind !== SETTLE || seq <= lastSeq) {
        this.report('meter', `${meter[2]} names entry ${seq}, which is not its own`);
      }
      lastSeq = seq;
      const charged = -(entry?.amount ?? 0n);
      const writtenOff = await this.writtenOff(seq, meter[2]!);
      if (charged + writtenOff !== cost) {
        this.report('charge', `${meter[2]} cost ${cost}; charged ${charged} and written off ${writtenOff}`);
      }
      charges.push(charged);
      this.spend(meter[2]!, meter[5]!, meter[6]!, charged);
      this.runs.spend(meter[20]!, block.no, charged);
    }
    for (const entry of bySeq.values())
      this.report('entry', `entry ${entry.seq} has no metering record in its block`);
    return settleHash({ head: this.head, book: this.book, ...block, before, meters, charges });
  }

  private async replayMovement(block: BlockRow, before: bigint, entries: EntryRow[]): Promise<string> {
    const entry = entries[0];
    if (entries.length !== 1 || entry === undefined) {
      this.report('block', `block ${block.no} has no metering and ${entries.length} entries`);
      return '';
    }
    if (entry.kind === SETTLE)
      this.report('entry', `entry ${entry.seq} is a settle without a metering record`);
    const writtenOff = await this.writtenOff(entry.seq, null);
    if (writtenOff !== 0n && entry.amount > 0n) {
      this.report('charge', `entry ${entry.seq} is a credit with a write-off`);
    }
    const { amount, kind, ref_type, ref_id } = entry;
    const terms = this.lots.terms(entry.seq);
    return movementHash({
      head: this.head,
      book: this.book,
      ...block,
      before,
      amount,
      kind,
      ref_type,
      ref_id,
      terms,
    });
  }

  private async writtenOff(seq: bigint, request_id: string | null): Promise<bigint> {
    const row = await this.take('writeoff', (next) => BigInt(next[1]!) <= seq);
    if (row === null) return 0n;
    if (BigInt(row[1]!) !== seq || row[3] !== request_id) {
      this.report('writeoff', `the write-off at ${row[1]} belongs to no entry`);
      return 0n;
    }
    return BigInt(row[2]!);
  }

  private async replayBurns(block: BlockRow, entries: EntryRow[], isSettle: boolean): Promise<void> {
    const ranges: Range[] = [];
    const entry = isSettle ? null : (entries[0]?.seq ?? null);
    for (;;) {
      const row = await this.take('burn', (next) => BigInt(next[1]!) <= block.no);
      if (row === null) break;
      if (BigInt(row[1]!) !== block.no)
        this.report('burn', `a burn names block ${row[1]}, which is not there`);
      if (row[5] !== (entry?.toString() ?? null))
        this.report('burn', `a burn of block ${block.no} names entry ${row[5]}, not ${entry}`);
      ranges.push({ lot: row[2]!, from: BigInt(row[3]!), to: BigInt(row[4]!) });
    }
    let debited = 0n;
    for (const { amount, seq, kind, ref_id } of entries) {
      if (amount < 0n) debited -= amount;
      if (kind === EXPIRE) this.lots.expectExpiry(ref_id ?? '', ranges, seq);
    }
    if (!isSettle) for (const movement of entries) this.lots.move(movement, ranges);
    this.lots.burn({ block: block.no, ranges, debited, isSettle });
  }

  private spend(request_id: string, key: string, project: string, charged: bigint): void {
    const day = ulidDayOf(request_id);
    this.window('1', key, day).spent += charged;
    this.window('2', project, `${day.slice(0, 7)}-01`).spent += charged;
  }

  private window(kind: string, subject: string, start: string): Window {
    const name = `${kind}/${subject}/${start}`;
    const known = this.windows.get(name);
    if (known !== undefined) return known;
    const fresh = { spent: 0n, held: 0n };
    this.windows.set(name, fresh);
    return fresh;
  }

  private async leftovers(): Promise<void> {
    for (const table of ['entry', 'meter', 'burn', 'writeoff'] as const) {
      for (;;) {
        const row = await this.take(table);
        if (row === null) break;
        this.report(table, `a row of ${table} is in no block: ${JSON.stringify(row)}`);
      }
    }
  }

  private async holds(): Promise<bigint> {
    let held = 0n;
    for (;;) {
      const row = await this.take('hold');
      if (row === null) return held;
      const amount = BigInt(row[2]!);
      const day = ulidDayOf(row[1]!);
      held += amount;
      this.runs.hold(row[5]!, amount);
      this.window('1', row[3]!, day).held += amount;
      this.window('2', row[4]!, `${day.slice(0, 7)}-01`).held += amount;
    }
  }

  private async compareWindows(): Promise<void> {
    for (;;) {
      const row = await this.take('win');
      if (row === null) break;
      const name = `${row[1]}/${row[2]}/${row[3]}`;
      const { spent, held } = this.windows.get(name) ?? { spent: 0n, held: 0n };
      this.windows.delete(name);
      if (BigInt(row[4]!) !== spent)
        this.report('window', `window ${name} says spent ${row[4]}, it is ${spent}`);
      if (BigInt(row[5]!) !== held)
        this.report('window', `window ${name} says held ${row[5]}, it is ${held}`);
    }
    for (const [name, { spent, held }] of this.windows) {
      if (spent !== 0n || held !== 0n)
        this.report('window', `window ${name} is missing: ${spent} spent, ${held} held`);
    }
  }

  private compareBook(held: bigint): void {
    const [, , , available, heldRow, granted, seq, block, head, lot] = this.row as string[];
    const balance = BigInt(available!) + BigInt(heldRow!);
    if (balance !== this.balance) {
      this.report('balance', `available + held is ${balance}, the entries sum to ${this.balance}`);
    }
    if (BigInt(available!) < 0n) this.report('balance', 'available is below zero');
    if (BigInt(heldRow!) !== held) this.report('hold', `held is ${heldRow}, the holds sum to ${held}`);
    if (BigInt(seq!) !== this.seq)
      this.report('seq', `the book says seq ${seq}, its entries end at ${this.seq}`);
    if (BigInt(block!) !== this.block)
      this.report('block', `the book says block ${block}, there are ${this.block}`);
    if (head !== this.head) this.report('hash', 'the head of the book is not the hash of its last block');
    this.lots.compare({ balance, granted: BigInt(granted!), current: lot ?? null });
  }
}
