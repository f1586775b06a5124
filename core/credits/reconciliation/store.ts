// SQL of the daily reconciliation.
import type { Db } from '../../kernel/index.ts';

/** The last day that was reconciled, `YYYY-MM-DD`; null before the first run. */
export async function lastReconciled(db: Db): Promise<string | null> {
  const { rows } = await db.query<{ day: string | null }>({
    name: 'credits.last_reconciled',
    text: 'select max(day)::text as day from reconciliation_run',
  });
  return rows[0]?.day ?? null;
}

/** Notes that all days up to `day` are reconciled. */
export async function noteReconciled(
  db: Db,
  run: { day: string; organizations: number; variances: number; at: Date },
): Promise<void> {
  await db.query({
    name: 'credits.note_reconciled',
    text: `
      insert into reconciliation_run (day, organizations, variances, ended_at) values ($1, $2, $3, $4)
      on conflict (day) do update
         set organizations = excluded.organizations, variances = excluded.variances, ended_at = excluded.ended_at`,
    values: [run.day, run.organizations, run.variances, run.at],
  });
}
