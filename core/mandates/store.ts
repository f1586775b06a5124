// SQL of mandates.
import type { Db, Id } from '../kernel/index.ts';
import type { RailName } from '../topups/index.ts';
import type { Mandate, MandateStatus } from './types.ts';

const columns = `
  id, org_id, gateway, method, status, reason, setup_ref, registration_url, customer_ref, token_ref, max_amount_minor,
  currency, notify_hours, consecutive_failures, created_at, expires_at, registered_at, ends_at, released_at`;

type NewMandate = Pick<
  Mandate,
  | 'id'
  | 'org_id'
  | 'gateway'
  | 'method'
  | 'max_amount_minor'
  | 'currency'
  | 'notify_hours'
  | 'created_at'
  | 'expires_at'
>;

/** Inserts a pending mandate that no rail knows of yet. */
export async function insertMandate(db: Db, mandate: NewMandate): Promise<void> {
  await db.query({
    name: 'mandates.insert',
    text: `
      insert into mandate (id, org_id, gateway, method, status, max_amount_minor, currency, notify_hours, created_at,
                           updated_at, expires_at)
      values ($1, $2, $3, $4, 'pending', $5, $6, $7, $8, $8, $9)`,
    values: [
      mandate.id,
      mandate.org_id,
      mandate.gateway,
      mandate.method,
      mandate.max_amount_minor,
      mandate.currency,
      mandate.notify_hours,
      mandate.created_at,
      mandate.expires_at,
    ],
  });
}

/** A mandate; with `org_id` only that organization's. Null when there is none. */
export async function findMandate(
  db: Db,
  args: { id: Id<'mandate'>; org_id: Id<'org'> | null },
): Promise<Mandate | null> {
  const { rows } = await db.query<Mandate>({
    name: 'mandates.find',
    text: `select ${columns} from mandate where id = $1 and ($2::text is null or org_id = $2)`,
    values: [args.id, args.org_id],
  });
  return rows[0] ?? null;
}

/** Locks a mandate until the transaction ends and returns it as it then is; null when there is none. */
export async function lockMandate(db: Db, id: Id<'mandate'>): Promise<Mandate | null> {
  const { rows } = await db.query<Mandate>({
    name: 'mandates.lock',
    text: `select ${columns} from mandate where id = $1 for no key update`,
    values: [id],
  });
  return rows[0] ?? null;
}

/** The mandate that is active or paused, and the one whose registration is open; null where there is none. */
export async function findCurrent(
  db: Db,
  org_id: Id<'org'>,
): Promise<{ in_force: Mandate | null; pending: Mandate | null }> {
  const { rows } = await db.query<Mandate>({
    name: 'mandates.find_current',
    text: `select ${columns} from mandate where org_id = $1 and status in ('pending', 'active', 'paused')`,
    values: [org_id],
  });
  const pending = rows.find(({ status }) => status === 'pending') ?? null;
  return { in_force: rows.find(({ status }) => status !== 'pending') ?? null, pending };
}

/** Mandates of `org_id`, newest first, strictly after `before`. */
export async function listMandates(
  db: Db,
  args: { org_id: Id<'org'>; before: { at: Date; id: string } | null; limit: number },
): Promise<Mandate[]> {
  const { rows } = await db.query<Mandate>({
    name: 'mandates.list',
    text: `
      select ${columns} from mandate
       where org_id = $1 and ($2::timestamptz is null or (created_at, id) < ($2, $3))
       order by created_at desc, id desc limit $4`,
    values: [args.org_id, args.before?.at ?? null, args.before?.id ?? null, args.limit],
  });
  return rows;
}

/**
 * The mandates that an event names in one way or another; at most a few. A customer names the registration that is
 * open alone: one payer may have had several mandates.
 */
export async function findNamed(
  db: Db,
  args: {
    rail: RailName;
    mandate_id: string | null;
    setup_ref: string | null;
    token_ref: string | null;
    customer_ref: string | null;
  },
): Promise<Id<'mandate'>[]> {
  const { rows } = await db.query<{ id: Id<'mandate'> }>({
    name: 'mandates.find_named',
    text: `
      select id from mandate where gateway = $1 and id = $2
      union select id from mandate where gateway = $1 and setup_ref = $3
      union select id from mandate where gateway = $1 and token_ref = $4
      union select id from mandate
             where gateway = $1 and customer_ref = $5 and status = 'pending'
               and not exists (select from mandate where gateway = $1 and token_ref = $4)`,
    values: [args.rail, args.mandate_id, args.setup_ref, args.token_ref, args.customer_ref],
  });
  return rows.map(({ id }) => id);
}

/** Notes what the rail calls a registration; what is known stays. */
export async function nameSetup(
  db: Db,
  args: {
    id: Id<'mandate'>;
    setup_ref: string;
    registration_url: string;
    customer_ref: string | null;
    at: Date;
  },
): Promise<void> {
  await db.query({
    name: 'mandates.name_setup',
    text: `
      update mandate
         set setup_ref = $2, registration_url = $3, customer_ref = coalesce(customer_ref, $4), updated_at = $5
       where id = $1 and setup_ref is null`,
    values: [args.id, args.setup_ref, args.registration_url, args.customer_ref, args.at],
  });
}

/** Moves a locked mandate to another status; names of the rail that are known stay. */
export async function moveMandate(
  db: Db,
  args: {
    id: Id<'mandate'>;
    status: MandateStatus;
    reason: string | null;
    token_ref: string | null;
    customer_ref: string | null;
    ends_at: Date | null;
    at: Date;
  },
): Promise<void> {
  await db.query({
    name: 'mandates.move',
    text: `
      update mandate
         set status = $2, reason = $3, token_ref = coalesce(token_ref, $4), customer_ref = coalesce(customer_ref, $5),
             ends_at = coalesce($6, ends_at), updated_at = $7,
             released_at = case when token_ref is null and $4::text is not null then null else released_at end,
             registered_at = case when $2 = 'active' then coalesce(registered_at, $7) else registered_at end
       where id = $1`,
    values: [args.id, args.status, args.reason, args.token_ref, args.customer_ref, args.ends_at, args.at],
  });
}

/** Sets how often debits of a mandate have failed in a row. */
export async function countFailures(
  db: Db,
  args: { id: Id<'mandate'>; consecutive_failures: number; at: Date },
): Promise<void> {
  await db.query({
    name: 'mandates.count_failures',
    text: 'update mandate set consecutive_failures = $2, updated_at = $3 where id = $1',
    values: [args.id, args.consecutive_failures, args.at],
  });
}

/** Notes that the rail allows nothing more under a mandate that is over. */
export async function markReleased(db: Db, args: { id: Id<'mandate'>; at: Date }): Promise<void> {
  await db.query({
    name: 'mandates.mark_released',
    text: 'update mandate set released_at = $2 where id = $1 and released_at is null',
    values: [args.id, args.at],
  });
}

/** Mandates of `org_ids` that are not over. */
export async function listOpenOf(db: Db, org_ids: readonly Id<'org'>[]): Promise<Id<'mandate'>[]> {
  const { rows } = await db.query<{ id: Id<'mandate'> }>({
    name: 'mandates.list_open_of',
    text: `
      select id from mandate where org_id = any ($1) and status in ('pending', 'active', 'paused') order by id`,
    values: [org_ids],
  });
  return rows.map(({ id }) => id);
}

/** Mandates whose leave has ended at `at`; at most 100. */
export async function listEnded(db: Db, at: Date): Promise<Id<'mandate'>[]> {
  const { rows } = await db.query<{ id: Id<'mandate'> }>({
    name: 'mandates.list_ended',
    text: `
      select id from mandate where status in ('active', 'paused') and ends_at <= $1 order by ends_at limit 100`,
    values: [at],
  });
  return rows.map(({ id }) => id);
}
