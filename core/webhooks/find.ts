// The endpoint that a path names.
import { type Context, isId, notFound, orgCaller } from '../kernel/index.ts';
import type { findWebhook } from './store.ts';
import type { WebhookRow } from './types.ts';

/** The endpoint `id` of the caller's organization, read by `find`. @throws ServiceError not_found. */
export async function getWebhook(
  context: Context,
  id: string,
  find: typeof findWebhook,
): Promise<WebhookRow> {
  const { org_id } = orgCaller(context);
  const webhook = isId('webhook', id) ? await find(context.db, { org_id, id }) : null;
  if (webhook === null) throw notFound();
  return webhook;
}
