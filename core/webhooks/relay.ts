// From the outbox to deliveries: each fact becomes one event, an event one delivery per endpoint that wants it, and the
// fact's row goes, all in one transaction. So no fact is lost, and none becomes two events.
import type { Pool } from '../db/index.ts';
import { type Db, type Id, newId, now } from '../kernel/index.ts';
import { findProjectId } from '../orgs/index.ts';
import { fanOut, insertEvents, type NewEvent } from './delivery-store.ts';
import { deleteOutbox, type Outbox, type OutboxRow, takeOutbox, waitingOutboxes } from './outbox-store.ts';
import { ATTEMPTS_MAX } from './schedule.ts';

const BATCH = 200;
/** Batches of one run, so that a long backlog does not keep the leader from stopping. */
const BATCHES_MAX = 50;

/** Which key the ledger's number stands for; null when its rows are gone. `findSubjectOwner` of keys. */
type KeyNamer = (
  db: Db,
  subject: { key_no: number },
) => Promise<{ readonly key_id: Id<'key'>; readonly project_id: Id<'project'> } | null>;

/** The body of an event: written once, sent as it is ever after. */
export function eventBody(event: {
  readonly id: Id<'event'>;
  readonly type: string;
  readonly org_id: string;
  readonly at: Date;
  readonly data: Readonly<Record<string, unknown>>;
}): string {
  const { id, type, org_id, data } = event;
  return JSON.stringify({ id, type, timestamp: event.at.toISOString(), org_id, data });
}

/** `payload` with the ids that subscribers know in place of the numbers that the ledger counts under. */
async function dataOf(
  db: Db,
  payload: OutboxRow['payload'],
  nameKey: KeyNamer,
): Promise<Record<string, unknown>> {
  const { scope, key_no, project_no, ...rest } = payload;
  if (typeof key_no === 'number') {
    const owner = await nameKey(db, { key_no });
    return { scope, key_id: owner?.key_id ?? null, project_id: owner?.project_id ?? null, ...rest };
  }
  if (typeof project_no === 'number') {
    return { scope, key_id: null, project_id: await findProjectId(db, project_no), ...rest };
  }
  return payload;
}

async function relayBatch(
  db: Db,
  outbox: Outbox,
  nameKey: KeyNamer,
): Promise<{ taken: number; queued: number }> {
  const facts = await takeOutbox(db, outbox, BATCH);
  if (facts.length === 0) return { taken: 0, queued: 0 };
  const events: NewEvent[] = [];
  for (const { org_id, topic: type, payload, created_at: at, wanted } of facts) {
    if (!wanted) continue;
    const id = newId('event');
    const data = await dataOf(db, payload, nameKey);
    events.push({ id, org_id, type, body: eventBody({ id, type, org_id, at, data }), at });
  }
  let queued = 0;
  if (events.length > 0) {
    await insertEvents(db, events);
    const event_ids = events.map(({ id }) => id);
    queued = await fanOut(db, { event_ids, attempts_max: ATTEMPTS_MAX, at: now() });
  }
  await deleteOutbox(
    db,
    outbox,
    facts.map(({ outbox_id }) => outbox_id),
  );
  return { taken: facts.length, queued };
}

async function empty(pool: Pool, outbox: Outbox, nameKey: KeyNamer): Promise<number> {
  let queued = 0;
  for (let batch = 0; batch < BATCHES_MAX; batch++) {
    const done = await pool.transaction((db) => relayBatch(db, outbox, nameKey));
    queued += done.queued;
    if (done.taken < BATCH) break;
  }
  return queued;
}

/** Empties the outboxes into deliveries; returns how many were queued. A job; two at once take different facts. */
export async function relayOutbox(pool: Pool, nameKey: KeyNamer): Promise<number> {
  let queued = 0;
  for (const outbox of await waitingOutboxes(pool)) queued += await empty(pool, outbox, nameKey);
  return queued;
}
