// How other concepts open books, credit them and set budgets: they order it in the transaction that decides it, and it
// is carried out when that has committed, before its promise resolves. So nothing is credited for what was rolled back,
// and nothing that was committed is lost, wherever the ledger is.
import { type Context, type Id, ServiceError } from '../../kernel/index.ts';
import { readWindows } from '../read-store.ts';
import type { Budget, Credit, NewBook } from '../store.ts';
import { applyAfterCommit, applyTasks } from './apply.ts';
import { type CreditResult, findCredit, insertTask, type Order } from './store.ts';

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

/** A credit as it is ordered: its lot is named already, its entry is there when it has been carried out. */
interface CreditOrder {
  readonly reference: string;
  readonly lot_id: Id<'lot'>;
  /** The same (kind, reference) was ordered before, whatever the amount; nothing was ordered now. */
  readonly replay: boolean;
  readonly amount_micro_usd: number;
}

/** Orders a credit with a new lot: one entry, once per (kind, ref_type, ref_id) of the book. */
export async function orderCredit(
  context: Context,
  shard: string,
  wanted: Omit<Credit, 'lot_id'>,
): Promise<CreditOrder> {
  if (!Number.isSafeInteger(wanted.amount_micro_usd) || wanted.amount_micro_usd < 1)
    throw new RangeError(`a credit is at least 1 micro-USD: ${wanted.amount_micro_usd}`);
  const { book_id, kind, ref_type, ref_id, amount_micro_usd } = wanted;
  const reference = `${kind} ${ref_type} ${ref_id}`;
  const lot_id = context.newId('lot');
  const content = { ...wanted, lot_id, expires_at: wanted.expires_at?.toISOString() ?? null };
  const task_no = await order(context, { shard, book_id }, { kind: 'credit', content }, reference);
  if (task_no !== null) return { reference, lot_id, replay: false, amount_micro_usd };
  const first = await findCredit(context.db, { book_id, reference });
  if (first === null) throw new Error(`the order ${reference} is there and is not`);
  const { content: before } = first;
  return { reference, lot_id: before.lot_id, replay: true, amount_micro_usd: before.amount_micro_usd };
}

/**
 * The entry of a credit that was ordered, after the transaction of the order.
 * @throws ServiceError service_unavailable where the ledger does not answer: the credit stands and will be booked.
 */
export async function bookedCredit(
  context: Context,
  args: { book_id: number; reference: string },
): Promise<CreditResult> {
  const found = await findCredit(context.db, args);
  if (found?.result != null) return found.result;
  throw new ServiceError(
    'service_unavailable',
    'The ledger does not answer. The credit is recorded and will be booked as soon as it does.',
    { retry_after_ms: 1_000 },
  );
}

/** Orders a budget. Orders for one subject must take turns by a lock of their transactions. */
export async function orderBudget(context: Context, shard: string, budget: Budget): Promise<void> {
  await order(context, { shard, book_id: budget.book_id }, { kind: 'set_budget', content: budget });
}

/** Orders that a key's hard budget holds nothing back today; false, and no order, when none does. */
export async function orderResumption(
  context: Context,
  place: Place,
  subject: { readonly key_no: number },
): Promise<boolean> {
  const [window] = await readWindows(context.shards.at(place.shard), { key_nos: [subject.key_no] });
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
