// SQL of the workflows that are open: what a worker saw at Temporal, beside the starts that wait to be sent there.
import type { Db } from '../kernel/index.ts';

/** A workflow that Temporal has open. */
interface OpenWorkflow {
  readonly workflow_id: string;
  readonly type: string;
  readonly started_at: Date;
}

/** A try of a step that failed. */
interface StepFailure {
  readonly workflow_id: string;
  readonly step: string;
  readonly attempt: number;
  /** Its kind and a code, never words that may hold a person's data. */
  readonly failure: string;
}

/** `waiting`: not yet sent to Temporal; `failing`: the last try of a step failed; `open`: all others. */
export type WorkflowState = 'waiting' | 'failing' | 'open';

export interface SeenWorkflow {
  readonly workflow_id: string;
  readonly type: string;
  readonly state: WorkflowState;
  /** When it was asked for, or began. */
  readonly since: Date;
  readonly step: string | null;
  readonly attempt: number | null;
  readonly failure: string | null;
  readonly failed_at: Date | null;
}

interface KindCount {
  readonly type: string;
  readonly waiting: number;
  readonly open: number;
  readonly failing: number;
  readonly oldest_at: Date;
}

/** A workflow that began so shortly before a look may be missing in its list. */
const LAG_SECONDS = 120;

/** Takes the look at `at` when the last one was claimed before `before`; false: somebody else has it. */
export async function claimLook(db: Db, args: { at: Date; before: Date }): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'workflow_starts.claim_look',
    text: `
      insert into workflow_look (claimed_at) values ($1)
      on conflict (only_row) do update set claimed_at = excluded.claimed_at
       where workflow_look.claimed_at < $2 or workflow_look.claimed_at > excluded.claimed_at`,
    values: [args.at, args.before],
  });
  return rowCount === 1;
}

/** Replaces what was seen by `workflows`; failures of those that have ended go with them. */
export async function replaceOpen(
  db: Db,
  args: { workflows: readonly OpenWorkflow[]; complete: boolean; at: Date },
): Promise<void> {
  const ids = args.workflows.map(({ workflow_id }) => workflow_id);
  await db.query({
    name: 'workflow_starts.drop_ended',
    text: 'delete from workflow_open where workflow_id <> all ($1)',
    values: [ids],
  });
  await db.query({
    name: 'workflow_starts.put_open',
    text: `
      insert into workflow_open (workflow_id, type, started_at)
      select * from unnest($1::text[], $2::text[], $3::timestamptz[])
      on conflict (workflow_id) do update set type = excluded.type, started_at = excluded.started_at`,
    values: [ids, args.workflows.map(({ type }) => type), args.workflows.map((seen) => seen.started_at)],
  });
  if (args.complete)
    await db.query({
      name: 'workflow_starts.drop_failures',
      text: `
        delete from workflow_failure
         where workflow_id <> all ($1) and failed_at < $2::timestamptz - make_interval(secs => $3)`,
      values: [ids, args.at, LAG_SECONDS],
    });
  await db.query({
    name: 'workflow_starts.note_look',
    text: 'update workflow_look set looked_at = $1, complete = $2',
    values: [args.at, args.complete],
  });
}

/** Notes that a step failed and will be tried again. */
export async function noteStepFailure(db: Db, failed: StepFailure & { at: Date }): Promise<void> {
  await db.query({
    name: 'workflow_starts.note_failure',
    text: `
      insert into workflow_failure (workflow_id, step, attempt, failure, failed_at) values ($1, $2, $3, left($4, 200), $5)
      on conflict (workflow_id, step) do update
         set attempt = excluded.attempt, failure = excluded.failure, failed_at = excluded.failed_at`,
    values: [failed.workflow_id, failed.step, failed.attempt, failed.failure, failed.at],
  });
}

/** Forgets the failure of a step that has come to its end. */
export async function clearStepFailure(db: Db, step: { workflow_id: string; step: string }): Promise<void> {
  await db.query({
    name: 'workflow_starts.clear_failure',
    text: 'delete from workflow_failure where workflow_id = $1 and step = $2',
    values: [step.workflow_id, step.step],
  });
}

/** When a worker looked last, and whether it saw all; null before the first look. */
export async function findLook(db: Db): Promise<{ looked_at: Date | null; complete: boolean } | null> {
  const { rows } = await db.query<{ looked_at: Date | null; complete: boolean }>({
    name: 'workflow_starts.find_look',
    text: 'select looked_at, complete from workflow_look',
  });
  return rows[0] ?? null;
}

/** How many workflows of each type wait, are open, and fail, by type. One that fails is not counted as open. */
export async function countWorkflows(db: Db): Promise<KindCount[]> {
  const { rows } = await db.query<KindCount>({
    name: 'workflow_starts.count',
    text: `
      with seen as (
        select type, created_at as since, 'waiting' as state from workflow_start where started_at is null
        union all
        select o.type, o.started_at,
               case when exists (select from workflow_failure f where f.workflow_id = o.workflow_id)
                    then 'failing' else 'open' end
          from workflow_open o)
      select type, min(since) as oldest_at,
             (count(*) filter (where state = 'waiting'))::int as waiting,
             (count(*) filter (where state = 'open'))::int as open,
             (count(*) filter (where state = 'failing'))::int as failing
        from seen group by type order by type`,
  });
  return rows;
}

/** At most `limit` workflows of `type` (null: of all), those that fail first, then the oldest. */
export async function listWorkflows(
  db: Db,
  args: { type: string | null; limit: number },
): Promise<SeenWorkflow[]> {
  const { rows } = await db.query<SeenWorkflow>({
    name: 'workflow_starts.list',
    text: `
      select * from (
        select workflow_id, type, 'waiting' as state, created_at as since,
               null as step, null::int as attempt, null as failure, null::timestamptz as failed_at
          from workflow_start where started_at is null
        union all
        select o.workflow_id, o.type, case when f.step is null then 'open' else 'failing' end, o.started_at,
               f.step, f.attempt, f.failure, f.failed_at
          from workflow_open o
          left join lateral (select * from workflow_failure f where f.workflow_id = o.workflow_id
                              order by f.failed_at desc limit 1) f on true) seen
       where $1::text is null or type = $1
       order by (state = 'failing') desc, since, workflow_id
       limit $2`,
    values: [args.type, args.limit],
  });
  return rows;
}
