// SQL of notices that credit will end.
import type { Db, Id } from '../../kernel/index.ts';

/** Notes that an organization is told, `days` days before, of the credit that ends on `day`; false when it was before. */
export async function insertNotice(
  db: Db,
  notice: { org_id: Id<'org'>; day: string; days: number; at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'credits.insert_notice',
    text: `
      insert into credit_notice (org_id, day, days, created_at) values ($1, $2, $3, $4)
      on conflict (org_id, day, days) do nothing`,
    values: [notice.org_id, notice.day, notice.days, notice.at],
  });
  return rowCount === 1;
}

/** Forgets notices of credit that ended before `day`; returns how many. An hourly job. */
export async function purgeNotices(db: Db, day: string): Promise<number> {
  const { rowCount } = await db.query({
    name: 'credits.purge_notices',
    text: 'delete from credit_notice where day < $1',
    values: [day],
  });
  return rowCount ?? 0;
}
