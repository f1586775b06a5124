// SQL of the outboxes as their consumer sees them: that of the installation, which `writeEvent` writes, and that of the
// ledger, which its functions write.
import type { Db } from '../kernel/index.ts';

const OUTBOXES = ['public.outbox', 'ledger.outbox'] as const;
export type Outbox = (typeof OUTBOXES)[number];

export interface OutboxRow {
  readonly outbox_id: number;
  readonly org_id: string;
  readonly topic: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
  /** Whether an active endpoint subscribes to it now. */
  readonly wanted: boolean;
}

/** The outboxes in which a fact waits: a look without a transaction, for the many times that none does. */
export async function waitingOutboxes(db: Db): Promise<Outbox[]> {
  const { rows } = await db.query<{ installation: boolean; ledger: boolean }>({
    name: 'webhooks.has_facts',
    text: `select exists (select from public.outbox) as installation, exists (select from ledger.outbox) as ledger`,
  });
  const { installation, ledger } = rows[0]!;
  return OUTBOXES.filter((outbox) => (outbox === 'public.outbox' ? installation : ledger));
}

/** The oldest facts, at most `limit`, held until the transaction ends; another relay gets others. */
export async function takeOutbox(db: Db, outbox: Outbox, limit: number): Promise<OutboxRow[]> {
  const { rows } = await db.query<OutboxRow>({
    name: `webhooks.take_outbox ${outbox}`,
    text: `
      select o.outbox_id, o.org_id, o.topic, o.payload, o.created_at,
             exists (select from webhook w
                      where w.org_id = o.org_id and w.status = 'active'
                        and (o.topic = any (w.events) or '*' = any (w.events))) as wanted
        from ${outbox} o order by o.outbox_id limit $1
         for update of o skip locked`,
    values: [limit],
  });
  return rows;
}

/** Deletes facts that were relayed. */
export async function deleteOutbox(db: Db, outbox: Outbox, outbox_ids: readonly number[]): Promise<void> {
  await db.query({
    name: `webhooks.delete_outbox ${outbox}`,
    text: `delete from ${outbox} where outbox_id = any ($1)`,
    values: [outbox_ids],
  });
}

/** Facts that wait, and when the oldest of them happened (null: none waits). */
export async function readBacklog(db: Db): Promise<{ waiting: number; oldest_at: Date | null }> {
  const { rows } = await db.query<{ waiting: number; oldest_at: Date | null }>({
    name: 'webhooks.backlog',
    text: `select count(*)::int as waiting, min(created_at) as oldest_at
             from (select created_at from public.outbox union all select created_at from ledger.outbox) o`,
  });
  return rows[0] ?? { waiting: 0, oldest_at: null };
}
