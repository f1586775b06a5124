// SQL of rail events, rail tasks and staff items.
import type { Db, Id } from '../kernel/index.ts';
import type { CallbackAnswer, RailName } from './types.ts';

/** The stored part of an event: ids and amounts, no personal data. */
export type EventFacts = Readonly<Record<string, string | number | boolean | null>>;

/**
 * Takes an event for the first time: true for exactly one of any number of deliveries. A delivery at the same moment
 * waits here until the first one's transaction ends, then sees its outcome (invariant T2).
 */
export async function claimEvent(
  db: Db,
  event: { rail: RailName; event_id: string; type: string; facts: EventFacts; at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'topups.claim_event',
    text: `
      insert into rail_event (rail, event_id, type, facts, answer, received_at) values ($1, $2, $3, $4, 'null', $5)
      on conflict (rail, event_id) do nothing`,
    values: [event.rail, event.event_id, event.type, JSON.stringify(event.facts), event.at],
  });
  return rowCount === 1;
}

/** Keeps the answer of an event, in the transaction that claimed it. */
export async function keepAnswer(
  db: Db,
  args: { rail: RailName; event_id: string; payment_ref: string | null; answer: CallbackAnswer },
): Promise<void> {
  await db.query({
    name: 'topups.keep_answer',
    text: `
      update rail_event set topup_id = $3, payment_ref = $4, answer = $5
       where rail = $1 and event_id = $2 and answer = 'null'`,
    values: [args.rail, args.event_id, args.answer.topup, args.payment_ref, JSON.stringify(args.answer)],
  });
}

type EventKey = { readonly rail: RailName; readonly event_id: string };

/** The stored answer of an event; null when no transaction that took it has ended. */
export async function findAnswer(db: Db, { rail, event_id }: EventKey): Promise<CallbackAnswer | null> {
  const { rows } = await db.query<{ answer: CallbackAnswer | null }>({
    name: 'topups.read_answer',
    text: 'select answer from rail_event where rail = $1 and event_id = $2',
    values: [rail, event_id],
  });
  return rows[0]?.answer ?? null;
}

/** The stored answer of an event. @throws Error (a defect) when it was never claimed. */
export async function readAnswer(db: Db, key: EventKey): Promise<CallbackAnswer> {
  const answer = await findAnswer(db, key);
  if (answer === null) throw new Error(`no answer is kept for event ${key.event_id}`);
  return answer;
}

/** Seconds at `at` since `rail` last reported an event, but not longer than since `since`. */
export async function readSilence(db: Db, args: { rail: RailName; since: Date; at: Date }): Promise<number> {
  const { rows } = await db.query<{ last_at: Date | null }>({
    name: 'topups.read_last_event',
    text: 'select max(received_at) as last_at from rail_event where rail = $1',
    values: [args.rail],
  });
  const from = Math.max(args.since.getTime(), rows[0]?.last_at?.getTime() ?? 0);
  return Math.max(0, Math.floor((args.at.getTime() - from) / 1_000));
}

/**
 * Seconds at `at` that each rail has reported nothing while a top-up of it waited to be paid; 0 where none waits. A job
 * measures it.
 */
export async function readSilences(db: Db, at: Date): Promise<Record<RailName, number>> {
  const { rows } = await db.query<{ rail: RailName; since: Date }>({
    name: 'topups.read_waiting_rails',
    text: `
      select gateway as rail, min(created_at) as since from topup
       where status = 'pending' and gateway_ref is not null group by gateway`,
    values: [],
  });
  const silences: Record<RailName, number> = { 'rail-a': 0, 'rail-b': 0 };
  for (const { rail, since } of rows) silences[rail] = await readSilence(db, { rail, since, at });
  return silences;
}

const UNRELATED_DAYS = 90;

/** Forgets events of rails that named no payment of ours, 90 days after they came; returns how many. An hourly job. */
export async function purgeRailEvents(db: Db, at: Date): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'topups.purge_rail_events',
    text: 'select purge_rail_events($1) as n',
    values: [new Date(at.getTime() - UNRELATED_DAYS * 86_400_000)],
  });
  return rows[0]?.n ?? 0;
}

export interface RailTask {
  readonly rail_task_id: number;
  readonly rail: RailName;
  readonly kind: 'refund_payment' | 'close_order';
  readonly ref: string;
  readonly topup_id: Id<'topup'> | null;
  readonly attempts: number;
}

/** Writes down what is to be done at a rail, in the transaction that decided it; once per payment or order. */
export async function addTask(
  db: Db,
  task: Pick<RailTask, 'rail' | 'kind' | 'ref' | 'topup_id'> & { readonly at: Date },
): Promise<void> {
  await db.query({
    name: 'topups.add_task',
    text: `
      insert into rail_task (rail, kind, ref, topup_id, created_at, next_at) values ($1, $2, $3, $4, $5, $5)
      on conflict (rail, kind, ref) do nothing`,
    values: [task.rail, task.kind, task.ref, task.topup_id, task.at],
  });
}

/**
 * Takes at most `limit` tasks that are due, each for `lease_until`: another taker passes them by until then, and a
 * taker that dies loses them then.
 */
export async function takeTasks(
  db: Db,
  args: { at: Date; lease_until: Date; limit: number },
): Promise<RailTask[]> {
  const { rows } = await db.query<RailTask>({
    name: 'topups.take_tasks',
    text: `
      update rail_task set attempts = attempts + 1, next_at = $2
       where rail_task_id in (
         select rail_task_id from rail_task where done_at is null and next_at <= $1
          order by next_at, rail_task_id limit $3 for update skip locked)
      returning rail_task_id, rail, kind, ref, topup_id, attempts`,
    values: [args.at, args.lease_until, args.limit],
  });
  return rows;
}

/** Notes that a task is done. */
export async function finishTask(db: Db, args: { rail_task_id: number; at: Date }): Promise<void> {
  await db.query({
    name: 'topups.finish_task',
    text: 'update rail_task set done_at = $2, last_error = null where rail_task_id = $1 and done_at is null',
    values: [args.rail_task_id, args.at],
  });
}

/** Notes why a task failed and when it is tried again. */
export async function postponeTask(
  db: Db,
  args: { rail_task_id: number; error: string; next_at: Date },
): Promise<void> {
  await db.query({
    name: 'topups.postpone_task',
    text: 'update rail_task set last_error = $2, next_at = $3 where rail_task_id = $1 and done_at is null',
    values: [args.rail_task_id, args.error, args.next_at],
  });
}

interface StaffItem {
  readonly staff_item_id: number;
  readonly kind: string;
  readonly subject: string;
  readonly details: EventFacts;
  readonly created_at: Date;
}

/** How much work waits to be done at rails, and since when. */
export async function readRailBacklog(db: Db): Promise<{ waiting: number; oldest_at: Date | null }> {
  const { rows } = await db.query<{ waiting: number; oldest_at: Date | null }>({
    name: 'topups.rail_backlog',
    text: `
      select count(*)::int as waiting, min(created_at) as oldest_at from rail_task where done_at is null`,
  });
  return rows[0]!;
}

/** Work at a rail that waits. */
interface WaitingTask {
  readonly rail_task_id: number;
  readonly org_id: string | null;
  readonly rail: RailName;
  readonly kind: string;
  readonly attempts: number;
  readonly last_error: string | null;
  readonly created_at: Date;
  readonly next_at: Date;
}

/** The oldest work at rails that waits, at most `limit`. */
export async function listWaitingTasks(db: Db, limit: number): Promise<WaitingTask[]> {
  const { rows } = await db.query<WaitingTask>({
    name: 'topups.list_waiting_rail_tasks',
    text: `
      select k.rail_task_id, t.org_id, k.rail, k.kind, k.attempts, k.last_error, k.created_at, k.next_at
        from rail_task k left join topup t on t.id = k.topup_id
       where k.done_at is null
       order by k.created_at, k.rail_task_id limit $1`,
    values: [limit],
  });
  return rows;
}

/** Puts something before the staff; the same matter stays one item. */
export async function addStaffItem(
  db: Db,
  item: { kind: string; subject: string; details: EventFacts; at: Date },
): Promise<void> {
  await db.query({
    name: 'topups.add_staff_item',
    text: `
      insert into staff_item (kind, subject, details, created_at) values ($1, $2, $3, $4)
      on conflict (kind, subject) do nothing`,
    values: [item.kind, item.subject, JSON.stringify(item.details), item.at],
  });
}

/** The open item of a matter; null when there is none. */
export async function findOpenItem(
  db: Db,
  item: { kind: string; subject: string },
): Promise<StaffItem | null> {
  const { rows } = await db.query<StaffItem>({
    name: 'topups.find_open_item',
    text: `
      select staff_item_id, kind, subject, details, created_at from staff_item
       where kind = $1 and subject = $2 and resolved_at is null`,
    values: [item.kind, item.subject],
  });
  return rows[0] ?? null;
}

/** Items that nobody has resolved, oldest first. */
export async function listStaffItems(db: Db, limit = 200): Promise<StaffItem[]> {
  const { rows } = await db.query<StaffItem>({
    name: 'topups.list_staff_items',
    text: `
      select staff_item_id, kind, subject, details, created_at from staff_item
       where resolved_at is null order by created_at, staff_item_id limit $1`,
    values: [limit],
  });
  return rows;
}

/** Puts something before the staff with its present details; what was resolved before is open again. */
export async function putStaffItem(
  db: Db,
  item: { kind: string; subject: string; details: EventFacts; at: Date },
): Promise<void> {
  await db.query({
    name: 'topups.put_staff_item',
    text: `
      insert into staff_item (kind, subject, details, created_at) values ($1, $2, $3, $4)
      on conflict (kind, subject) do update
         set details = excluded.details, resolved_at = null,
             created_at = case when staff_item.resolved_at is null then staff_item.created_at
                               else excluded.created_at end`,
    values: [item.kind, item.subject, JSON.stringify(item.details), item.at],
  });
}

/** Notes that a matter is over, where it was open. */
export async function resolveStaffItem(
  db: Db,
  item: { kind: string; subject: string; at: Date },
): Promise<void> {
  await db.query({
    name: 'topups.resolve_staff_item',
    text: `
      update staff_item set resolved_at = $3 where kind = $1 and subject = $2 and resolved_at is null`,
    values: [item.kind, item.subject, item.at],
  });
}
