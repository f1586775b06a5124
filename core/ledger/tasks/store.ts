// SQL of the ledger's tasks. They are rows of the installation's database: written with what they follow from.
import type { Db, Id, MicroUsd } from '../../kernel/index.ts';
import type {
  Budget,
  ChargeBack,
  Credit,
  Debit,
  LowMark,
  NewBook,
  PlanCharge,
  Restoration,
  Resumption,
} from '../store.ts';

interface CreditContent extends Omit<Credit, 'lot_id' | 'expires_at'> {
  readonly lot_id: Id<'lot'>;
  readonly expires_at: string | null;
}

interface DebitContent extends Omit<Debit, 'created_before'> {
  readonly created_before: string | null;
}

interface PlanChargeContent extends Omit<PlanCharge, 'lot_id' | 'ends_at'> {
  readonly lot_id: Id<'lot'>;
  readonly ends_at: string;
}

/** What is to be done, as it is kept. */
export type Order =
  | { readonly kind: 'open_book'; readonly content: NewBook }
  | { readonly kind: 'credit'; readonly content: CreditContent }
  | { readonly kind: 'debit'; readonly content: DebitContent }
  | { readonly kind: 'restore'; readonly content: Restoration }
  | { readonly kind: 'charge_plan'; readonly content: PlanChargeContent }
  | { readonly kind: 'charge_back'; readonly content: ChargeBack }
  | { readonly kind: 'set_budget'; readonly content: Budget }
  | { readonly kind: 'resume_budget'; readonly content: Resumption }
  | { readonly kind: 'set_low_mark'; readonly content: LowMark };

export type Task = Order & {
  /** Orders of one book are carried out in the order of these. */
  readonly task_no: number;
  readonly shard: string;
  readonly book_id: number;
  readonly tries: number;
};

/** What the ledger answered to a credit. */
export interface CreditResult {
  readonly seq: number;
  readonly lot_id: Id<'lot'>;
}

/** What the ledger answered to a debit. `refused`: the credit in reach does not cover it, and nothing was taken. */
export type DebitOutcome =
  | { readonly status: 'taken'; readonly seq: number; readonly taken_micro_usd: MicroUsd }
  | { readonly status: 'refused' };

/** What the ledger answered to a restoration. `nothing`: its debit was refused or took nothing. */
export type RestoreOutcome =
  | { readonly status: 'restored'; readonly seq: number; readonly amount_micro_usd: MicroUsd }
  | { readonly status: 'nothing' };

/** What the ledger answered to the fee of a plan. `refused`: not enough credit; `over`: its period has ended. */
export type PlanChargeOutcome =
  | { readonly status: 'taken'; readonly fee_seq: number; readonly credit_seq: number | null }
  | { readonly status: 'refused' | 'over' };

/** What the ledger answered to a chargeback; what it did not take was written off. */
export interface ChargeBackOutcome {
  readonly seq: number;
  readonly taken_micro_usd: MicroUsd;
}

/** Orders that leave an answer, by kind. */
interface Answered {
  readonly credit: { readonly content: CreditContent; readonly result: CreditResult };
  readonly debit: { readonly content: DebitContent; readonly result: DebitOutcome };
  readonly restore: { readonly content: Restoration; readonly result: RestoreOutcome };
  readonly charge_plan: { readonly content: PlanChargeContent; readonly result: PlanChargeOutcome };
  readonly charge_back: { readonly content: ChargeBack; readonly result: ChargeBackOutcome };
}
export type AnsweredKind = keyof Answered;
export type TaskResult = Answered[AnsweredKind]['result'];

/** Writes an order; null where the book has one of the same reference. */
export async function insertTask(
  db: Db,
  task: Order & { shard: string; book_id: number; reference: string | null; at: Date },
): Promise<number | null> {
  const { rows } = await db.query<{ task_no: number }>({
    name: 'ledger.insert_task',
    text: `
      insert into ledger_task (shard, book_id, kind, reference, content, next_at, created_at)
      values ($1, $2, $3, $4, $5, $6, $6)
      on conflict (book_id, reference) where reference is not null do nothing
      returning task_no`,
    values: [task.shard, task.book_id, task.kind, task.reference, JSON.stringify(task.content), task.at],
  });
  return rows[0]?.task_no ?? null;
}

/** An order with the ledger's answer, once there is one. */
interface Found<K extends AnsweredKind> {
  readonly task_no: number;
  readonly content: Answered[K]['content'];
  readonly result: Answered[K]['result'] | null;
}

/** The order of a book under this reference; null when none was given. */
export async function findTask<K extends AnsweredKind>(
  db: Db,
  args: { book_id: number; kind: K; reference: string },
): Promise<Found<K> | null> {
  const { rows } = await db.query<Found<K>>({
    name: 'ledger.find_task',
    text: `
      select task_no, content, result from ledger_task
       where book_id = $1 and reference = $2 and kind = $3`,
    values: [args.book_id, args.reference, args.kind],
  });
  return rows[0] ?? null;
}

/** The waiting orders of a book, first to last, locked until the transaction ends. */
export async function lockTasks(db: Db, book_id: number): Promise<Task[]> {
  const { rows } = await db.query<Task>({
    name: 'ledger.lock_tasks',
    text: `
      select task_no, shard, book_id, kind, content, tries from ledger_task
       where book_id = $1 and applied_at is null order by task_no for update`,
    values: [book_id],
  });
  return rows;
}

/** Keeps what the ledger answered. */
export async function finishTask(
  db: Db,
  args: { task_no: number; result: TaskResult; at: Date },
): Promise<void> {
  await db.query({
    name: 'ledger.finish_task',
    text: 'update ledger_task set applied_at = $3, result = $2, fault = null where task_no = $1',
    values: [args.task_no, JSON.stringify(args.result), args.at],
  });
}

/** Removes an order that was carried out and leaves no answer. */
export async function deleteTask(db: Db, task_no: number): Promise<void> {
  await db.query({
    name: 'ledger.delete_task',
    text: 'delete from ledger_task where task_no = $1',
    values: [task_no],
  });
}

/** Notes that an order could not be carried out and when it is tried again. */
export async function postponeTask(
  db: Db,
  args: { task_no: number; fault: string; next_at: Date },
): Promise<void> {
  await db.query({
    name: 'ledger.postpone_task',
    text: 'update ledger_task set tries = tries + 1, fault = $2, next_at = $3 where task_no = $1',
    values: [args.task_no, args.fault, args.next_at],
  });
}

/** Books whose first waiting order is due, at most `limit`, the longest waiting first. */
export async function dueBooks(
  db: Db,
  args: { at: Date; limit: number },
): Promise<{ shard: string; book_id: number }[]> {
  const { rows } = await db.query<{ shard: string; book_id: number }>({
    name: 'ledger.due_books',
    text: `
      select shard, book_id from (
        select distinct on (book_id) shard, book_id, task_no, next_at from ledger_task
         where applied_at is null order by book_id, task_no) t
       where next_at <= $1 order by task_no limit $2`,
    values: [args.at, args.limit],
  });
  return rows;
}

/** Orders that wait, and since when the oldest does (null: none waits). */
export async function readTaskBacklog(db: Db): Promise<{ waiting: number; oldest_at: Date | null }> {
  const { rows } = await db.query<{ waiting: number; oldest_at: Date | null }>({
    name: 'ledger.task_backlog',
    text: 'select count(*)::int as waiting, min(created_at) as oldest_at from ledger_task where applied_at is null',
  });
  return rows[0]!;
}
