// SQL of workflow starts and signals.
import type { Db } from '../kernel/index.ts';

/**
 * A workflow to start once the transaction has committed. `args` are ids and integers only: Temporal keeps them
 * readable.
 */
export interface WorkflowStart {
  readonly workflow_id: string;
  readonly type: string;
  readonly args: Readonly<Record<string, string | number>>;
  /** Whom it is found by; null: a release that did not say so asked for it. */
  readonly org_id: string | null;
}

/** `org_id` absent: it is one of `args`. */
type WantedStart = Omit<WorkflowStart, 'org_id'> & { readonly org_id?: string; readonly at: Date };

interface WorkflowSignal {
  readonly signal_id: number;
  readonly workflow_id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, string | number>>;
}

/** A signal with the start of the workflow that receives it. */
export interface WaitingSignal extends WorkflowSignal {
  readonly start: WorkflowStart;
}

/**
 * Asks for a workflow in the caller's transaction; false when the same id was asked for before (W1). Whoever runs
 * `takeStarts` hears of it on channel `svc_workflow` when the transaction commits.
 */
export async function startWorkflow(db: Db, start: WantedStart): Promise<boolean> {
  // Beside the arguments, and not one of them: what a workflow is given stays as it is.
  const args = start.org_id === undefined ? start.args : { ...start.args, for_org: start.org_id };
  const { rowCount } = await db.query({
    name: 'workflow_starts.start',
    text: `
      insert into workflow_start (workflow_id, type, args, created_at) values ($1, $2, $3, $4)
      on conflict (workflow_id) do nothing`,
    values: [start.workflow_id, start.type, JSON.stringify(args), start.at],
  });
  return rowCount === 1;
}

/** Asks for a signal to a workflow in the caller's transaction; nothing where no such workflow was asked for. */
export async function signalWorkflow(
  db: Db,
  signal: Omit<WorkflowSignal, 'signal_id'> & { readonly at: Date },
): Promise<void> {
  await db.query({
    name: 'workflow_starts.signal',
    text: `
      insert into workflow_signal (workflow_id, name, args, created_at)
      select workflow_id, $2, $3, $4 from workflow_start where workflow_id = $1`,
    values: [signal.workflow_id, signal.name, JSON.stringify(signal.args), signal.at],
  });
}

/**
 * At most `limit` workflows not yet started, oldest first. Two readers may get the same ones: Temporal refuses the
 * second start.
 */
export async function takeStarts(db: Db, limit = 100): Promise<WorkflowStart[]> {
  const { rows } = await db.query<WorkflowStart>({
    name: 'workflow_starts.take',
    text: `
      select workflow_id, type, args - 'for_org' as args,
             coalesce(args ->> 'for_org', args ->> 'org_id') as org_id
        from workflow_start where started_at is null
       order by created_at, workflow_id limit $1`,
    values: [limit],
  });
  return rows;
}

/** Notes that Temporal has the workflow. */
export async function markStarted(db: Db, args: { workflow_id: string; at: Date }): Promise<void> {
  await db.query({
    name: 'workflow_starts.mark_started',
    text: 'update workflow_start set started_at = $2 where workflow_id = $1 and started_at is null',
    values: [args.workflow_id, args.at],
  });
}

/** At most `limit` signals not yet sent, in their order, to workflows that were started. */
export async function takeSignals(db: Db, limit = 100): Promise<WaitingSignal[]> {
  const { rows } = await db.query<WaitingSignal>({
    name: 'workflow_starts.take_signals',
    text: `
      select g.signal_id, g.workflow_id, g.name, g.args,
             jsonb_build_object('workflow_id', s.workflow_id, 'type', s.type, 'args', s.args - 'for_org',
               'org_id', coalesce(s.args ->> 'for_org', s.args ->> 'org_id')) as start
        from workflow_signal g join workflow_start s using (workflow_id)
       where g.sent_at is null and s.started_at is not null
       order by g.signal_id limit $1`,
    values: [limit],
  });
  return rows;
}

/** Notes that a signal was sent, or that its workflow has ended and no longer needs it. */
export async function markSignalled(db: Db, args: { signal_id: number; at: Date }): Promise<void> {
  await db.query({
    name: 'workflow_starts.mark_signalled',
    text: 'update workflow_signal set sent_at = $2 where signal_id = $1 and sent_at is null',
    values: [args.signal_id, args.at],
  });
}

/** When the oldest start was written that was not yet sent to Temporal, and how many there are. */
export async function readWaiting(db: Db): Promise<{ waiting: number; oldest_at: Date | null }> {
  const { rows } = await db.query<{ waiting: number; oldest_at: Date | null }>({
    name: 'workflow_starts.waiting',
    text: `
      select count(*)::int as waiting, min(created_at) as oldest_at
        from workflow_start where started_at is null`,
  });
  return rows[0] as { waiting: number; oldest_at: Date | null };
}

/** When the oldest signal was written that was not yet sent, and how many there are. */
export async function readWaitingSignals(db: Db): Promise<{ waiting: number; oldest_at: Date | null }> {
  const { rows } = await db.query<{ waiting: number; oldest_at: Date | null }>({
    name: 'workflow_starts.waiting_signals',
    text: `
      select count(*)::int as waiting, min(created_at) as oldest_at from workflow_signal where sent_at is null`,
  });
  return rows[0]!;
}

/** How many days rows of a kind are kept after they were sent; a kind whose workflows may run longer is not listed. */
const KEPT_DAYS: Readonly<Record<string, number>> = { topUp: 90, planPeriod: 90 };

/**
 * Forgets starts and signals of workflows that have ended long before `at`; returns how many rows. Rows that
 * were not sent stay, however old they are. An hourly job.
 */
export async function purgeWorkflows(db: Db, at: Date): Promise<number> {
  let purged = 0;
  for (const [type, days] of Object.entries(KEPT_DAYS)) {
    const values = [type, new Date(at.getTime() - days * 86_400_000)];
    const signals = await db.query({
      name: 'workflow_starts.purge_signals',
      text: `
        delete from workflow_signal g using workflow_start s
         where s.workflow_id = g.workflow_id and s.type = $1 and s.started_at < $2 and g.sent_at < $2`,
      values,
    });
    const starts = await db.query({
      name: 'workflow_starts.purge_starts',
      text: `
        delete from workflow_start s
         where s.type = $1 and s.started_at < $2
           and not exists (select from workflow_signal g where g.workflow_id = s.workflow_id)`,
      values,
    });
    purged += signals.rowCount + starts.rowCount;
  }
  return purged;
}
