// SQL of the calls of a run: what each may cost is set aside before it is made, and what it did cost is noted after.
import type { Db } from '../../kernel/index.ts';

/** Which call of a run: the answer of a unit (sample 0), a sample of its judge (1 to 9), or its second call (10 to 18). */
export interface CallPlace {
  readonly run_id: string;
  readonly unit_no: number;
  readonly sample: number;
}

export interface CallRow {
  readonly reserved_micro: number;
  readonly cost_micro: number | null;
  readonly error_code: string;
  readonly opened_at: Date;
  readonly closed_at: Date | null;
}

const CALL = 'reserved_micro, cost_micro, error_code, opened_at, closed_at';

/** A call that was begun; null: it was not. */
export async function findCall(db: Db, at: CallPlace): Promise<CallRow | null> {
  const { rows } = await db.query<CallRow>({
    name: 'evals.find_call',
    text: `select ${CALL} from eval_call where run_id = $1 and unit_no = $2 and sample = $3`,
    values: [at.run_id, at.unit_no, at.sample],
  });
  return rows[0] ?? null;
}

/**
 * Sets `reserve_micro` aside for a call and notes that it begins; null where the budget has no room for it, or the run
 * begins no more calls. The `where` is what keeps the run within its budget.
 */
export async function openCall(
  db: Db,
  call: CallPlace & { reserve_micro: number; at: Date },
): Promise<CallRow | null> {
  const { rows } = await db.query<CallRow>({
    name: 'evals.open_call',
    text: `
      with granted as (
        update eval_run set reserved_micro = reserved_micro + $4
         where id = $1 and status = 'running' and stop_reason = ''
           and spent_micro + reserved_micro + $4 <= budget_micro
        returning id)
      insert into eval_call (run_id, unit_no, sample, reserved_micro, opened_at)
      select id, $2, $3, $4, $5 from granted
      returning ${CALL}`,
    values: [call.run_id, call.unit_no, call.sample, call.reserve_micro, call.at],
  });
  return rows[0] ?? null;
}

/** Sets more aside for a call that is under way; false where the budget has no room for it. */
export async function raiseCall(db: Db, call: CallPlace & { reserve_micro: number }): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'evals.raise_call',
    text: `
      with granted as (
        update eval_run r set reserved_micro = r.reserved_micro + $4 - c.reserved_micro
          from eval_call c
         where r.id = $1 and c.run_id = r.id and c.unit_no = $2 and c.sample = $3 and c.closed_at is null
           and r.spent_micro + r.reserved_micro + $4 - c.reserved_micro <= r.budget_micro
        returning r.id)
      update eval_call c set reserved_micro = $4 from granted
       where c.run_id = $1 and c.unit_no = $2 and c.sample = $3`,
    values: [call.run_id, call.unit_no, call.sample, call.reserve_micro],
  });
  return rowCount === 1;
}

/** Notes what a call has cost and gives the rest back to the run's budget, once. */
export async function closeCall(
  db: Db,
  call: CallPlace & { cost_micro: number; written_off_micro: number; error_code: string; at: Date },
): Promise<void> {
  await db.query({
    name: 'evals.close_call',
    text: `
      with closed as (
        update eval_call set cost_micro = $4, written_off_micro = $5, error_code = $6, closed_at = $7
         where run_id = $1 and unit_no = $2 and sample = $3 and closed_at is null
        returning reserved_micro)
      update eval_run r
         set reserved_micro = r.reserved_micro - c.reserved_micro, spent_micro = r.spent_micro + $4,
             written_off_micro = r.written_off_micro + $5
        from closed c where r.id = $1`,
    values: [
      call.run_id,
      call.unit_no,
      call.sample,
      call.cost_micro,
      call.written_off_micro,
      call.error_code,
      call.at,
    ],
  });
}

/** Units from `from` on, below `to`, with a call under way. */
export async function readOpen(db: Db, args: { id: string; from: number; to: number }): Promise<number[]> {
  const { rows } = await db.query<{ unit_no: number }>({
    name: 'evals.read_open',
    text: `
      select distinct unit_no from eval_call
       where run_id = $1 and unit_no >= $2 and unit_no < $3 and closed_at is null`,
    values: [args.id, args.from, args.to],
  });
  return rows.map(({ unit_no }) => unit_no);
}

/** Calls of a run that nobody will ask about again: each counts as what was set aside, its end is not known. */
export async function closeLost(db: Db, args: { id: string; at: Date }): Promise<void> {
  await db.query({
    name: 'evals.close_lost',
    text: `
      with closed as (
        update eval_call set cost_micro = reserved_micro, error_code = 'answer_lost', closed_at = $2
         where run_id = $1 and closed_at is null
        returning reserved_micro)
      update eval_run r set reserved_micro = 0, spent_micro = r.spent_micro + s.sum
        from (select coalesce(sum(reserved_micro), 0)::bigint as sum from closed) s where r.id = $1`,
    values: [args.id, args.at],
  });
}
