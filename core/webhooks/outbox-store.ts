// SQL of the outboxes as their consumer sees them: that of the installation, which `writeEvent` writes, and that of
// each ledger, which its functions write.
import { eachShard } from '../db/index.ts';
import type { Db, Shards } from '../kernel/index.ts';
import { hears } from './delivery-store.ts';

type Outbox = 'public.outbox' | 'ledger.outbox';

export interface Fact {
  readonly outbox_id: number;
  readonly org_id: string;
  readonly topic: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
}

/** Whether a fact waits. Asked without a transaction, because most of the time there is none. */
export async function hasFacts(db: Db, outbox: Outbox): Promise<boolean> {
  const { rows } = await db.query<{ waiting: boolean }>({
    name: `webhooks.has_facts ${outbox}`,
    text: `select exists (select from ${outbox}) as waiting`,
  });
  return rows[0]!.waiting;
}

/** The oldest facts of the installation, at most `limit`, held until the transaction ends; another relay gets others. */
export async function takeFacts(db: Db, limit: number): Promise<Fact[]> {
  const { rows } = await db.query<Fact>({
    name: 'webhooks.take_facts',
    text: `
      select outbox_id, org_id, topic, payload, created_at from public.outbox order by outbox_id limit $1
         for update skip locked`,
    values: [limit],
  });
  return rows;
}

/** The oldest facts of a ledger, at most `limit`. Another relay may read the same. */
export async function readFacts(ledger: Db, limit: number): Promise<Fact[]> {
  const { rows } = await ledger.query<Fact>({
    name: 'webhooks.read_facts',
    text: `select outbox_id, org_id, topic, payload, created_at from ledger.outbox order by outbox_id limit $1`,
    values: [limit],
  });
  return rows;
}

/** Those of `facts` that an endpoint subscribes to and hears now. */
export async function wantedFacts(db: Db, facts: readonly Fact[]): Promise<Fact[]> {
  const { rows } = await db.query<{ place: number }>({
    name: 'webhooks.wanted_facts',
    text: `
      select f.place::int as place
        from unnest($1::text[], $2::text[]) with ordinality as f(org_id, topic, place)
       where exists (select from webhook w
                      where w.org_id = f.org_id and ${hears('w', 'f.topic')}
                        and (f.topic = any (w.events) or '*' = any (w.events)))
       order by 1`,
    values: [facts.map(({ org_id }) => org_id), facts.map(({ topic }) => topic)],
  });
  return rows.map(({ place }) => facts[place - 1] as Fact);
}

/** Deletes facts that were relayed. */
export async function deleteFacts(db: Db, outbox: Outbox, facts: readonly Fact[]): Promise<void> {
  await db.query({
    name: `webhooks.delete_facts ${outbox}`,
    text: `delete from ${outbox} where outbox_id = any ($1)`,
    values: [facts.map(({ outbox_id }) => outbox_id)],
  });
}

/** Facts that wait, and when the oldest of them happened (null: none waits). */
interface Backlog {
  readonly waiting: number;
  readonly oldest_at: Date | null;
}

async function readOne(db: Db, outbox: Outbox): Promise<Backlog> {
  const { rows } = await db.query<Backlog>({
    name: `webhooks.backlog ${outbox}`,
    text: `select count(*)::int as waiting, min(created_at) as oldest_at from ${outbox}`,
  });
  return rows[0]!;
}

/** Over all outboxes. */
export async function readBacklog(pool: Db & { readonly shards: Shards }): Promise<Backlog> {
  let { waiting, oldest_at } = await readOne(pool, 'public.outbox');
  await eachShard(pool.shards, async (ledger) => {
    const one = await readOne(ledger, 'ledger.outbox');
    waiting += one.waiting;
    if (one.oldest_at !== null && (oldest_at === null || one.oldest_at < oldest_at))
      oldest_at = one.oldest_at;
    return one.waiting;
  });
  return { waiting, oldest_at };
}

/** A fact that waits, without what it says. */
type WaitingFact = Pick<Fact, 'outbox_id' | 'org_id' | 'topic' | 'created_at'>;

async function listOne(db: Db, outbox: Outbox, limit: number): Promise<WaitingFact[]> {
  const { rows } = await db.query<WaitingFact>({
    name: `webhooks.list_waiting ${outbox}`,
    text: `select outbox_id, org_id, topic, created_at from ${outbox} order by outbox_id limit $1`,
    values: [limit],
  });
  return rows;
}

/** The oldest facts of all outboxes that wait, at most `limit`. */
export async function listWaitingFacts(
  pool: Db & { readonly shards: Shards },
  limit: number,
): Promise<WaitingFact[]> {
  const facts = await listOne(pool, 'public.outbox', limit);
  await eachShard(pool.shards, async (ledger) => {
    const found = await listOne(ledger, 'ledger.outbox', limit);
    facts.push(...found);
    return found.length;
  });
  return facts.sort((a, b) => a.created_at.getTime() - b.created_at.getTime()).slice(0, limit);
}

/** Deliveries that are queued or under way. */
export async function readDeliveryBacklog(db: Db): Promise<Backlog> {
  const { rows } = await db.query<Backlog>({
    name: 'webhooks.delivery_backlog',
    text: `
      select count(*)::int as waiting, min(created_at) as oldest_at
        from webhook_delivery where status in ('queued', 'delivering')`,
  });
  return rows[0]!;
}

/** A delivery that waits, without its body. */
interface WaitingDelivery {
  readonly id: number;
  readonly org_id: string;
  readonly webhook_id: string;
  readonly type: string;
  readonly attempts: number;
  readonly response_code: number | null;
  readonly created_at: Date;
  readonly next_at: Date;
}

/** The oldest deliveries that wait, at most `limit`. */
export async function listWaitingDeliveries(db: Db, limit: number): Promise<WaitingDelivery[]> {
  const { rows } = await db.query<WaitingDelivery>({
    name: 'webhooks.list_waiting_deliveries',
    text: `
      select d.id, d.org_id, d.webhook_id, e.type, d.attempts, d.response_code, d.created_at, d.next_at
        from webhook_delivery d join webhook_event e on e.id = d.event_id
       where d.status in ('queued', 'delivering')
       order by d.created_at, d.id limit $1`,
    values: [limit],
  });
  return rows;
}
