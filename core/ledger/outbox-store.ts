// The outbox: facts for webhooks, written in the transaction of the fact. The ledger's own functions write theirs in SQL.
import type { Db } from '../kernel/index.ts';

/** A fact for webhooks. */
export interface NewFact {
  readonly org_id: string;
  /** Event name, `topup.completed`. */
  readonly topic: string;
  /** What subscribers see as `data`. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly at: Date;
}

/** Writes a fact for webhooks in the caller's transaction. */
export async function writeEvent(db: Db, event: NewFact): Promise<void> {
  await db.query({
    name: 'ledger.write_event',
    text: 'insert into outbox (org_id, topic, payload, created_at) values ($1, $2, $3, $4)',
    values: [event.org_id, event.topic, JSON.stringify(event.payload), event.at],
  });
}

/** As `writeEvent`, for many in one statement. */
export async function writeEvents(db: Db, events: readonly NewFact[]): Promise<void> {
  if (events.length === 0) return;
  await db.query({
    name: 'ledger.write_events',
    text: `
      insert into outbox (org_id, topic, payload, created_at)
      select org_id, topic, payload, created_at
        from unnest($1::text[], $2::text[], $3::jsonb[], $4::timestamptz[])
             with ordinality as given (org_id, topic, payload, created_at, place)
       order by place`,
    values: [
      events.map(({ org_id }) => org_id),
      events.map(({ topic }) => topic),
      events.map(({ payload }) => JSON.stringify(payload)),
      events.map(({ at }) => at),
    ],
  });
}
