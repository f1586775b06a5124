// How other concepts open books, credit and debit them and set budgets: they order it in the transaction that decides it, and it
// is carried out when that has committed, before its promise resolves. So nothing is credited for what was rolled back,
// and nothing that was committed is lost, wherever the ledger is.
import { type Context, type Id, ServiceError } from '../../kernel/index.ts';
import { readWindows } from '../read-store.ts';
import type {
  Budget,
  ChargeBack,
  Credit,
  Debit,
  LowMark,
  NewBook,
  PlanCharge,
  Restoration,
} from '../store.ts';
import { applyAfterCommit, applyTasks } from './apply.ts';
import {
  type AnsweredKind,
  type ChargeBackOutcome,
  type CreditResult,
  type DebitOutcome,
  findTask,
  insertTask,
  type Order,
  type PlanChargeOutcome,
  type RestoreOutcome,
} from './store.ts';

/** Where a book is: as its organization's row says. */
interface Place {
  readonly shard: string;
  readonly book_id: number;
}

/** Books with orders of a transaction that has not ended, by its connection: each is looked at once after it. */
const ordered = new WeakMap<object, Set<number>>();

function followUp(context: Context, book_id: number): void {
  const books = ordered.get(context.db);
  if (books !== undefined) {
    books.add(book_id);
    return;
  }
  const first = new Set([book_id]);
  ordered.set(context.db, first);
  void context.afterCommit(async (context) => {
    for (const book_id of first) await applyAfterCommit(context, book_id);
  });
}

async function order(
  context: Context,
  { shard, book_id }: Place,
  task: Order,
  reference: string | null = null,
): Promise<number | null> {
  return context.transaction(async (context) => {
    const what = { ...task, shard, book_id, reference, at: context.now() };
    const task_no = await insertTask(context.db, what);
    followUp(context, book_id);
    return task_no;
  });
}

/** Orders a book under the number that its organization has for it; first of all orders for it. */
export async function orderBook(context: Context, shard: string, book: NewBook): Promise<void> {
  await order(context, { shard, book_id: book.book_id }, { kind: 'open_book', content: book });
}

function checkAmount(amount_micro_usd: number): void {
  if (Number.isSafeInteger(amount_micro_usd) && amount_micro_usd >= 1) return;
  throw new RangeError(`what is moved is at least 1 micro-USD: ${amount_micro_usd}`);
}

/** A credit as it is ordered: its lot is named already, its entry is there when it has been carried out. */
interface CreditOrder {
  readonly reference: string;
  readonly lot_id: Id<'lot'>;
  /** The same (kind, reference) was ordered before, whatever the amount; nothing was ordered now. */
  readonly replay: boolean;
  readonly amount_micro_usd: number;
}

/** The order that took a reference first. @throws Error (a defect) when there is none. */
async function earlier<K extends AnsweredKind>(
  context: Context,
  args: { book_id: number; kind: K; reference: string },
) {
  const first = await findTask(context.db, args);
  if (first === null) throw new Error(`the order ${args.reference} is there and is not`);
  return first;
}

/** Orders a credit with a new lot: one entry, once per (kind, ref_type, ref_id) of the book. */
export async function orderCredit(
  context: Context,
  shard: string,
  wanted: Omit<Credit, 'lot_id'>,
): Promise<CreditOrder> {
  checkAmount(wanted.amount_micro_usd);
  const { book_id, kind, ref_type, ref_id, amount_micro_usd } = wanted;
  const reference = `${kind} ${ref_type} ${ref_id}`;
  const lot_id = context.newId('lot');
  const content = { ...wanted, lot_id, expires_at: wanted.expires_at?.toISOString() ?? null };
  const task_no = await order(context, { shard, book_id }, { kind: 'credit', content }, reference);
  if (task_no !== null) return { reference, lot_id, replay: false, amount_micro_usd };
  const { content: before } = await earlier(context, { book_id, kind: 'credit', reference });
  return { reference, lot_id: before.lot_id, replay: true, amount_micro_usd: before.amount_micro_usd };
}

/** A debit or a restoration as it is ordered: what the ledger answers to it is there when it has been carried out. */
interface ReferencedOrder {
  readonly reference: string;
  /** The same (kind, reference) was ordered before, whatever the amount; nothing was ordered now. */
  readonly replay: boolean;
}

/**
 * Orders a debit: one entry, once per (kind, ref_type, ref_id) of the book. What it took, or that it took nothing,
 * `debitOutcome` says after the transaction.
 */
export async function orderDebit(context: Context, shard: string, wanted: Debit): Promise<ReferencedOrder> {
  checkAmount(wanted.amount_micro_usd);
  const { book_id, kind, ref_type, ref_id } = wanted;
  const reference = `${kind} ${ref_type} ${ref_id}`;
  const content = { ...wanted, created_before: wanted.created_before?.toISOString() ?? null };
  const task_no = await order(context, { shard, book_id }, { kind: 'debit', content }, reference);
  return { reference, replay: task_no === null };
}

/**
 * Orders that what the debit of this reference took goes back where it came from, once. Orders of a book are carried out
 * in turn, so the debit itself may still wait; one that was refused gives nothing back.
 */
export async function orderRestore(
  context: Context,
  shard: string,
  restoration: Restoration,
): Promise<ReferencedOrder> {
  const { book_id, debit_kind, ref_type, ref_id } = restoration;
  const reference = `restore ${debit_kind} ${ref_type} ${ref_id}`;
  const what = { kind: 'restore', content: restoration } as const;
  const task_no = await order(context, { shard, book_id }, what, reference);
  return { reference, replay: task_no === null };
}

/**
 * Orders the end of a lost dispute: what was held for this reference goes back and the chargeback takes the amount, in one
 * step.
 */
export async function orderChargeBack(
  context: Context,
  shard: string,
  lost: ChargeBack,
): Promise<ReferencedOrder> {
  checkAmount(lost.amount_micro_usd);
  const { book_id, ref_type, ref_id } = lost;
  const reference = `charge_back ${ref_type} ${ref_id}`;
  const what = { kind: 'charge_back', content: lost } as const;
  const task_no = await order(context, { shard, book_id }, what, reference);
  return { reference, replay: task_no === null };
}

/**
 * Orders the fee of a plan and its included credit, which move together or not at all. `attempt` tells apart the orders of
 * one charge: the ledger carries out one of them.
 */
export async function orderPlanCharge(
  context: Context,
  shard: string,
  { attempt, ...wanted }: Omit<PlanCharge, 'lot_id'> & { readonly attempt: number },
): Promise<void> {
  checkAmount(wanted.fee_micro_usd);
  const { book_id } = wanted;
  const content = { ...wanted, lot_id: context.newId('lot'), ends_at: wanted.ends_at.toISOString() };
  const reference = planReference(wanted.ref_id, attempt);
  await order(context, { shard, book_id }, { kind: 'charge_plan', content }, reference);
}

function planReference(ref_id: string, attempt: number): string {
  return `plan_fee plan ${ref_id} ${attempt}`;
}

/** What became of an attempt at the fee of a plan; null as long as the ledger has not answered. */
export async function planChargeOutcome(
  context: Context,
  { book_id, ref_id, attempt }: { book_id: number; ref_id: string; attempt: number },
): Promise<PlanChargeOutcome | null> {
  const reference = planReference(ref_id, attempt);
  return (await findTask(context.db, { book_id, reference, kind: 'charge_plan' }))?.result ?? null;
}

/** An order of a book, by the reference that ordering it returned. */
interface Referenced {
  readonly book_id: number;
  readonly reference: string;
}

function away(what: string): ServiceError {
  return new ServiceError(
    'service_unavailable',
    `The ledger does not answer. The ${what} is recorded and will be booked as soon as it does.`,
    { retry_after_ms: 1_000 },
  );
}

/**
 * The entry of a credit that was ordered, after the transaction of the order.
 * @throws ServiceError service_unavailable where the ledger does not answer: the credit stands and will be booked.
 */
export async function bookedCredit(context: Context, args: Referenced): Promise<CreditResult> {
  const outcome = await creditOutcome(context, args);
  if (outcome === null) throw away('credit');
  return outcome;
}

/** The entry of a credit that was ordered, after the transaction of the order; null as long as the ledger has not answered. */
export async function creditOutcome(context: Context, args: Referenced): Promise<CreditResult | null> {
  return (await findTask(context.db, { ...args, kind: 'credit' }))?.result ?? null;
}

/**
 * What became of a debit that was ordered, after the transaction of the order; null as long as the ledger has not
 * answered, and where none was ordered.
 */
export async function debitOutcome(context: Context, args: Referenced): Promise<DebitOutcome | null> {
  return (await findTask(context.db, { ...args, kind: 'debit' }))?.result ?? null;
}

/** The same of a restoration. */
export async function restoreOutcome(context: Context, args: Referenced): Promise<RestoreOutcome | null> {
  return (await findTask(context.db, { ...args, kind: 'restore' }))?.result ?? null;
}

/** The same of the end of a lost dispute. */
export async function chargeBackOutcome(
  context: Context,
  args: Referenced,
): Promise<ChargeBackOutcome | null> {
  return (await findTask(context.db, { ...args, kind: 'charge_back' }))?.result ?? null;
}

/** Orders a budget. Orders for one subject must take turns by a lock of their transactions. */
export async function orderBudget(context: Context, shard: string, budget: Budget): Promise<void> {
  await order(context, { shard, book_id: budget.book_id }, { kind: 'set_budget', content: budget });
}

/** Orders the balance below which a book tells `credits.low`; null: it tells nothing. */
export async function orderLowMark(context: Context, shard: string, mark: LowMark): Promise<void> {
  await order(context, { shard, book_id: mark.book_id }, { kind: 'set_low_mark', content: mark });
}

/**
 * Orders that the hard budget of a key or project holds nothing back in the window that runs now; false, and no order,
 * when none does.
 */
export async function orderResumption(
  context: Context,
  place: Place,
  subject: Budget['subject'],
): Promise<boolean> {
  const of = 'key_no' in subject ? { key_nos: [subject.key_no] } : { project_nos: [subject.project_no] };
  const [window] = await readWindows(context.shards.at(place.shard), of);
  if (window?.hard !== true) return false;
  const content = { subject, start: window.start };
  await order(context, place, { kind: 'resume_budget', content });
  return true;
}

/**
 * Carries out what earlier transactions have ordered for a book, inside this one, whose locks keep further orders away:
 * the balance is then what it will be. @throws ServiceError service_unavailable where the ledger does not answer.
 */
export async function catchUp(context: Context, book_id: number): Promise<void> {
  const { db, shards, log } = context;
  if ((await applyTasks(db, book_id, { shards, log })) === 'done') return;
  throw new ServiceError('service_unavailable', 'The ledger does not answer.', { retry_after_ms: 1_000 });
}
