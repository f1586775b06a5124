// The management side's statements: books, credits, debits, expiry and budgets. Balances are
// written only by the functions of the schema `ledger`; a statement here that moves money is a call of one.
import {
  type Db,
  type Environment,
  type Id,
  type MicroUsd,
  newId,
  nowMs,
  ServiceError,
} from '../kernel/index.ts';
import { type DEBIT_KINDS, type EntryKind, kindNumber } from './kinds.ts';

const ENVIRONMENT_NUMBER = { live: 1, test: 2 } as const;

function toIso(date: Date): string {
  return date.toISOString();
}

export interface NewBook {
  readonly book_id: number;
  readonly org_id: string;
  readonly environment: Environment;
  /** Where `credits.low` fires; null: nowhere. */
  readonly low_mark_micro_usd: MicroUsd | null;
}

/** Makes a book under the number that its organization has for it; again it does nothing. */
export async function openBook(db: Db, book: NewBook): Promise<void> {
  await db.query({
    name: 'ledger.open_book',
    text: 'select ledger.open_book($1, $2, $3, $4)',
    values: [book.book_id, book.org_id, ENVIRONMENT_NUMBER[book.environment], book.low_mark_micro_usd],
  });
}

/** The number of the book of (org, environment), or null. */
export async function findBook(
  db: Db,
  args: { org_id: string; environment: Environment },
): Promise<number | null> {
  const { rows } = await db.query<{ book_id: number }>({
    name: 'ledger.find_book',
    text: 'select book_id from ledger.book where org_id = $1 and environment = $2',
    values: [args.org_id, ENVIRONMENT_NUMBER[args.environment]],
  });
  return rows[0]?.book_id ?? null;
}

/** Sets where `credits.low` fires for a book; null turns it off. */
export async function setLowMark(
  db: Db,
  args: { book_id: number; low_mark_micro_usd: MicroUsd | null },
): Promise<void> {
  await db.query({
    name: 'ledger.set_low_mark',
    text: 'select ledger.set_low_mark($1, $2)',
    values: [args.book_id, args.low_mark_micro_usd],
  });
}

export interface Reference {
  readonly ref_type:
    | 'topup'
    | 'refund'
    | 'gift'
    | 'redemption'
    | 'eval_run'
    | 'allocation'
    | 'plan'
    | 'dispute'
    | 'lot'
    | 'staff';
  readonly ref_id: string;
}

export interface Credit extends Reference {
  /** Of the lot that it brings; chosen here when absent. */
  readonly lot_id?: Id<'lot'>;
  readonly book_id: number;
  readonly kind: EntryKind;
  readonly amount_micro_usd: MicroUsd;
  /** Granted lots burn before paid ones of equal expiry and are never refunded. */
  readonly granted: boolean;
  /** null: never. */
  readonly expires_at: Date | null;
}

export interface Credited {
  readonly lot_id: Id<'lot'>;
  readonly seq: number;
  /** The same (kind, reference) was credited before; nothing moved now. */
  readonly replay: boolean;
}

/**
 * Credits a book with a new lot: one entry, once per (kind, ref_type, ref_id).
 * @throws RangeError on an amount below 1; an error of PostgreSQL when the book does not exist.
 */
export async function credit(db: Db, credit: Credit): Promise<Credited> {
  if (!Number.isSafeInteger(credit.amount_micro_usd) || credit.amount_micro_usd < 1) {
    throw new RangeError(`a credit is at least 1 micro-USD: ${credit.amount_micro_usd}`);
  }
  const { rows } = await db.query<Credited>({
    name: 'ledger.credit',
    text: `select o_lot_id as lot_id, o_seq as seq, o_replay as replay
             from ledger.credit($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      credit.book_id,
      credit.lot_id ?? newId('lot'),
      credit.amount_micro_usd,
      credit.granted,
      credit.expires_at === null ? 'infinity' : toIso(credit.expires_at),
      kindNumber(credit.kind),
      credit.ref_type,
      credit.ref_id,
      new Date(nowMs()),
    ],
  });
  return rows[0]!;
}

interface Debit extends Reference {
  readonly book_id: number;
  readonly kind: (typeof DEBIT_KINDS)[number];
  readonly amount_micro_usd: MicroUsd;
  /** Takes from this lot alone (a refund from its top-up). */
  readonly lot_id?: string;
  readonly paid_only?: boolean;
  /** Only from lots older than this (gifts: seven days). */
  readonly created_before?: Date;
  /** Takes what is there and records the rest as a write-off (disputes), instead of refusing. */
  readonly write_off?: boolean;
}

interface Debited {
  readonly seq: number;
  readonly taken_micro_usd: MicroUsd;
  readonly replay: boolean;
}

/**
 * Takes credit out of a book, once per (kind, ref_type, ref_id); never what holds need.
 * @throws ServiceError insufficient_credits when the lots in reach or `available` do not cover it.
 */
export async function debit(db: Db, debit: Debit): Promise<Debited> {
  const { rows } = await db.query<{ status: string; seq: number; taken: MicroUsd }>({
    name: 'ledger.debit',
    text: `select o_status as status, o_seq as seq, o_taken as taken
             from ledger.debit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    values: [
      debit.book_id,
      debit.amount_micro_usd,
      kindNumber(debit.kind),
      debit.ref_type,
      debit.ref_id,
      debit.lot_id ?? null,
      debit.paid_only ?? false,
      debit.created_before ?? null,
      debit.write_off ?? false,
      new Date(nowMs()),
    ],
  });
  const { status, seq, taken } = rows[0]!;
  if (status === 'insufficient') {
    throw new ServiceError('insufficient_credits', 'The balance does not cover the amount.');
  }
  return { seq, taken_micro_usd: taken, replay: status === 'replay' };
}

/**
 * Books the expiry of all lots that have ended, `limit` in one transaction; returns how many lots gave something back.
 */
export async function expireLots(db: Db, limit = 1_000): Promise<number> {
  const at = new Date(nowMs());
  let expired = 0;
  for (;;) {
    const { rows: ended } = await db.query<{ lot_no: string }>({
      name: 'ledger.ended_lots',
      // Book order is lock order; each lot is decided under its book's lock. Numbers as text: they are only handed on.
      text: `select l.lot_no::text as lot_no from ledger.lot l join ledger.book b using (book_id)
              where l.is_open and l.expires_at <= $1 and b.available > 0
              order by l.book_id, l.seq limit $2`,
      values: [at, limit],
    });
    const { rows } = await db.query<{ amount: number }>({
      name: 'ledger.expire_lots',
      // Read before, because a distributed engine refuses a function that writes, called over rows of a table.
      text: 'select ledger.expire_lot(x.lot_no, $2) as amount from unnest($1::bigint[]) x(lot_no)',
      values: [ended.map((lot) => lot.lot_no), at],
    });
    const moved = rows.filter((row) => row.amount > 0).length;
    expired += moved;
    // What holds have taken since it was found waits for them, and for the next turn.
    if (ended.length < limit || moved === 0) return expired;
  }
}

/** Budget of a key per UTC day or of a project per UTC month. Every key and project needs one; `cap` null: no budget. */
export interface Budget {
  readonly book_id: number;
  readonly subject: { readonly key_no: number } | { readonly project_no: number };
  readonly cap_micro_usd: MicroUsd | null;
  /** Holds beyond the cap are refused; else only events are sent. */
  readonly hard?: boolean;
  /** Percentages at which `budget.threshold` fires. */
  readonly alerts?: readonly number[];
}

function subjectOf(subject: Budget['subject']): [kind: number, no: number] {
  return 'key_no' in subject ? [1, subject.key_no] : [2, subject.project_no];
}

/**
 * Sets a budget and the window that runs now, under the book's lock. Nothing once an order of a higher `version` has
 * been here; null is no order.
 */
export async function setBudget(db: Db, budget: Budget, version: number | null = null): Promise<void> {
  const [kind, no] = subjectOf(budget.subject);
  await db.query({
    name: 'ledger.set_budget',
    text: 'select ledger.set_budget($1, $2, $3, $4, $5, $6, $7, $8)',
    values: [
      budget.book_id,
      kind,
      no,
      budget.cap_micro_usd,
      budget.hard ?? true,
      [...(budget.alerts ?? [50, 80, 100])].sort((a, b) => a - b),
      toIso(new Date(nowMs())).slice(0, 10),
      version,
    ],
  });
}

/** A window of a hard budget that is to hold nothing back for its rest. */
export interface Resumption {
  readonly subject: Budget['subject'];
  /** First UTC day of the window, `YYYY-MM-DD`. */
  readonly start: string;
}

/** Lifts the hard rule of a window; false when it was not hard, or an order of a higher `version` has been here. */
export async function resumeBudget(
  db: Db,
  { subject, start }: Resumption,
  version: number | null = null,
): Promise<boolean> {
  const [kind, no] = subjectOf(subject);
  const { rows } = await db.query<{ resumed: boolean }>({
    name: 'ledger.resume_budget',
    text: 'select ledger.resume($1, $2, $3, $4) as resumed',
    values: [kind, no, start, version],
  });
  return rows[0]!.resumed;
}

/** Makes the metering partitions of this month and the two after it; returns how many were missing. A daily job. */
export async function makeMeterPartitions(db: Db): Promise<number> {
  const { rows } = await db.query<{ made: number }>({
    name: 'ledger.make_meter_partitions',
    text: 'select ledger.make_meter_partitions($1, 3) as made',
    values: [new Date(nowMs()).toISOString().slice(0, 10)],
  });
  return rows[0]!.made;
}
