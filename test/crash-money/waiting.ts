// What has not come to its end, by name.
import type { World } from './world.ts';

/** Payers, rails, grace and a mail that failed once may take days; everything else happens at once. */
export interface Waiting {
  readonly days: readonly string[];
  readonly moments: readonly string[];
}

/** The time of the installation, whose development clock is in its settings. */
const NOW = `(clock_timestamp() + make_interval(secs => (
  select coalesce(sum((value->>'offset_ms')::float8), 0) / 1000 from settings where name = 'dev_clock')))`;

const DAYS: Readonly<Record<string, string>> = {
  topups: `topup t where status = 'pending' and not exists (
             select from auto_topup_attempt a where a.topup_id = t.id and a.ended_at is null)`,
  refunds: `refund where status = 'pending'`,
  rail_tasks: `rail_task where done_at is null`,
  // What the product gave back itself, a second payment or one of another amount, was never booked: nothing is to be taken.
  rail_refunds: `rail_refund r where refund_id is null and not exists (
                   select from rail_task k
                    where k.kind = 'refund_payment' and k.rail = r.rail and k.ref = r.payment_ref)`,
  mails: `mail where status in ('queued', 'sending')`,
  disputes: `dispute where status = 'open' or (status = 'lost' and written_off_micro is null)`,
  rail_disputes: `rail_dispute where dispute_id is null`,
  mandates: `mandate where status = 'pending'`,
  mandates_at_the_rail: `mandate where status in ('cancelled', 'expired') and token_ref is not null and released_at is null`,
  // One that was begun late waits for the end of its notice.
  debits: `auto_topup_attempt
            where ended_at is null and coalesce(due_at, created_at + interval '72 hours') < ${NOW}`,
  plan_charges: `plan_charge where status = 'pending' or (status = 'grace' and grace_until < ${NOW})`,
};

const MOMENTS: Readonly<Record<string, string>> = {
  mails_due: `mail where status = 'sending' or (status = 'queued' and next_at <= ${NOW})`,
  starts: `workflow_start where started_at is null`,
  signals: `workflow_signal where sent_at is null`,
  outbox: `outbox`,
  orders: `ledger_task where applied_at is null`,
};

async function named(world: Pick<World, 'rows'>, what: Readonly<Record<string, string>>): Promise<string[]> {
  const counts = Object.entries(what).map(([name, from]) => `(select count(*)::int from ${from}) as ${name}`);
  const [row] = await world.rows<Record<string, number>>(`select ${counts.join(', ')}`);
  return Object.keys(what).flatMap((name) => (row?.[name] === 0 ? [] : [`${row?.[name]} ${name}`]));
}

/** Whether no workflow has anything to do before a timer ends or a signal comes. */
async function areIdle({ temporal }: Pick<World, 'temporal'>): Promise<boolean> {
  for await (const { workflowId } of temporal.workflow.list({ query: `ExecutionStatus = 'Running'` })) {
    const { raw } = await temporal.workflow.getHandle(workflowId).describe();
    if (raw.pendingWorkflowTask != null || (raw.pendingActivities ?? []).length > 0) return false;
  }
  return true;
}

export async function waiting(world: Pick<World, 'rows' | 'temporal'>): Promise<Waiting> {
  const workflows = (await areIdle(world)) ? [] : ['workflows'];
  // Read last: a workflow leaves rows to be sent when it comes to rest.
  return { days: await named(world, DAYS), moments: [...workflows, ...(await named(world, MOMENTS))] };
}

/**
 * Lets nobody wait for a process that has died: a claim on an answer lapses after a minute and one on a mail after three,
 * here both after ten seconds, which is longer than any of them takes.
 */
export async function hasten(world: Pick<World, 'rows'>): Promise<void> {
  await world.rows(`update idempotency set started_at = started_at - interval '1 minute'
                     where status is null and started_at < ${NOW} - interval '10 seconds'`);
  await world.rows(`update mail set lease_until = clock_timestamp()
                     where status = 'sending' and lease_until < clock_timestamp() + interval '170 seconds'`);
}
