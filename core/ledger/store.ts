// The management side's statements: books, credits, debits, expiry and budgets. Balances are
// written only by the functions of the schema `ledger`; a statement here that moves money is a call of one.
import { type Db, type Environment, type Id, type MicroUsd, newId, nowMs } from '../kernel/index.ts';
import { type CreditKind, type DebitKind, kindNumber, RESTORE_KINDS } from './kinds.ts';

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

/** Where `credits.low` fires for a book; null: nowhere. */
export interface LowMark {
  readonly book_id: number;
  readonly low_mark_micro_usd: MicroUsd | null;
}

/** Sets where `credits.low` fires for a book; null turns it off. */
export async function setLowMark(db: Db, args: LowMark): Promise<void> {
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
    | 'accrual'
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
  readonly kind: CreditKind;
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

export interface Debit extends Reference {
  readonly book_id: number;
  readonly kind: DebitKind;
  readonly amount_micro_usd: MicroUsd;
  /** Takes from this lot alone and from what was put back of it (a refund from its top-up). */
  readonly lot_id?: Id<'lot'>;
  readonly paid_only?: boolean;
  /** Only credit older than this (gifts: seven days). */
  readonly created_before?: Date;
  /**
   * Where not all of it is there: `refuse` takes nothing (when absent), `take_less` what is there, `write_off` that, and
   * records the rest as a write-off.
   */
  readonly short?: 'refuse' | 'take_less' | 'write_off';
}

/** What became of a debit. `refused`: the lots in reach or `available` do not cover it, and nothing was taken. */
type Debited =
  | {
      readonly status: 'taken';
      readonly seq: number;
      /** Below the amount only where the debit may take less. */
      readonly taken_micro_usd: MicroUsd;
      readonly replay: boolean;
    }
  | { readonly status: 'refused' };

/** Takes credit out of a book, once per (kind, ref_type, ref_id); never what holds need. */
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
      debit.short ?? 'refuse',
      new Date(nowMs()),
    ],
  });
  const { status, seq, taken } = rows[0]!;
  if (status === 'insufficient') return { status: 'refused' };
  return { status: 'taken', seq, taken_micro_usd: taken, replay: status === 'replay' };
}

/** The fee of a plan for a period, and the credit that the plan includes. */
export interface PlanCharge {
  readonly book_id: number;
  /** Of both entries; their `ref_type` is `plan`. */
  readonly ref_id: string;
  readonly fee_micro_usd: MicroUsd;
  /** 0: none. */
  readonly included_micro_usd: MicroUsd;
  /** The end of the period, and of the included credit. */
  readonly ends_at: Date;
  /** Of the lot that it brings; chosen here when absent. */
  readonly lot_id?: Id<'lot'>;
}

/** What became of the fee. `refused`: not enough credit; `over`: the period has ended. Nothing moved then. */
type PlanCharged =
  | {
      readonly status: 'taken';
      readonly fee_seq: number;
      /** Null where the plan includes no credit. */
      readonly credit_seq: number | null;
      readonly replay: boolean;
    }
  | { readonly status: 'refused' | 'over' };

/** Takes the fee of a plan and brings its included credit, both or neither, once per reference. */
export async function chargePlan(db: Db, charge: PlanCharge): Promise<PlanCharged> {
  const { rows } = await db.query<{ status: string; fee_seq: number; credit_seq: number | null }>({
    name: 'ledger.charge_plan',
    text: `select o_status as status, o_fee_seq as fee_seq, o_credit_seq as credit_seq
             from ledger.charge_plan($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      charge.book_id,
      charge.fee_micro_usd,
      charge.included_micro_usd,
      charge.lot_id ?? newId('lot'),
      toIso(charge.ends_at),
      charge.ref_id,
      new Date(nowMs()),
    ],
  });
  const { status, fee_seq, credit_seq } = rows[0]!;
  if (status === 'insufficient') return { status: 'refused' };
  if (status === 'over') return { status };
  return { status: 'taken', fee_seq, credit_seq, replay: status === 'replay' };
}

/** Names the debit whose credit goes back. */
export interface Restoration extends Reference {
  readonly book_id: number;
  readonly debit_kind: keyof typeof RESTORE_KINDS;
}

/** What was put back; `nothing`: there is no such debit, or it took nothing. */
type Restored =
  | {
      readonly status: 'restored';
      readonly seq: number;
      readonly amount_micro_usd: MicroUsd;
      readonly replay: boolean;
    }
  | { readonly status: 'nothing' };

/** How many lots the credit of a debit came from: history, so it never changes. */
async function countOrigins(db: Db, { book_id, debit_kind, ref_type, ref_id }: Restoration): Promise<number> {
  const { rows } = await db.query<{ origins: number }>({
    name: 'ledger.count_origins',
    text: `select count(distinct l.origin_seq)::int as origins
             from ledger.entry e join ledger.burn b on b.book_id = e.book_id and b.seq = e.seq
             join ledger.lot l on l.lot_no = b.lot_no
            where e.book_id = $1 and e.kind = $2 and e.ref_type = $3 and e.ref_id = $4`,
    values: [book_id, kindNumber(debit_kind), ref_type, ref_id],
  });
  return rows[0]!.origins;
}

/**
 * Puts back what the debit of this reference took, once: one entry with a lot for each lot that the credit came from, of
 * its kind, expiry, age and place in the burn order, so that a refund of its top-up still finds it.
 */
export async function restore(db: Db, restoration: Restoration): Promise<Restored> {
  const { book_id, debit_kind, ref_type, ref_id } = restoration;
  const lot_ids = Array.from({ length: await countOrigins(db, restoration) }, () => newId('lot'));
  const { rows } = await db.query<{ status: string; seq: number; amount: MicroUsd }>({
    name: 'ledger.restore',
    text: `select o_status as status, o_seq as seq, o_amount as amount
             from ledger.restore($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      book_id,
      kindNumber(debit_kind),
      kindNumber(RESTORE_KINDS[debit_kind]),
      ref_type,
      ref_id,
      lot_ids,
      new Date(nowMs()),
    ],
  });
  const { status, seq, amount } = rows[0]!;
  if (status === 'nothing') return { status };
  return { status: 'restored', seq, amount_micro_usd: amount, replay: status === 'replay' };
}

/** A dispute that was lost: what its hold took, and the credit that the lost money had bought. */
export interface ChargeBack extends Reference {
  readonly book_id: number;
  readonly amount_micro_usd: MicroUsd;
  /** Takes from this lot alone and from what was put back of it. */
  readonly lot_id: Id<'lot'>;
}

/**
 * Ends the hold of a lost dispute: in one step what it held goes back and the chargeback takes the whole amount, as far as
 * it is there; the rest is written off. Once per reference, which is that of the hold.
 */
export async function chargeBack(
  db: Db,
  lost: ChargeBack,
): Promise<{ readonly seq: number; readonly taken_micro_usd: MicroUsd; readonly replay: boolean }> {
  const { book_id, amount_micro_usd, ref_type, ref_id, lot_id } = lost;
  const origins = await countOrigins(db, { book_id, debit_kind: 'dispute_hold', ref_type, ref_id });
  const lot_ids = Array.from({ length: origins }, () => newId('lot'));
  const { rows } = await db.query<{ status: string; seq: number; taken: MicroUsd }>({
    name: 'ledger.charge_back',
    text: `select o_status as status, o_seq as seq, o_taken as taken
             from ledger.charge_back($1, $2, $3, $4, $5, $6, $7)`,
    values: [book_id, amount_micro_usd, ref_type, ref_id, lot_id, lot_ids, new Date(nowMs())],
  });
  const { status, seq, taken } = rows[0]!;
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
              order by l.book_id, l.seq, l.origin_seq limit $2`,
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
