// From the outboxes to deliveries: each fact becomes one event, an event one delivery per endpoint that wants it, and
// the fact's row goes. No fact is lost, and none becomes two events.
import { eachShard, type Pool } from '../db/index.ts';
import { crockford, type Db, type Id, type Log, newId, now, sha256 } from '../kernel/index.ts';
import { findProjectId } from '../orgs/index.ts';
import { fanOut, insertEvents, type NewEvent } from './delivery-store.ts';
import { deleteFacts, type Fact, hasFacts, readFacts, takeFacts, wantedFacts } from './outbox-store.ts';
import { ATTEMPTS_MAX } from './schedule.ts';

const BATCH = 200;
/** Most batches of one run, so that the leader can stop during a long backlog. */
const BATCHES_MAX = 50;

/** Which key the ledger's number stands for; null when its rows are gone. `findSubjectOwner` of keys. */
type KeyNamer = (
  db: Db,
  subject: { key_no: number },
) => Promise<{ readonly key_id: Id<'key'>; readonly project_id: Id<'project'> } | null>;

/** What the relay asks of other concepts. */
interface RelayParts {
  readonly log: Log;
  readonly nameKey: KeyNamer;
  /** Facts that `report` is shown, subscribed to or not. */
  readonly reported: ReadonlySet<string>;
  /** Called for each of them in the transaction that stores its event; a fact that is read again has the same id. */
  readonly report: (
    db: Db,
    fact: {
      readonly event_id: Id<'event'>;
      readonly org_id: string;
      readonly topic: string;
      readonly payload: Fact['payload'];
    },
  ) => Promise<void>;
}

/** The body of an event: written once, and sent unchanged in every attempt. */
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
async function dataOf(db: Db, payload: Fact['payload'], nameKey: KeyNamer): Promise<Record<string, unknown>> {
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

/** Reports a fact. One that cannot be read keeps no other from becoming its event; what the database refused does. */
async function report(db: Db, fact: Fact, by: RelayParts & { event_id: Id<'event'> }): Promise<void> {
  const { org_id, topic, payload } = fact;
  try {
    await by.report(db, { event_id: by.event_id, org_id, topic, payload });
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
    by.log.error({ topic, org_id, error }, 'webhooks: a fact cannot be reported');
  }
}

/** Stores the facts that are wanted as events, queues their deliveries and returns how many; reports what is to be. */
async function store(
  db: Db,
  facts: readonly Fact[],
  by: RelayParts & { idOf: (fact: Fact) => Id<'event'> },
): Promise<number> {
  const ids = new Map(facts.map((fact) => [fact, by.idOf(fact)]));
  const idOf = (fact: Fact) => ids.get(fact) as Id<'event'>;
  for (const fact of facts.filter(({ topic }) => by.reported.has(topic))) {
    await report(db, fact, { ...by, event_id: idOf(fact) });
  }
  const events: NewEvent[] = [];
  for (const fact of await wantedFacts(db, facts)) {
    const { org_id, topic: type, created_at: at } = fact;
    const id = idOf(fact);
    const data = await dataOf(db, fact.payload, by.nameKey);
    events.push({ id, org_id, type, body: eventBody({ id, type, org_id, at, data }), at });
  }
  if (events.length === 0) return 0;
  const event_ids = await insertEvents(db, events);
  return fanOut(db, { event_ids, attempts_max: ATTEMPTS_MAX, at: now() });
}

interface Done {
  readonly taken: number;
  readonly queued: number;
}

/** The installation's own: event and deletion of its fact are one transaction. */
function relayOwn(pool: Pool, parts: RelayParts): Promise<Done> {
  return pool.transaction(async (db) => {
    const facts = await takeFacts(db, BATCH);
    if (facts.length === 0) return { taken: 0, queued: 0 };
    const queued = await store(db, facts, { ...parts, idOf: () => newId('event') });
    await deleteFacts(db, 'public.outbox', facts);
    return { taken: facts.length, queued };
  });
}

/** A ledger's, which may be in another database: its fact goes after the event has come, and names it. */
async function relayLedger(
  pool: Pool,
  { ledger, shard }: { ledger: Db; shard: string },
  parts: RelayParts,
): Promise<Done> {
  const facts = await readFacts(ledger, BATCH);
  if (facts.length === 0) return { taken: 0, queued: 0 };
  const idOf = (fact: Fact) => ledgerEventId(shard, fact);
  const queued = await pool.transaction((db) => store(db, facts, { ...parts, idOf }));
  await deleteFacts(ledger, 'ledger.outbox', facts);
  return { taken: facts.length, queued };
}

/**
 * The id of the event of a ledger's fact: when it happened, its number there and the shard, so that a fact that is read
 * again is the same event. Facts of one ledger and millisecond stay in their order.
 */
function ledgerEventId(
  shard: string,
  { outbox_id, created_at }: Pick<Fact, 'outbox_id' | 'created_at'>,
): Id<'event'> {
  const of_shard = sha256(shard).readUInt32BE(0);
  return `evt_${crockford(created_at.getTime(), 10)}${crockford(outbox_id, 10)}${crockford(of_shard, 6)}`;
}

async function empty(relay: () => Promise<Done>): Promise<number> {
  let queued = 0;
  for (let batch = 0; batch < BATCHES_MAX; batch++) {
    const done = await relay();
    queued += done.queued;
    if (done.taken < BATCH) break;
  }
  return queued;
}

/**
 * Empties the outboxes into deliveries; returns how many were queued. A job; two that run at once make no event twice.
 */
export async function relayOutbox(pool: Pool, parts: RelayParts): Promise<number> {
  const own = (await hasFacts(pool, 'public.outbox')) ? await empty(() => relayOwn(pool, parts)) : 0;
  const ledgers = await eachShard(pool.shards, async (ledger, shard) => {
    if (!(await hasFacts(ledger, 'ledger.outbox'))) return 0;
    return empty(() => relayLedger(pool, { ledger, shard }, parts));
  });
  return own + ledgers;
}
