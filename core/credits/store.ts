// SQL of the customer's side of credits.
import type { Db, Id } from '../kernel/index.ts';

/**
 * Counts a refill of the sandbox book on UTC day `day`; false once `max` are used up. The row stays locked until the
 * transaction ends, so refills of one organization take turns.
 */
export async function countRefill(
  db: Db,
  args: { org_id: Id<'org'>; day: string; max: number },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'credits.count_refill',
    text: `
      insert into sandbox_refill (org_id, day, refills) values ($1, $2, 1)
      on conflict (org_id, day) do update set refills = sandbox_refill.refills + 1
       where sandbox_refill.refills < $3`,
    values: [args.org_id, args.day, args.max],
  });
  return rowCount === 1;
}
