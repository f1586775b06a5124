// SQL of canaries: what came in which window, and the last verdict.
import type { ArmCounts } from '../analytics/index.ts';
import type { Db, Id } from '../kernel/index.ts';
import type { CanaryKey } from '../policies/index.ts';
import type { Window } from './evidence.ts';
import type { JudgedState, Verdict } from './verdict.ts';

export interface CanaryRow extends ArmCounts {
  readonly version: number;
  readonly endpoint_id: string;
  readonly state: JudgedState;
  readonly reason: string;
  readonly p_value: number;
  readonly started_at: Date;
  readonly canary_at: Date | null;
  readonly control_at: Date | null;
  readonly evaluated_at: Date;
}

/** The canary `key` for a judgement, made where it is new; held until the transaction ends. */
export async function lockCanary(
  db: Db,
  key: CanaryKey,
  at: Date,
): Promise<Pick<CanaryRow, 'state' | 'reason' | 'started_at'>> {
  const { rows } = await db.query<Pick<CanaryRow, 'state' | 'reason' | 'started_at'>>({
    name: 'rollouts.lock_canary',
    text: `
      insert into canary (org_id, name, version, endpoint_id, state, reason, p_value, started_at, evaluated_at)
      values ($1, $2, $3, $4, 'pending', '', 1, $5, $5)
      on conflict (org_id, name, version, endpoint_id) do update set evaluated_at = $5
      returning state, reason, started_at`,
    values: [key.org_id, key.name, key.version, key.endpoint_id, at],
  });
  return rows[0] as Pick<CanaryRow, 'state' | 'reason' | 'started_at'>;
}

/** Adds `counts` to a window of the canary. */
export async function addToWindow(
  db: Db,
  key: CanaryKey,
  window_no: number,
  counts: ArmCounts,
): Promise<void> {
  await db.query({
    name: 'rollouts.add_to_window',
    text: `
      insert into canary_window as w (org_id, name, version, endpoint_id, window_no, canary_calls, canary_errors,
                                      control_calls, control_errors)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      on conflict (org_id, name, version, endpoint_id, window_no) do update
         set canary_calls = w.canary_calls + excluded.canary_calls,
             canary_errors = w.canary_errors + excluded.canary_errors,
             control_calls = w.control_calls + excluded.control_calls,
             control_errors = w.control_errors + excluded.control_errors`,
    values: [
      ...[key.org_id, key.name, key.version, key.endpoint_id, window_no],
      ...[counts.canary_calls, counts.canary_errors, counts.control_calls, counts.control_errors],
    ],
  });
}

/** The newest `limit` windows of a canary in which calls came. */
export async function listWindows(db: Db, key: CanaryKey, limit: number): Promise<Window[]> {
  const { rows } = await db.query<Window>({
    name: 'rollouts.list_windows',
    text: `
      select window_no, canary_calls, canary_errors, control_calls, control_errors from canary_window
       where org_id = $1 and name = $2 and version = $3 and endpoint_id = $4
       order by window_no desc limit $5`,
    values: [key.org_id, key.name, key.version, key.endpoint_id, limit],
  });
  return rows;
}

/** Keeps the verdict, and which sides had calls at `at`. */
export async function keepVerdict(
  db: Db,
  key: CanaryKey,
  kept: { readonly verdict: Verdict; readonly counts: ArmCounts; readonly at: Date },
): Promise<void> {
  const { verdict, counts, at } = kept;
  await db.query({
    name: 'rollouts.keep_verdict',
    text: `
      update canary
         set state = $5, reason = $6, p_value = $7, evaluated_at = $8,
             canary_at = case when $9 then $8 else canary_at end,
             control_at = case when $10 then $8 else control_at end
       where org_id = $1 and name = $2 and version = $3 and endpoint_id = $4`,
    values: [
      ...[key.org_id, key.name, key.version, key.endpoint_id],
      ...[verdict.state, verdict.reason, verdict.p_value, at],
      ...[counts.canary_calls > 0, counts.control_calls > 0],
    ],
  });
}

/** What was judged of the policy `name`. */
export async function listJudged(db: Db, org_id: Id<'org'>, name: string): Promise<CanaryRow[]> {
  const { rows } = await db.query<CanaryRow>({
    name: 'rollouts.list_judged',
    text: `
      select canary.version, canary.endpoint_id, state, reason, p_value, started_at, canary_at, control_at,
             evaluated_at, sum(canary_calls)::bigint as canary_calls, sum(canary_errors)::bigint as canary_errors,
             sum(control_calls)::bigint as control_calls, sum(control_errors)::bigint as control_errors
        from canary join canary_window using (org_id, name, version, endpoint_id)
       where org_id = $1 and name = $2
       group by canary.org_id, canary.name, canary.version, canary.endpoint_id`,
    values: [org_id, name],
  });
  return rows;
}
