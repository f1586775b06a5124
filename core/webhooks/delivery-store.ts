// SQL of events and their deliveries. Leases run by the database's clock; when a delivery is due, by the
// product's.
import type { Db, Id } from '../kernel/index.ts';
import type { Claimed, DeliveryRow, LoggedAttempt } from './types.ts';

const COLUMNS = `
  d.id, d.webhook_id, d.org_id, e.type as event, d.event_id, e.body, d.redelivery, d.status, d.attempts,
  d.response_code, d.latency_ms, d.attempt_log, d.created_at, d.delivered_at`;

/**
 * Whether the endpoint `w` is told of events of `type`: an active one of all. One of an organization that was closed hears of
 * the closing.
 */
export function hears(w: string, type: string): string {
  return `(${w}.status = 'active' or (${w}.disabled_reason = 'org_closed' and ${type} = 'org.closed'))`;
}

const LEASE = `interval '60 seconds'`;

export interface NewEvent {
  readonly id: Id<'event'>;
  readonly org_id: string;
  readonly type: string;
  readonly body: string;
  readonly at: Date;
}

/** Stores the bytes of events; returns the ids of those that were not there. */
export async function insertEvents(db: Db, events: readonly NewEvent[]): Promise<Id<'event'>[]> {
  const { rows } = await db.query<{ id: Id<'event'> }>({
    name: 'webhooks.insert_events',
    text: `
      insert into webhook_event (id, org_id, type, body, created_at)
      select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])
      on conflict (id) do nothing returning id`,
    values: [
      events.map(({ id }) => id),
      events.map(({ org_id }) => org_id),
      events.map(({ type }) => type),
      events.map(({ body }) => body),
      events.map(({ at }) => at),
    ],
  });
  return rows.map(({ id }) => id);
}

/** Queues one delivery of each stored event to every endpoint that hears and wants it; returns how many. */
export async function fanOut(
  db: Db,
  args: { event_ids: readonly Id<'event'>[]; attempts_max: number; at: Date },
): Promise<number> {
  const { rowCount } = await db.query({
    name: 'webhooks.fan_out',
    // The lock waits for a change of the endpoint that is under way, and then sees whether it was deleted or disabled.
    text: `
      insert into webhook_delivery (webhook_id, org_id, event_id, status, attempts_max, next_at, created_at)
      select w.id, w.org_id, e.id, 'queued', $2, $3, $3
        from webhook_event e join webhook w on w.org_id = e.org_id
       where e.id = any ($1) and ${hears('w', 'e.type')} and (e.type = any (w.events) or '*' = any (w.events))
       order by e.id, w.id
         for share of w`,
    values: [args.event_ids, args.attempts_max, args.at],
  });
  return rowCount;
}

/** A delivery asked for by a person: queued, or leased to `lease` at once. Returns its id. */
export async function insertDelivery(
  db: Db,
  args: {
    webhook_id: Id<'webhook'>;
    org_id: Id<'org'>;
    event_id: Id<'event'>;
    redelivery: number;
    attempts_max: number;
    lease: string | null;
    at: Date;
  },
): Promise<number> {
  const { rows } = await db.query<{ id: number }>({
    name: 'webhooks.insert_delivery',
    text: `
      insert into webhook_delivery (webhook_id, org_id, event_id, redelivery, status, attempts_max, next_at, lease,
                                    lease_until, created_at)
      values ($1, $2, $3, $4, case when $6::text is null then 'queued' else 'delivering' end, $5, $7, $6,
              case when $6::text is null then null else clock_timestamp() + ${LEASE} end, $7)
      returning id`,
    values: [
      ...[
        args.webhook_id,
        args.org_id,
        args.event_id,
        args.redelivery,
        args.attempts_max,
        args.lease,
        args.at,
      ],
    ],
  });
  return rows[0]?.id as number;
}

/** The number that the next redelivery of an event to an endpoint has; call with the endpoint locked. */
export async function nextRedelivery(
  db: Db,
  args: { webhook_id: Id<'webhook'>; event_id: Id<'event'> },
): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'webhooks.next_redelivery',
    text: `
      select coalesce(max(redelivery), 0) + 1 as n from webhook_delivery where webhook_id = $1 and event_id = $2`,
    values: [args.webhook_id, args.event_id],
  });
  return rows[0]?.n as number;
}

/** How many attempts at an endpoint run now, in all processes. */
export async function countRunning(db: Db, webhook_id: Id<'webhook'>): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'webhooks.count_running',
    text: `
      select count(*)::int as n from webhook_delivery
       where webhook_id = $1 and status = 'delivering' and lease_until > clock_timestamp()`,
    values: [webhook_id],
  });
  return rows[0]?.n ?? 0;
}

/** One delivery of an endpoint; null when there is none. */
export async function findDelivery(
  db: Db,
  args: { webhook_id: Id<'webhook'>; id: number },
): Promise<DeliveryRow | null> {
  const { rows } = await db.query<DeliveryRow>({
    name: 'webhooks.find_delivery',
    text: `
      select ${COLUMNS} from webhook_delivery d join webhook_event e on e.id = d.event_id
       where d.webhook_id = $1 and d.id = $2`,
    values: [args.webhook_id, args.id],
  });
  return rows[0] ?? null;
}

/** A page of an endpoint's deliveries, newest first, strictly before `before`. */
export async function listDeliveries(
  db: Db,
  args: {
    webhook_id: Id<'webhook'>;
    status: string | null;
    event: string | null;
    before: number | null;
    limit: number;
  },
): Promise<DeliveryRow[]> {
  const { rows } = await db.query<DeliveryRow>({
    name: 'webhooks.list_deliveries',
    text: `
      select ${COLUMNS} from webhook_delivery d join webhook_event e on e.id = d.event_id
       where d.webhook_id = $1
         and ($2::text is null or d.status = $2)
         and ($3::text is null or e.type = $3)
         and ($4::bigint is null or d.id < $4)
       order by d.id desc
       limit $5`,
    values: [args.webhook_id, args.status, args.event, args.before, args.limit],
  });
  return rows;
}

/** How a delivery stands. */
export interface DeliveryState {
  readonly id: number;
  readonly status: DeliveryRow['status'];
  readonly attempts: number;
  /** Among the `newest` that were asked for. */
  readonly is_newest: boolean;
}

/** How the newest deliveries of an endpoint stand, those that are due next or under way, and `ids`; oldest first. */
export async function listDeliveryStates(
  db: Db,
  args: { webhook_id: Id<'webhook'>; ids: readonly number[]; newest: number; under_way: number },
): Promise<DeliveryState[]> {
  const { rows } = await db.query<DeliveryState>({
    name: 'webhooks.list_delivery_states',
    text: `
      with newest as (
        select id from webhook_delivery where webhook_id = $1 order by id desc limit $3),
      due as (
        select id from webhook_delivery
         where webhook_id = $1 and status in ('queued', 'delivering') order by next_at, id limit $4)
      select d.id, d.status, d.attempts, d.id in (select id from newest) as is_newest
        from (select id from newest union select id from due union select unnest($2::bigint[])) as of (id)
        join webhook_delivery d using (id)
       where d.webhook_id = $1
       order by d.id`,
    values: [args.webhook_id, args.ids, args.newest, args.under_way],
  });
  return rows;
}

/** These deliveries of an endpoint, oldest first. */
export async function readDeliveries(
  db: Db,
  args: { webhook_id: Id<'webhook'>; ids: readonly number[] },
): Promise<DeliveryRow[]> {
  const { rows } = await db.query<DeliveryRow>({
    name: 'webhooks.read_deliveries',
    text: `
      select ${COLUMNS} from webhook_delivery d join webhook_event e on e.id = d.event_id
       where d.webhook_id = $1 and d.id = any ($2) order by d.id`,
    values: [args.webhook_id, args.ids],
  });
  return rows;
}

const CLAIMED = `
  d.id, d.lease, d.webhook_id, d.org_id, ${hears('w', 'e.type')} as is_active, w.url, d.event_id, e.body, d.attempts, d.attempts_max, w.secret_sealed,
  w.previous_secret_sealed, w.previous_secret_expires_at`;

/**
 * Leases at most `limit` deliveries that are due at `at` to `lease`, so that with those that this process already
 * `runs` at an endpoint it has at most `per_endpoint` there: endpoints with fewest under way first, the oldest of each
 * first, so that a long queue of slow endpoints keeps no other endpoint waiting. What a dead process holds keeps nobody
 * from an endpoint. Two claimers get different rows; a lease that lapsed is claimed again.
 */
export async function claimDeliveries(
  db: Db,
  args: { lease: string; at: Date; limit: number; per_endpoint: number; runs: ReadonlyMap<string, number> },
): Promise<Claimed[]> {
  const { rows } = await db.query<Claimed>({
    name: 'webhooks.claim',
    // The recursion steps from endpoint to endpoint in the queue's index: work by endpoints with something queued, not
    // by deliveries.
    text: `
      with recursive endpoint as (
        (select webhook_id from webhook_delivery where status in ('queued', 'delivering')
          order by webhook_id limit 1)
        union all
        select (select n.webhook_id from webhook_delivery n
                 where n.status in ('queued', 'delivering') and n.webhook_id > endpoint.webhook_id
                 order by n.webhook_id limit 1)
          from endpoint where endpoint.webhook_id is not null
      ),
      due as (
        select q.id from endpoint
         cross join lateral (
           select coalesce(sum(r.n), 0)::int as running from unnest($5::text[], $6::int[]) as r (webhook_id, n)
            where r.webhook_id = endpoint.webhook_id) as busy
         cross join lateral (
           select c.id, c.next_at, row_number() over (order by c.next_at, c.id) as place from webhook_delivery c
            where c.webhook_id = endpoint.webhook_id and c.status in ('queued', 'delivering') and c.next_at <= $2
              and (c.status = 'queued' or c.lease_until <= clock_timestamp())
            order by c.next_at, c.id limit greatest($4 - busy.running, 0)) as q
         where endpoint.webhook_id is not null
         order by busy.running + q.place, q.next_at, q.id limit $3
      ),
      taken as (
        select t.id from webhook_delivery t
         where t.id in (select id from due) and t.next_at <= $2
           and (t.status = 'queued' or (t.status = 'delivering' and t.lease_until <= clock_timestamp()))
           for update skip locked
      )
      update webhook_delivery d
         set status = 'delivering', lease = $1, lease_until = clock_timestamp() + ${LEASE}
        from taken, webhook w, webhook_event e
       where d.id = taken.id and w.id = d.webhook_id and e.id = d.event_id
      returning ${CLAIMED}`,
    values: [
      args.lease,
      args.at,
      args.limit,
      args.per_endpoint,
      [...args.runs.keys()],
      [...args.runs.values()],
    ],
  });
  return rows;
}

/** The delivery `id`, leased to `lease` when it was inserted. */
export async function readClaimed(db: Db, args: { id: number; lease: string }): Promise<Claimed> {
  const { rows } = await db.query<Claimed>({
    name: 'webhooks.read_claimed',
    text: `
      select ${CLAIMED}
        from webhook_delivery d join webhook w on w.id = d.webhook_id join webhook_event e on e.id = d.event_id
       where d.id = $1 and d.lease = $2`,
    values: [args.id, args.lease],
  });
  return rows[0] as Claimed;
}

/** Ends an attempt; false when the lease was lost to another process, whose result then counts. */
export async function endAttempt(
  db: Db,
  args: {
    id: number;
    lease: string;
    status: 'queued' | 'delivered' | 'failed' | 'dropped';
    next_at: Date | null;
    entry: LoggedAttempt;
    at: Date;
  },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'webhooks.end_attempt',
    text: `
      update webhook_delivery
         set status = $3, attempts = attempts + 1, next_at = coalesce($4, next_at), lease = null, lease_until = null,
             response_code = $5, latency_ms = $6, attempt_log = attempt_log || $7::jsonb,
             delivered_at = case when $3 = 'delivered' then $8::timestamptz end
       where id = $1 and lease = $2`,
    values: [
      ...[args.id, args.lease, args.status, args.next_at, args.entry.code, args.entry.latency_ms],
      ...[JSON.stringify([args.entry]), args.at],
    ],
  });
  return rowCount === 1;
}

/** Drops a leased delivery without an attempt, because its endpoint was disabled meanwhile. */
export async function dropClaimed(db: Db, args: { id: number; lease: string }): Promise<void> {
  await db.query({
    name: 'webhooks.drop_claimed',
    text: `
      update webhook_delivery set status = 'dropped', lease = null, lease_until = null where id = $1 and lease = $2`,
    values: [args.id, args.lease],
  });
}

/** Drops what an endpoint has queued; what is under way ends by itself. */
export async function dropQueued(db: Db, webhook_id: Id<'webhook'>): Promise<void> {
  await db.query({
    name: 'webhooks.drop_queued',
    text: `update webhook_delivery set status = 'dropped' where webhook_id = $1 and status = 'queued'`,
    values: [webhook_id],
  });
}

/**
 * Deletes ended deliveries made before `before`, and events of that age without a delivery; returns how many rows.
 */
export async function purgeDeliveries(db: Db, before: Date): Promise<number> {
  const deliveries = await db.query({
    name: 'webhooks.purge_deliveries',
    text: `
      delete from webhook_delivery
       where created_at < $1 and status in ('delivered', 'failed', 'dropped')`,
    values: [before],
  });
  const events = await db.query({
    name: 'webhooks.purge_events',
    text: `
      delete from webhook_event e
       where e.created_at < $1 and not exists (select from webhook_delivery d where d.event_id = e.id)`,
    values: [before],
  });
  return deliveries.rowCount + events.rowCount;
}
