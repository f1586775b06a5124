// The SQL of the command line itself: which migrations a database has.
import type { Db } from '@svc/core/kernel/index.ts';

/** How many migrations the database has; 0 when it has never been migrated. */
export async function appliedMigrations(db: Db): Promise<number> {
  const { rows } = await db.query<{ there: boolean }>({
    name: 'cli.has_migrations',
    text: `select to_regclass('svc_migration') is not null and to_regclass('ledger.svc_migration') is not null as there`,
  });
  if (rows[0]?.there !== true) return 0;
  const counted = await db.query<{ applied: number }>({
    name: 'cli.count_migrations',
    text: `select (select count(*) from svc_migration)::int + (select count(*) from ledger.svc_migration)::int as applied`,
  });
  return counted.rows[0]?.applied ?? 0;
}
