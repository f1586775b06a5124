// SQL of closings.
import type { Db, Id } from '../kernel/index.ts';
import type { Closing } from './types.ts';

/** Writes a closing down; that of an organization which was opened again meanwhile is replaced. */
export async function putClosing(db: Db, closing: Omit<Closing, 'ended_at'>): Promise<void> {
  await db.query({
    name: 'closing.put',
    text: `
      insert into org_closing (org_id, closed_at, refund_requested) values ($1, $2, $3)
      on conflict (org_id) do update
         set closed_at = excluded.closed_at, refund_requested = excluded.refund_requested, ended_at = null`,
    values: [closing.org_id, closing.closed_at, closing.refund_requested],
  });
}

/** The closing of an organization; null when it was never closed this way. */
export async function findClosing(db: Db, org_id: Id<'org'>): Promise<Closing | null> {
  const { rows } = await db.query<Closing>({
    name: 'closing.find',
    text: 'select org_id, closed_at, refund_requested, ended_at from org_closing where org_id = $1',
    values: [org_id],
  });
  return rows[0] ?? null;
}

/** How many of these closed organizations have something that has not followed yet. */
export async function countOpenClosings(db: Db, org_ids: readonly Id<'org'>[]): Promise<number> {
  const { rows } = await db.query<{ open: number }>({
    name: 'closing.count_open',
    text: 'select count(*)::int as open from org_closing where org_id = any($1) and ended_at is null',
    values: [org_ids],
  });
  return rows[0]?.open ?? 0;
}

/** Notes that everything has followed, or that something waits again (`at` null). */
export async function markEnded(db: Db, args: { org_id: Id<'org'>; at: Date | null }): Promise<void> {
  await db.query({
    name: 'closing.mark_ended',
    text: 'update org_closing set ended_at = $2 where org_id = $1 and (ended_at is null) <> ($2::timestamptz is null)',
    values: [args.org_id, args.at],
  });
}

/** Whether a ticket about giving this payment back was opened since `since`. */
export async function hasTicket(
  db: Db,
  args: { org_id: Id<'org'>; topup_id: Id<'topup'>; since: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'closing.has_ticket',
    text: `
      select 1 from ticket
       where org_id = $1 and kind = 'refund' and body ->> 'topup_id' = $2 and created_at >= $3 limit 1`,
    values: [args.org_id, args.topup_id, args.since],
  });
  return rowCount > 0;
}
