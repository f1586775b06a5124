// Where runs stand, and which are forgotten.
import { type Db, nowMs } from '../../kernel/index.ts';
import type { RunSpend } from '../types.ts';

/** A run of a book as committed now; null when no call named it within a month. */
export async function readRun(db: Db, of: { book_id: number; run: string }): Promise<RunSpend | null> {
  const { rows } = await db.query<RunSpend>({
    name: 'ledger.read_run',
    text: `select cap as max_micro_usd, spent as spent_micro_usd, held as held_micro_usd
             from ledger.run where book_id = $1 and run = $2`,
    values: [of.book_id, of.run],
  });
  return rows[0] ?? null;
}

const DAY_MS = 86_400_000;
/** For so long a run is remembered after its last call. */
const RUN_IDLE_DAYS = 30;

/** Forgets runs that have been idle for 30 days, `limit` in one transaction; returns how many. A job. */
export async function purgeRuns(db: Db, limit = 5_000): Promise<number> {
  const idle_since = new Date(nowMs() - RUN_IDLE_DAYS * DAY_MS);
  let purged = 0;
  for (;;) {
    const { rows } = await db.query<{ purge_runs: number }>({
      name: 'ledger.purge_runs',
      text: 'select ledger.purge_runs($1, $2)',
      values: [idle_since, limit],
    });
    purged += rows[0]!.purge_runs;
    if (rows[0]!.purge_runs < limit) return purged;
  }
}
