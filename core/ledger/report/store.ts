// What accounts are made of: the movements of a book by UTC day, its settles that belong to a call of another day, what
// of its credit will end, and the sums of all live books by kind of entry.
import type { Db, Id, MicroUsd, RequestId } from '../../kernel/index.ts';
import { uuidToUlid } from '../batch/encode.ts';
import { ENTRY_KINDS, type EntryKind } from '../kinds.ts';

/** Sums of the entries of one UTC day, micro-USD; all positive. */
export interface DayMovements {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  /** Entries that add: top-ups, grants, reversals. */
  readonly added_micro: MicroUsd;
  /** What calls were charged. */
  readonly charged_micro: MicroUsd;
  /** Entries that take, but settles: refunds, fees, expiry. */
  readonly other_debits_micro: MicroUsd;
}

/** The last entry of a book before a time: its seq and the balance after it, 0 where there is none. */
export interface Place {
  readonly seq: number;
  readonly balance_micro: MicroUsd;
}

/**
 * Where a book stood at `at`. Entries have no index by time and need none: `created_at` never falls with `seq` (L11), and
 * `seq` has no gaps (L2), so that halving finds the place in as many look-ups as the number has bits.
 */
export async function findPlace(db: Db, args: { book_id: number; at: Date }): Promise<Place> {
  const { rows } = await db.query<Place>({
    name: 'ledger.find_place',
    text: `
      with recursive step (low, high) as (
        select 0::bigint, b.seq + 1 from ledger.book b where b.book_id = $1
        union all
        select case when e.created_at < $2 then e.seq else s.low end,
               case when e.created_at < $2 then s.high else e.seq end
          from step s join ledger.entry e on e.book_id = $1 and e.seq = (s.low + s.high) / 2
         where s.high - s.low > 1)
      select s.low as seq,
             coalesce((select e.balance_after from ledger.entry e where e.book_id = $1 and e.seq = s.low), 0)
               as balance_micro
        from step s where s.high - s.low <= 1`,
    values: [args.book_id, args.at],
  });
  return rows[0] ?? { seq: 0, balance_micro: 0 as MicroUsd };
}

/** What moved on each UTC day of the entries after `after_seq` up to `until_seq`; a day without an entry has no row. */
export async function sumDays(
  db: Db,
  args: { book_id: number; after_seq: number; until_seq: number },
): Promise<DayMovements[]> {
  const { rows } = await db.query<DayMovements>({
    name: 'ledger.sum_days',
    text: `
      select (created_at at time zone 'UTC')::date::text as day,
             coalesce(sum(amount) filter (where kind <> 1 and amount > 0), 0)::bigint as added_micro,
             coalesce(-sum(amount) filter (where kind = 1), 0)::bigint as charged_micro,
             coalesce(-sum(amount) filter (where kind <> 1 and amount < 0), 0)::bigint as other_debits_micro
        from ledger.entry where book_id = $1 and seq > $2 and seq <= $3
       group by 1 order by 1`,
    values: [args.book_id, args.after_seq, args.until_seq],
  });
  return rows;
}

/** What the entries after `after_seq` up to `until_seq` moved, by kind. */
export async function sumKinds(
  db: Db,
  args: { book_id: number; after_seq: number; until_seq: number },
): Promise<{ readonly kind: EntryKind; readonly amount_micro: number }[]> {
  const { rows } = await db.query<{ kind_no: number; amount_micro: number }>({
    name: 'ledger.sum_kinds',
    text: `
      select kind as kind_no, sum(amount)::bigint as amount_micro
        from ledger.entry where book_id = $1 and seq > $2 and seq <= $3 group by kind`,
    values: [args.book_id, args.after_seq, args.until_seq],
  });
  return rows.map(({ kind_no, amount_micro }) => ({
    kind: ENTRY_KINDS[kind_no - 1] as EntryKind,
    amount_micro,
  }));
}

/** A settle on another UTC day than that of its call, which is the day in the request id. */
export interface CrossedDay {
  readonly request_id: RequestId;
  readonly call_day: string;
  readonly settled_day: string;
}

/** Settles of another day than their call's, of the entries after `after_seq` up to `until_seq`. */
export async function listCrossed(
  db: Db,
  args: { book_id: number; after_seq: number; until_seq: number },
): Promise<CrossedDay[]> {
  const { rows } = await db.query<Omit<CrossedDay, 'request_id'> & { request_id: string }>({
    name: 'ledger.list_crossed',
    text: `
      select request_id, call_day::text as call_day, settled_day::text as settled_day
        from (select request_id, ledger.ulid_day(request_id) as call_day,
                     (created_at at time zone 'UTC')::date as settled_day
                from ledger.entry where book_id = $1 and seq > $2 and seq <= $3 and kind = 1) e
       where call_day <> settled_day`,
    values: [args.book_id, args.after_seq, args.until_seq],
  });
  return rows.map((row) => ({ ...row, request_id: uuidToUlid(row.request_id) as RequestId }));
}

/** Live books with an entry or a call at or after `since`, by organization. */
export async function listMovedBooks(db: Db, since: Date): Promise<Id<'org'>[]> {
  const { rows } = await db.query<{ org_id: Id<'org'> }>({
    name: 'ledger.list_moved_books',
    text: 'select org_id from ledger.book where environment = 1 and last_at >= $1 order by org_id',
    values: [since],
  });
  return rows.map(({ org_id }) => org_id);
}

/** Credit of a book that ends on one UTC day. */
export interface EndingCredit {
  readonly org_id: Id<'org'>;
  readonly amount_micro: MicroUsd;
  readonly paid_micro: MicroUsd;
  /** When the first of it ends. */
  readonly expires_at: Date;
}

/**
 * What is left of lots that end after `after` and not after `until`, by live book and UTC day of their end.
 */
export async function listEnding(db: Db, args: { after: Date; until: Date }): Promise<EndingCredit[]> {
  const { rows } = await db.query<EndingCredit>({
    name: 'ledger.list_ending',
    text: `
      select b.org_id, sum(l.amount - l.burned)::bigint as amount_micro,
             coalesce(sum(l.amount - l.burned) filter (where not l.is_grant), 0)::bigint as paid_micro,
             min(l.expires_at) as expires_at
        from ledger.lot l join ledger.book b using (book_id)
       where l.is_open and l.expires_at > $1 and l.expires_at <= $2 and l.expires_at < 'infinity'
         and b.environment = 1
       group by b.book_id, b.org_id, (l.expires_at at time zone 'UTC')::date
       order by expires_at`,
    values: [args.after, args.until],
  });
  return rows;
}

/** What entries of a kind moved in a time, in micro-USD. */
export interface KindTotal {
  readonly kind: EntryKind;
  /** Of an expiry: whether the lot was granted. */
  readonly granted: boolean;
  /** Signed: what customers got less what was taken from them. */
  readonly amount: bigint;
  readonly written_off: bigint;
}

interface Totals {
  readonly kinds: readonly KindTotal[];
  /** available + held of all live books, as the books say now. */
  readonly balance: bigint;
}

/** Entries from `from` on and before `to`, by kind, and the balances now, in one snapshot. */
export async function sumEntries(ledger: Db, of: { from: Date | null; to: Date }): Promise<Totals> {
  const { rows } = await ledger.query<{
    kind: EntryKind | null;
    granted: boolean;
    amount: string;
    written_off: string;
  }>({
    name: 'ledger.sum_entries',
    text: `
      select k.name as kind, coalesce(l.is_grant, false) as granted, sum(e.amount)::text as amount,
             coalesce(sum(w.amount), 0)::text as written_off
        from ledger.entry e
        join ledger.book b on b.book_id = e.book_id and b.environment = 1
        join ledger.entry_kind k on k.kind = e.kind
        left join ledger.lot l on e.kind = 16 and l.lot_id = e.ref_id
        left join ledger.writeoff w on w.book_id = e.book_id and w.seq = e.seq
       where e.created_at >= coalesce($1, '-infinity'::timestamptz) and e.created_at < $2
       group by 1, 2
      union all
      select null, false, coalesce(sum(available + held), 0)::text, '0' from ledger.book where environment = 1`,
    values: [of.from, of.to],
  });
  const kinds = rows.flatMap(({ kind, granted, amount, written_off }) =>
    kind === null ? [] : [{ kind, granted, amount: BigInt(amount), written_off: BigInt(written_off) }],
  );
  return { kinds, balance: BigInt(rows.find(({ kind }) => kind === null)!.amount) };
}
