// Carries out what was ordered, in the order of each book. A process may die between the ledger's commit and ours: the
// order is then carried out again, which changes nothing (L10, and the version of a budget).
import { isDatabaseFault } from '../../db/index.ts';
import { type Context, type Db, type Log, now, type Shards } from '../../kernel/index.ts';
import {
  chargeBack,
  chargePlan,
  credit,
  debit,
  openBook,
  restore,
  resumeBudget,
  setBudget,
  setLowMark,
} from '../store.ts';
import {
  deleteTask,
  dueBooks,
  finishTask,
  lockTasks,
  postponeTask,
  type Task,
  type TaskResult,
} from './store.ts';

/** Books that one turn of the job looks at. */
const BOOKS = 500;
const PAUSE_MS = { first: 1_000, longest: 60_000 };

interface Way {
  readonly shards: Shards;
  readonly log: Log;
}

async function carryOut(ledger: Db, task: Task): Promise<TaskResult | null> {
  switch (task.kind) {
    case 'open_book':
      await openBook(ledger, task.content);
      return null;
    case 'credit': {
      const { expires_at } = task.content;
      const terms = { ...task.content, expires_at: expires_at === null ? null : new Date(expires_at) };
      const { seq, lot_id } = await credit(ledger, terms);
      return { seq, lot_id };
    }
    case 'debit': {
      const { created_before, ...content } = task.content;
      const before = created_before === null ? {} : { created_before: new Date(created_before) };
      const debited = await debit(ledger, { ...content, ...before });
      if (debited.status === 'refused') return debited;
      const { status, seq, taken_micro_usd } = debited;
      return { status, seq, taken_micro_usd };
    }
    case 'restore': {
      const restored = await restore(ledger, task.content);
      if (restored.status === 'nothing') return restored;
      const { status, seq, amount_micro_usd } = restored;
      return { status, seq, amount_micro_usd };
    }
    case 'charge_back': {
      const { seq, taken_micro_usd } = await chargeBack(ledger, task.content);
      return { seq, taken_micro_usd };
    }
    case 'charge_plan': {
      const { ends_at, ...content } = task.content;
      const charged = await chargePlan(ledger, { ...content, ends_at: new Date(ends_at) });
      if (charged.status !== 'taken') return charged;
      const { status, fee_seq, credit_seq } = charged;
      return { status, fee_seq, credit_seq };
    }
    case 'set_budget':
      await setBudget(ledger, task.content, task.task_no);
      return null;
    case 'resume_budget':
      await resumeBudget(ledger, task.content, task.task_no);
      return null;
    case 'set_low_mark':
      await setLowMark(ledger, task.content);
      return null;
  }
}

function namesLot(result: TaskResult, lot_id: string): boolean {
  return 'lot_id' in result && result.lot_id === lot_id;
}

/** `done`: nothing waits any more; `stuck`: an order cannot be carried out; `away`: the ledger does not answer. */
type Applied = 'done' | 'stuck' | 'away';

async function postpone(db: Db, task: Task, { log }: Way, error: unknown): Promise<Applied> {
  const pause_ms = Math.min(PAUSE_MS.first * 2 ** Math.min(task.tries, 16), PAUSE_MS.longest);
  const { task_no, shard, book_id } = task;
  const fault = (error as Error).message.slice(0, 500);
  await postponeTask(db, { task_no, fault, next_at: new Date(now().getTime() + pause_ms) });
  const facts = { task_no, shard, book_id, error };
  if (isDatabaseFault(error)) {
    log.warn(facts, 'ledger: a shard does not answer, its order waits');
    return 'away';
  }
  log.error(facts, 'ledger: an order cannot be carried out, it is tried again');
  return 'stuck';
}

/**
 * Carries out what waits for a book, inside the caller's transaction `db`, whose locks make appliers take turns. The
 * ledger commits each order by itself: a rollback of the caller's forgets only that it was done. Those
 * behind one that could not be wait for it.
 */
export async function applyTasks(db: Db, book_id: number, way: Way): Promise<Applied> {
  for (const task of await lockTasks(db, book_id)) {
    let result: TaskResult | null;
    try {
      result = await carryOut(way.shards.at(task.shard), task);
    } catch (error) {
      return postpone(db, task, way, error);
    }
    const { task_no } = task;
    if (result === null) await deleteTask(db, task_no);
    else await finishTask(db, { task_no, result, at: now() });
    if (task.kind === 'credit' && result !== null && !namesLot(result, task.content.lot_id))
      way.log.error({ book_id, ...result }, 'ledger: the reference of an order was credited before');
  }
  return 'done';
}

/** The same in a transaction of its own, after that of the orders. Never throws: what fails here is the job's. */
export async function applyAfterCommit(context: Context, book_id: number): Promise<void> {
  try {
    await context.transaction(({ db, shards, log }) => applyTasks(db, book_id, { shards, log }));
  } catch (error) {
    context.log.warn({ book_id, error }, 'ledger: orders of a book wait for the job');
  }
}

/** What the job needs of the installation. */
interface TaskPool extends Db {
  readonly shards: Shards;
  transaction<T>(work: (db: Db) => Promise<T>): Promise<T>;
}

/** One book after the other, until the shard does not answer; returns how many were brought up to date. */
async function applyBooks(pool: TaskPool, books: readonly number[], log: Log): Promise<number> {
  const way = { shards: pool.shards, log };
  let done = 0;
  for (const book_id of books) {
    const applied = await pool.transaction((db) => applyTasks(db, book_id, way));
    if (applied === 'away') break;
    if (applied === 'done') done++;
  }
  return done;
}

/** Carries out all that is due; returns how many books were brought up to date. A job; shards wait for none other. */
export async function applyDueTasks(pool: TaskPool, log: Log): Promise<number> {
  const by_shard = new Map<string, number[]>();
  for (const { shard, book_id } of await dueBooks(pool, { at: now(), limit: BOOKS })) {
    const books = by_shard.get(shard);
    if (books === undefined) by_shard.set(shard, [book_id]);
    else books.push(book_id);
  }
  const done = await Promise.all([...by_shard.values()].map((books) => applyBooks(pool, books, log)));
  return done.reduce((sum, n) => sum + n, 0);
}
