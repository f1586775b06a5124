// What people read of the ledger: balances, lots, entries, metering and budget windows.
import { type Db, type Id, type MicroUsd, nowMs, type RequestId, ServiceError } from '../kernel/index.ts';
import { ulidToUuid, uuidToUlid } from './batch/encode.ts';
import { ENTRY_KINDS, type EntryKind, kindNumber, OTHER_UNITS, type OtherUnit } from './kinds.ts';
import type { Balance, MeteredUnits, MeterOutcome, OtherUnits, Subject } from './types.ts';

/** First UTC day (`YYYY-MM-DD`) of the window of `kind` (1 key per day, 2 project per month) that holds `at_ms`. */
function windowStart(kind: number, at_ms: number): string {
  const day = new Date(at_ms).toISOString().slice(0, 10);
  return kind === 1 ? day : `${day.slice(0, 7)}-01`;
}

export interface BudgetWindow {
  readonly no: number;
  /** First UTC day, `YYYY-MM-DD`. */
  readonly start: string;
  readonly cap_micro_usd: MicroUsd | null;
  readonly hard: boolean;
  readonly spent_micro_usd: MicroUsd;
  readonly held_micro_usd: MicroUsd;
  /** When a hold was first refused or the spend reached a hard cap. */
  readonly exhausted_at: Date | null;
}

/** Today's windows of keys, or this month's of projects; a subject without a call in it has no row. */
export async function readWindows(
  db: Db,
  of: { readonly key_nos: readonly number[] } | { readonly project_nos: readonly number[] },
): Promise<BudgetWindow[]> {
  const kind = 'key_nos' in of ? 1 : 2;
  const { rows } = await db.query<BudgetWindow>({
    name: 'ledger.read_windows',
    text: `select subject as no, start::text as start, cap as cap_micro_usd, hard, spent as spent_micro_usd,
                  held as held_micro_usd, exhausted_at
             from ledger.win where kind = $1 and subject = any ($2) and start = $3 order by subject`,
    values: [kind, 'key_nos' in of ? of.key_nos : of.project_nos, windowStart(kind, nowMs())],
  });
  return rows;
}

/** What a key and all that it was rotated from and to spent, micro-USD. */
interface KeySpend {
  readonly no: number;
  readonly today_micro_usd: number;
  readonly month_micro_usd: number;
}

/** Spend of keys this UTC day and month, of one moment: the sums of their daily windows; one that spent nothing has no row. */
export async function readKeySpend(db: Db, key_nos: readonly number[]): Promise<KeySpend[]> {
  const now_ms = nowMs();
  const today = windowStart(1, now_ms);
  const { rows } = await db.query<KeySpend>({
    name: 'ledger.read_key_spend',
    text: `select subject as no, sum(spent)::bigint as month_micro_usd,
                  coalesce(sum(spent) filter (where start = $3), 0)::bigint as today_micro_usd
             from ledger.win where kind = 1 and subject = any ($1) and start between $2 and $3 group by subject`,
    values: [key_nos, windowStart(2, now_ms), today],
  });
  return rows;
}

/** The balance of a book as committed now. @throws ServiceError not_found. */
export async function readBalance(db: Db, book_id: number): Promise<Balance> {
  const { rows } = await db.query<Balance>({
    name: 'ledger.read_balance',
    text: `select available as available_micro_usd, held as held_micro_usd, granted as granted_micro_usd
             from ledger.book where book_id = $1`,
    values: [book_id],
  });
  if (rows[0] === undefined) throw new ServiceError('not_found', 'There is no such book.');
  return rows[0];
}

/** The balances of several books, by number; one that is not there yet has none. */
export async function readBalances(db: Db, books: readonly number[]): Promise<ReadonlyMap<number, Balance>> {
  const { rows } = await db.query<Balance & { book_id: number }>({
    name: 'ledger.read_balances',
    text: `select book_id, available as available_micro_usd, held as held_micro_usd, granted as granted_micro_usd
             from ledger.book where book_id = any ($1)`,
    values: [books],
  });
  return new Map(rows.map(({ book_id, ...balance }) => [book_id, balance]));
}

/** Those of `books` whose available and held credit together is below the mark in the same place of `marks`. */
export async function findBelow(
  db: Db,
  args: { books: readonly number[]; marks: readonly number[] },
): Promise<number[]> {
  const { rows } = await db.query<{ book_id: number }>({
    name: 'ledger.find_below',
    text: `select b.book_id from unnest($1::bigint[], $2::bigint[]) u(book_id, mark)
             join ledger.book b using (book_id) where b.available + b.held < u.mark`,
    values: [args.books, args.marks],
  });
  return rows.map(({ book_id }) => book_id);
}

/** How many live books are below the mark where `credits.low` fires. */
export async function countLowBooks(db: Db): Promise<number> {
  const { rows } = await db.query<{ low: number }>({
    name: 'ledger.count_low_books',
    text: `select count(*)::int as low from ledger.book
            where environment = 1 and available + held < low_mark`,
  });
  return rows[0]!.low;
}

export interface Lot {
  readonly id: Id<'lot'>;
  /** Of the entry that brought it, and of the one that first brought its credit: the same unless it was put back. */
  readonly seq: number;
  readonly origin_seq: number;
  readonly kind: 'paid' | 'granted';
  readonly source_type: string;
  readonly source_id: string;
  readonly amount_micro_usd: MicroUsd;
  readonly remaining_micro_usd: MicroUsd;
  /** null: never. */
  readonly expires_at: Date | null;
  readonly created_at: Date;
}

/** Lots of a book beyond `after`, newest first; `open` leaves out those that are used up. */
export async function readLots(
  db: Db,
  args: { book_id: number; open?: boolean; after?: Pick<Lot, 'seq' | 'origin_seq'> | null; limit?: number },
): Promise<Lot[]> {
  const { rows } = await db.query<Lot>({
    name: 'ledger.read_lots',
    text: `select l.lot_id as id, l.seq, l.origin_seq, case when l.is_grant then 'granted' else 'paid' end as kind,
                  e.ref_type as source_type, e.ref_id as source_id, l.amount as amount_micro_usd,
                  l.amount - l.burned as remaining_micro_usd, nullif(l.expires_at, 'infinity') as expires_at,
                  l.created_at
             from ledger.lot l join ledger.entry e on e.book_id = l.book_id and e.seq = l.origin_seq
            where l.book_id = $1 and (l.is_open or not $2)
              and ($3::bigint is null or (l.seq, l.origin_seq) < ($3, $4))
            order by l.seq desc, l.origin_seq desc limit $5`,
    values: [
      args.book_id,
      args.open ?? false,
      args.after?.seq ?? null,
      args.after?.origin_seq ?? null,
      args.limit ?? 500,
    ],
  });
  return rows;
}

/**
 * What of the credit that came with a lot could be debited now: its rest and that of what was put back of it, but not
 * what holds need.
 */
export async function readUnused(db: Db, args: { book_id: number; lot_id: Id<'lot'> }): Promise<MicroUsd> {
  const { rows } = await db.query<{ unused: MicroUsd }>({
    name: 'ledger.read_unused',
    text: `select least(b.available, sum(l.amount - l.burned))::bigint as unused
             from ledger.lot o join ledger.lot l on l.book_id = o.book_id and l.origin_seq = o.origin_seq
             join ledger.book b on b.book_id = o.book_id
            where o.book_id = $1 and o.lot_id = $2 group by b.available`,
    values: [args.book_id, args.lot_id],
  });
  if (rows[0] === undefined) throw new ServiceError('not_found', 'There is no such lot.');
  return rows[0].unused;
}

/** What a debit took, by when it would have ended (null: never), in the order in which it was burned. */
export async function readTaken(
  db: Db,
  args: { book_id: number; seq: number },
): Promise<{ expires_at: Date | null; amount_micro_usd: MicroUsd }[]> {
  const { rows } = await db.query<{ expires_at: Date | null; amount_micro_usd: MicroUsd }>({
    name: 'ledger.read_taken',
    text: `select nullif(l.expires_at, 'infinity') as expires_at, sum(b.to_micro - b.from_micro)::bigint as amount_micro_usd
             from ledger.burn b join ledger.lot l on l.lot_no = b.lot_no
            where b.book_id = $1 and b.seq = $2 group by l.expires_at order by l.expires_at`,
    values: [args.book_id, args.seq],
  });
  return rows;
}

export interface Entry {
  readonly seq: number;
  readonly kind: EntryKind;
  readonly amount_micro_usd: MicroUsd;
  readonly balance_after_micro_usd: MicroUsd;
  /** Only on settles. */
  readonly request_id: RequestId | null;
  readonly ref_type: string | null;
  readonly ref_id: string | null;
  readonly created_at: Date;
}

interface EntryRow extends Omit<Entry, 'kind' | 'request_id'> {
  readonly kind: number;
  readonly request_id: string | null;
}

/** Entries of a book with a seq below `before_seq`, newest first, at most `limit` (a page of 500 and one more). */
export async function readEntries(
  db: Db,
  args: { book_id: number; before_seq?: number | null; limit?: number; kind?: EntryKind | null },
): Promise<Entry[]> {
  const { rows } = await db.query<EntryRow>({
    name: 'ledger.read_entries',
    text: `select seq, kind, amount as amount_micro_usd, balance_after as balance_after_micro_usd, request_id,
                  ref_type, ref_id, created_at
             from ledger.entry
            where book_id = $1 and ($2::bigint is null or seq < $2) and ($3::smallint is null or kind = $3)
            order by seq desc limit $4`,
    values: [
      args.book_id,
      args.before_seq ?? null,
      args.kind === undefined || args.kind === null ? null : kindNumber(args.kind),
      Math.min(args.limit ?? 50, 501),
    ],
  });
  return rows.map((row) => ({
    ...row,
    kind: ENTRY_KINDS[row.kind - 1]!,
    request_id: row.request_id === null ? null : (uuidToUlid(row.request_id) as RequestId),
  }));
}

/** What was metered and charged for one call. */
export interface Metered extends Subject {
  readonly request_id: RequestId;
  /** null: cost 0, no entry. */
  readonly seq: number | null;
  readonly cost_micro_usd: MicroUsd;
  /** Below the cost when a write-off was recorded. */
  readonly charged_micro_usd: MicroUsd;
  readonly model_no: number;
  readonly endpoint_no: number;
  readonly price_no: number;
  readonly units: MeteredUnits;
  readonly outcome: MeterOutcome;
  readonly estimated: boolean;
  readonly settled_at: Date;
}

/** Units as their columns have them. */
export interface MeteredRow extends Omit<MeteredUnits, 'other'> {
  readonly other_units: readonly number[] | null;
}

interface MeterRow extends MeteredRow, Omit<Metered, 'units' | 'outcome' | 'request_id'> {
  readonly outcome: number;
}

/** Pairs of kind and count as units by name. @throws Error for a kind that this release does not know. */
function otherOf(pairs: readonly number[]): OtherUnits {
  const other: { [K in OtherUnit]?: number } = {};
  for (let i = 0; i < pairs.length; i += 2) {
    const name = OTHER_UNITS[(pairs[i] as number) - 1];
    if (name === undefined) throw new Error(`a metering record has units of kind ${pairs[i]}`);
    other[name] = pairs[i + 1] as number;
  }
  return other;
}

/** The units of a metering record. */
export function unitsOf({ other_units, ...tokens }: MeteredRow): MeteredUnits {
  return { ...tokens, ...(other_units === null ? {} : { other: otherOf(other_units) }) };
}

/** What a call used in all, and whether its answer was insured: with the price version, all that its cost is made of. */
export function meteredUsage({ units, estimated }: Pick<Metered, 'units' | 'estimated'>): {
  readonly usage: Omit<MeteredUnits, 'other'> &
    Omit<OtherUnits, 'insured'> & { readonly source: 'estimate' | 'provider' };
  readonly insured: boolean;
} {
  const { other = {}, ...tokens } = units;
  const { insured = 0, ...others } = other;
  return {
    usage: { ...tokens, ...others, source: estimated ? 'estimate' : 'provider' },
    insured: insured > 0,
  };
}

const OUTCOME_NAMES = ['ok', 'cancelled', 'error'] as const;

/** The metering record of a call with its charge, or null when it is not settled. */
export async function readMeter(db: Db, request_id: RequestId): Promise<Metered | null> {
  const { rows } = await db.query<MeterRow>({
    name: 'ledger.read_meter',
    text: `select m.book_id, m.key_no, m.project_no, m.seq, m.cost as cost_micro_usd,
                  m.cost - coalesce(w.amount, 0) as charged_micro_usd, m.model_no, m.endpoint_no, m.price_no,
                  m.input_tokens, m.output_tokens, m.cache_read_tokens, m.cache_write_tokens,
                  m.cache_write_5m_tokens, m.cache_write_1h_tokens, m.reasoning_tokens, m.other_units, m.outcome,
                  m.estimated, b.created_at as settled_at
             from ledger.meter m
             join ledger.block b on b.book_id = m.book_id and b.block_no = m.block_no
             left join ledger.writeoff w on w.book_id = m.book_id and w.seq = m.seq
            where m.request_id = $1`,
    values: [ulidToUuid(request_id)],
  });
  const row = rows[0];
  if (row === undefined) return null;
  const {
    input_tokens,
    output_tokens,
    cache_read_tokens,
    cache_write_tokens,
    cache_write_5m_tokens,
    cache_write_1h_tokens,
    reasoning_tokens,
    other_units,
    outcome,
    ...rest
  } = row;
  const tokens = { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens };
  const parts = { cache_write_5m_tokens, cache_write_1h_tokens, reasoning_tokens, other_units };
  const units = unitsOf({ ...tokens, ...parts });
  return { ...rest, request_id, units, outcome: OUTCOME_NAMES[outcome]! };
}

/** Micro-USD of a call that were written off; 0 when it was charged whole or is not settled. */
export async function readWriteoff(db: Db, request_id: RequestId): Promise<number> {
  const { rows } = await db.query<{ amount: number }>({
    name: 'ledger.read_writeoff',
    text: 'select amount from ledger.writeoff where request_id = $1',
    values: [ulidToUuid(request_id)],
  });
  return rows[0]?.amount ?? 0;
}

/** Micro-USD that debits of a book asked for, did not find and wrote off; those of calls are with their metering. */
export async function sumDebitWriteoffs(db: Db, book_id: number): Promise<number> {
  const { rows } = await db.query<{ sum: number }>({
    name: 'ledger.sum_debit_writeoffs',
    text: `select coalesce(sum(amount), 0)::bigint as sum from ledger.writeoff
            where book_id = $1 and request_id is null`,
    values: [book_id],
  });
  return rows[0]!.sum;
}
