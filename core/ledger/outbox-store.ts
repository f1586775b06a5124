// The outbox: facts for webhooks, written in the transaction of the fact. The ledger's own functions write theirs in SQL.
import type { Db } from '../kernel/index.ts';

/** Writes a fact for webhooks in the caller's transaction; `payload` is what subscribers see as `data`. */
export async function writeEvent(
  db: Db,
  event: {
    readonly org_id: string;
    /** Event name, `topup.completed`. */
    readonly topic: string;
    readonly payload: Readonly<Record<string, unknown>>;
    readonly at: Date;
  },
): Promise<void> {
  await db.query({
    name: 'ledger.write_event',
    text: 'insert into outbox (org_id, topic, payload, created_at) values ($1, $2, $3, $4)',
    values: [event.org_id, event.topic, JSON.stringify(event.payload), event.at],
  });
}
