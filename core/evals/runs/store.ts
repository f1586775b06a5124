// SQL of runs and their results.
import type { Db, Id } from '../../kernel/index.ts';
import type { Result, Run, StopReason } from './types.ts';

const COLUMNS = `
  id, org_id, project_id, environment, key_id, key_no, suite_id, suite_name, suite_revision, case_count, targets, repeat,
  concurrency, judge_model, judge_samples, budget_micro, estimate_micro, status, stop_reason, spent_micro, reserved_micro,
  written_off_micro, passed, failed, errors, skipped, score, score_low, score_high, outputs_until, created_at, started_at,
  finished_at`;

/** A run of an organization; null when there is none. */
export async function findRun(db: Db, args: { org_id: Id<'org'>; id: string }): Promise<Run | null> {
  const { rows } = await db.query<Run>({
    name: 'evals.find_run',
    text: `select ${COLUMNS} from eval_run where org_id = $1 and id = $2`,
    values: [args.org_id, args.id],
  });
  return rows[0] ?? null;
}

/** A run for its worker, whichever organization it is of; null when there is none. */
export async function readRun(db: Db, id: string): Promise<Run | null> {
  const { rows } = await db.query<Run>({
    name: 'evals.read_run',
    text: `select ${COLUMNS} from eval_run where id = $1`,
    values: [id],
  });
  return rows[0] ?? null;
}

/** As `readRun`, and holds the row until the transaction ends. */
export async function lockRun(db: Db, id: string): Promise<Run | null> {
  const { rows } = await db.query<Run>({
    name: 'evals.lock_run',
    text: `select ${COLUMNS} from eval_run where id = $1 for no key update`,
    values: [id],
  });
  return rows[0] ?? null;
}

/** A page of runs, newest first, strictly after `after`; of one suite where it is named. */
export async function listRuns(
  db: Db,
  args: {
    org_id: Id<'org'>;
    suite_id: string | null;
    after: { at: number; id: string } | null;
    limit: number;
  },
): Promise<Run[]> {
  const { rows } = await db.query<Run>({
    name: 'evals.list_runs',
    text: `
      select ${COLUMNS} from eval_run
       where org_id = $1 and ($2::text is null or suite_id = $2)
         and ($3::timestamptz is null or (created_at, id) < ($3, $4))
       order by created_at desc, id desc
       limit $5`,
    values: [
      args.org_id,
      args.suite_id,
      args.after === null ? null : new Date(args.after.at),
      args.after?.id ?? null,
      args.limit,
    ],
  });
  return rows;
}

type NewRun = Omit<
  Run,
  | 'status'
  | 'stop_reason'
  | 'spent_micro'
  | 'reserved_micro'
  | 'written_off_micro'
  | 'passed'
  | 'failed'
  | 'errors'
  | 'skipped'
  | 'score'
  | 'score_low'
  | 'score_high'
  | 'started_at'
  | 'finished_at'
>;

/** Adds a run that has not begun. */
export async function insertRun(db: Db, run: NewRun): Promise<Run> {
  const { rows } = await db.query<Run>({
    name: 'evals.insert_run',
    text: `
      insert into eval_run (id, org_id, project_id, environment, key_id, key_no, suite_id, suite_name, suite_revision,
                            case_count, targets, repeat, concurrency, judge_model, judge_samples, budget_micro,
                            estimate_micro, outputs_until, created_at, status)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, 'pending')
      returning ${COLUMNS}`,
    values: [
      run.id,
      run.org_id,
      run.project_id,
      run.environment,
      run.key_id,
      run.key_no,
      run.suite_id,
      run.suite_name,
      run.suite_revision,
      run.case_count,
      JSON.stringify(run.targets),
      run.repeat,
      run.concurrency,
      run.judge_model,
      run.judge_samples,
      run.budget_micro,
      run.estimate_micro,
      run.outputs_until,
      run.created_at,
    ],
  });
  return rows[0] as Run;
}

/** Begins a run that waits; nothing where it has begun. */
export async function beginRun(db: Db, args: { id: string; at: Date }): Promise<void> {
  await db.query({
    name: 'evals.begin_run',
    text: `update eval_run set status = 'running', started_at = $2 where id = $1 and status = 'pending'`,
    values: [args.id, args.at],
  });
}

/** Lets a run begin no more calls, for the first reason that there is; null when it has ended. */
export async function stopRun(
  db: Db,
  args: { id: string; reason: Exclude<StopReason, '' | 'budget'> },
): Promise<Run | null> {
  const { rows } = await db.query<Run>({
    name: 'evals.stop_run',
    text: `
      update eval_run set stop_reason = case stop_reason when '' then $2 else stop_reason end
       where id = $1 and status in ('pending', 'running')
      returning ${COLUMNS}`,
    values: [args.id, args.reason],
  });
  return rows[0] ?? null;
}

/** Ends a locked run. */
export async function endRun(
  db: Db,
  run: Pick<Run, 'id' | 'status' | 'stop_reason' | 'score' | 'score_low' | 'score_high'> & { at: Date },
): Promise<Run> {
  const { rows } = await db.query<Run>({
    name: 'evals.end_run',
    text: `
      update eval_run
         set status = $2, stop_reason = $3, score = $4, score_low = $5, score_high = $6, finished_at = $7,
             started_at = coalesce(started_at, $7)
       where id = $1
      returning ${COLUMNS}`,
    values: [run.id, run.status, run.stop_reason, run.score, run.score_low, run.score_high, run.at],
  });
  return rows[0] as Run;
}

/** Adds a result and counts it, once: false when it was there before. Both are one statement. */
export async function insertResult(db: Db, result: Result & { run_id: string; at: Date }): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'evals.insert_result',
    text: `
      with added as (
        insert into eval_result (run_id, unit_no, case_no, case_id, target_no, repeat_index, weight, status, score,
                                 grades, grades_passed, grader_kind, grader_detail, output, output_hash, request_id,
                                 judge_request_ids, usage, cost_micro, ttft_ms, duration_ms, error_code, created_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
                $23)
        on conflict on constraint eval_result_once do nothing
        returning status)
      update eval_run r
         set passed = passed + (a.status = 'passed')::int, failed = failed + (a.status = 'failed')::int,
             errors = errors + (a.status = 'error')::int, skipped = skipped + (a.status = 'skipped')::int
        from added a where r.id = $1`,
    values: [
      result.run_id,
      result.unit_no,
      result.case_no,
      result.case_id,
      result.target_no,
      result.repeat_index,
      result.weight,
      result.status,
      result.score,
      result.grades,
      result.grades_passed,
      result.grader_kind,
      JSON.stringify(result.grader_detail),
      result.output,
      result.output_hash,
      result.request_id,
      result.judge_request_ids,
      result.usage === null ? null : JSON.stringify(result.usage),
      result.cost_micro,
      result.ttft_ms,
      result.duration_ms,
      result.error_code,
      result.at,
    ],
  });
  return rowCount === 1;
}

/** Adds what a run did not come to, as skipped. */
export async function skipRest(db: Db, args: { id: string; at: Date }): Promise<void> {
  await db.query({
    name: 'evals.skip_rest',
    text: `
      with per as (
        select r.id, r.suite_id, r.suite_revision, r.repeat, jsonb_array_length(r.targets) as targets, r.case_count
          from eval_run r where r.id = $1),
      added as (
        insert into eval_result (run_id, unit_no, case_no, case_id, target_no, repeat_index, weight, status, score,
                                 grader_kind, grader_detail, output_hash, request_id, cost_micro, error_code, created_at)
        select per.id, u.no, u.no / (per.targets * per.repeat), c.case_id, u.no % (per.targets * per.repeat) / per.repeat,
               u.no % per.repeat, (c.body ->> 'weight')::double precision, 'skipped', 0, c.body #>> '{grader,kind}',
               '{}', '', '', 0, '', $2
          from per cross join generate_series(0, per.case_count * per.targets * per.repeat - 1) as u(no)
          join eval_case c on c.suite_id = per.suite_id and c.revision = per.suite_revision
                          and c.case_no = u.no / (per.targets * per.repeat)
        on conflict on constraint eval_result_once do nothing
        returning 1)
      update eval_run set skipped = skipped + (select count(*) from added)::int where id = $1`,
    values: [args.id, args.at],
  });
}

/** The numbers of the answers from `from` on, below `to`, that have a result. */
export async function readDone(db: Db, args: { id: string; from: number; to: number }): Promise<number[]> {
  const { rows } = await db.query<{ unit_no: number }>({
    name: 'evals.read_done',
    text: 'select unit_no from eval_result where run_id = $1 and unit_no >= $2 and unit_no < $3',
    values: [args.id, args.from, args.to],
  });
  return rows.map(({ unit_no }) => unit_no);
}

/** Forgets the text of answers that is kept no longer; how many. */
export async function forgetOutputs(db: Db, args: { at: Date; limit: number }): Promise<number> {
  const { rowCount } = await db.query({
    name: 'evals.forget_outputs',
    text: `
      with due as (
        select e.id from eval_result e join eval_run r on r.id = e.run_id
         where r.outputs_until <= $1 and e.output is not null limit $2)
      update eval_result e set output = null, grader_detail = '{}' from due where e.id = due.id`,
    values: [args.at, args.limit],
  });
  return rowCount;
}
