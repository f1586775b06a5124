// The end of a run: what it did not come to is skipped, the score is computed, and the organization's server is told. Once.
import { type Context, sha256 } from '../../kernel/index.ts';
import { writeEvent } from '../../ledger/index.ts';
import { bootstrap, meanOf } from '../stats/stats.ts';
import { closeLost } from './call-store.ts';
import { readCaseScores } from './score-store.ts';
import { endRun, lockRun, readRun, skipRest } from './store.ts';
import { type Run, type RunStatus, type StopReason, viewRun } from './types.ts';

/** The seed of everything that is drawn for a run: the same each time it is computed. */
export function seedOf(run_id: string): number {
  return sha256(run_id).readUInt32BE(0);
}

function endOf(run: Run, broken: boolean): { status: RunStatus; stop_reason: StopReason } {
  if (broken) return { status: 'failed', stop_reason: 'error' };
  if (run.stop_reason === 'cancelled') return { status: 'cancelled', stop_reason: 'cancelled' };
  if (run.stop_reason !== '') return { status: 'stopped', stop_reason: run.stop_reason };
  if (run.skipped > 0) return { status: 'stopped', stop_reason: 'budget' };
  return { status: 'completed', stop_reason: '' };
}

async function scoreOf({ db }: Context, run: Run) {
  const rows = await readCaseScores(db, { run_id: run.id, from: 0, to: run.case_count });
  if (rows.length === 0) return { score: null, score_low: null, score_high: null };
  const cases = rows.map(({ score, weight }) => ({ value: Number(score), weight }));
  const { low, high } = bootstrap(cases, seedOf(run.id));
  return { score: meanOf(cases), score_low: low, score_high: high };
}

/** Ends a run, `broken` where we could not go on; nothing where it has ended. */
export async function finishRun(context: Context, args: { run_id: string; broken: boolean }): Promise<void> {
  await context.transaction(async (context) => {
    const { db } = context;
    const at = context.now();
    const locked = await lockRun(db, args.run_id);
    if (locked === null || locked.finished_at !== null) return;
    const { id } = locked;
    await closeLost(db, { id, at });
    await skipRest(db, { id, at });
    const run = (await readRun(db, id)) as Run;
    const ended = await endRun(db, { id, ...endOf(run, args.broken), ...(await scoreOf(context, run)), at });
    const { cost_micro, counts, status, stop_reason, score, suite_id } = viewRun(ended);
    await writeEvent(db, {
      org_id: ended.org_id,
      topic: 'eval.run.completed',
      payload: { run_id: id, suite_id, status, stop_reason, score, cost_micro, counts },
      at,
    });
  });
}
