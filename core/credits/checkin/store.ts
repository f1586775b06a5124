// SQL of check-ins.
import type { Db, Id } from '../../kernel/index.ts';

/** Checks an organization in on UTC day `day`; false when it was before. Of concurrent calls one is true (C7). */
export async function insertCheckin(
  db: Db,
  checkin: { org_id: Id<'org'>; day: string; amount_micro_usd: number; at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'credits.insert_checkin',
    text: `
      insert into checkin (org_id, day, amount_micro_usd, created_at) values ($1, $2, $3, $4)
      on conflict (org_id, day) do nothing`,
    values: [checkin.org_id, checkin.day, checkin.amount_micro_usd, checkin.at],
  });
  return rowCount === 1;
}

/** Whether the organization checked in on `day`, and how many days in a row up to it or to the day before. */
export async function readStreak(
  db: Db,
  args: { org_id: Id<'org'>; day: string },
): Promise<{ done: boolean; streak_days: number }> {
  const { rows } = await db.query<{ done: boolean; streak_days: number }>({
    name: 'credits.read_streak',
    text: `
      select coalesce(bool_or(day = $2::date), false) as done,
             count(*) filter (where run = last and last >= $2::date - 1)::int as streak_days
        from (select day, day + (row_number() over (order by day desc))::int - 1 as run, max(day) over () as last
                from checkin where org_id = $1 and day <= $2::date) d`,
    values: [args.org_id, args.day],
  });
  return rows[0] as { done: boolean; streak_days: number };
}
