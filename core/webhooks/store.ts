// SQL of endpoints.
import type { Db, Id } from '../kernel/index.ts';
import { hears } from './delivery-store.ts';
import type { EndpointHealth } from './schedule.ts';
import type { Claimed, WebhookRow } from './types.ts';

const COLUMNS = `
  id, org_id, url, description, events, status, disabled_reason, failing_since, failed_attempts, secret_hint,
  previous_secret_expires_at, created_by, created_at, updated_at, last_delivery_at`;

/** The endpoints of an organization, oldest first. */
export async function listWebhooks(db: Db, org_id: Id<'org'>): Promise<WebhookRow[]> {
  const { rows } = await db.query<WebhookRow>({
    name: 'webhooks.list',
    text: `select ${COLUMNS} from webhook where org_id = $1 order by created_at, id`,
    values: [org_id],
  });
  return rows;
}

/** One endpoint of an organization; null when it is missing or another's. */
export async function findWebhook(
  db: Db,
  args: { org_id: Id<'org'>; id: string },
): Promise<WebhookRow | null> {
  const { rows } = await db.query<WebhookRow>({
    name: 'webhooks.find',
    text: `select ${COLUMNS} from webhook where org_id = $1 and id = $2`,
    values: [args.org_id, args.id],
  });
  return rows[0] ?? null;
}

/** As `findWebhook`, and holds the row until the transaction ends. */
export async function lockWebhook(
  db: Db,
  args: { org_id: Id<'org'>; id: string },
): Promise<WebhookRow | null> {
  const { rows } = await db.query<WebhookRow>({
    name: 'webhooks.lock',
    text: `select ${COLUMNS} from webhook where org_id = $1 and id = $2 for no key update`,
    values: [args.org_id, args.id],
  });
  return rows[0] ?? null;
}

/** How many endpoints an organization has. */
export async function countWebhooks(db: Db, org_id: Id<'org'>): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'webhooks.count',
    text: 'select count(*)::int as n from webhook where org_id = $1',
    values: [org_id],
  });
  return rows[0]?.n ?? 0;
}

type NewWebhook = Pick<
  WebhookRow,
  'id' | 'org_id' | 'url' | 'description' | 'events' | 'secret_hint' | 'created_by'
> & { readonly secret_sealed: Buffer; readonly at: Date };

/** Inserts an active endpoint and returns it. */
export async function insertWebhook(db: Db, webhook: NewWebhook): Promise<WebhookRow> {
  const { rows } = await db.query<WebhookRow>({
    name: 'webhooks.insert',
    text: `
      insert into webhook (id, org_id, url, description, events, secret_sealed, secret_hint, created_by, created_at,
                           updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
      returning ${COLUMNS}`,
    values: [
      ...[
        webhook.id,
        webhook.org_id,
        webhook.url,
        webhook.description,
        webhook.events,
        webhook.secret_sealed,
      ],
      ...[webhook.secret_hint, webhook.created_by, webhook.at],
    ],
  });
  return rows[0] as WebhookRow;
}

/** Writes the settings and state of `webhook` (a row read under lock and changed) and returns it. */
export async function updateWebhook(db: Db, webhook: WebhookRow, at: Date): Promise<WebhookRow> {
  const { rows } = await db.query<WebhookRow>({
    name: 'webhooks.update',
    text: `
      update webhook
         set url = $3, description = $4, events = $5, status = $6, disabled_reason = $7, failing_since = $8,
             failed_attempts = $9, updated_at = $10
       where org_id = $1 and id = $2
      returning ${COLUMNS}`,
    values: [
      ...[webhook.org_id, webhook.id, webhook.url, webhook.description, webhook.events, webhook.status],
      ...[webhook.disabled_reason, webhook.failing_since, webhook.failed_attempts, at],
    ],
  });
  return rows[0] as WebhookRow;
}

/** Deletes an endpoint with its deliveries; false when it was not there. */
export async function deleteWebhook(db: Db, args: { org_id: Id<'org'>; id: string }): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'webhooks.delete',
    text: 'delete from webhook where org_id = $1 and id = $2',
    values: [args.org_id, args.id],
  });
  return rowCount === 1;
}

/** The sealed secrets of an endpoint that the caller holds. @throws Error (a defect) when it is not there. */
export async function readSecrets(
  db: Db,
  id: Id<'webhook'>,
): Promise<Pick<Claimed, 'secret_sealed' | 'previous_secret_sealed' | 'previous_secret_expires_at'>> {
  const { rows } = await db.query<Claimed>({
    name: 'webhooks.read_secrets',
    text: `select secret_sealed, previous_secret_sealed, previous_secret_expires_at from webhook where id = $1`,
    values: [id],
  });
  const [found] = rows;
  if (found === undefined) throw new Error(`${id} has gone`);
  return found;
}

/**
 * Puts a fresh secret in place; those in `previous_sealed` sign beside it, the last of them until `previous_ends_at`.
 */
export async function rotateSecret(
  db: Db,
  args: {
    id: Id<'webhook'>;
    secret_sealed: Buffer;
    secret_hint: string;
    previous_sealed: Buffer;
    previous_ends_at: Date;
    at: Date;
  },
): Promise<WebhookRow> {
  const { rows } = await db.query<WebhookRow>({
    name: 'webhooks.rotate_secret',
    text: `
      update webhook
         set previous_secret_sealed = $6, previous_secret_expires_at = $4, secret_sealed = $2,
             secret_hint = $3, updated_at = $5
       where id = $1
      returning ${COLUMNS}`,
    values: [
      ...[args.id, args.secret_sealed, args.secret_hint, args.previous_ends_at, args.at],
      args.previous_sealed,
    ],
  });
  return rows[0] as WebhookRow;
}

/** Records an attempt at `at` in the endpoint's health; `disable` disables an active one. */
export async function noteAttempt(
  db: Db,
  args: EndpointHealth & { id: Id<'webhook'>; disable: 'gone' | 'failing' | null; at: Date },
): Promise<void> {
  await db.query({
    name: 'webhooks.note_attempt',
    text: `
      update webhook
         set last_delivery_at = $5, failing_since = $2, failed_attempts = $3,
             status = case when $4::text is null then status else 'disabled' end,
             disabled_reason = coalesce($4, disabled_reason),
             updated_at = case when $4::text is null then updated_at else $5 end
       where id = $1`,
    values: [args.id, args.failing_since, args.failed_attempts, args.disable, args.at],
  });
}

/** The next organizations behind `after` that have an endpoint which hears events of `type`, in the order of their ids. */
export async function listSubscribers(
  db: Db,
  of: { type: string; after: string; limit: number },
): Promise<Id<'org'>[]> {
  const { rows } = await db.query<{ org_id: Id<'org'> }>({
    name: 'webhooks.list_subscribers',
    text: `
      select distinct w.org_id from webhook w
       where w.org_id > $2 and ${hears('w', '$1')} and ($1 = any (w.events) or '*' = any (w.events))
       order by w.org_id limit $3`,
    values: [of.type, of.after, of.limit],
  });
  return rows.map(({ org_id }) => org_id);
}

/** Disables every endpoint of an organization that is being closed; each is told of that, and of nothing else. */
export async function disableAllWebhooks(
  db: Db,
  { org_id, at }: { org_id: Id<'org'>; at: Date },
): Promise<number> {
  const { rowCount } = await db.query({
    name: 'webhooks.disable_all',
    text: `
      update webhook set status = 'disabled', disabled_reason = 'org_closed', updated_at = $2
       where org_id = $1 and status = 'active'`,
    values: [org_id, at],
  });
  return rowCount;
}
