// An endpoint with a delivery, for walks that need objects of an organization.
import { now, silentLog } from '@svc/core/kernel/index.ts';
import { writeEvent } from '@svc/core/ledger/index.ts';
import { relayParts } from '@svc/core/operations/index.ts';
import { relayOutbox } from '@svc/core/webhooks/index.ts';
import type { Harness, Tenant } from './harness.ts';

/** An endpoint of `tenant` and a delivery queued for it; nothing is sent. */
export async function makeWebhook(
  harness: Harness,
  tenant: Tenant,
): Promise<{ webhook_id: string; delivery_id: number }> {
  const made = await harness.call('POST', '/v1/webhooks', {
    key: tenant.key,
    body: { url: 'https://93.184.216.34/hooks', events: ['*'] },
  });
  const { id } = made.json() as { id: string };
  const event = { org_id: tenant.org.id, topic: 'topup.completed', payload: {}, at: now() };
  await harness.pool.transaction((db) => writeEvent(db, event));
  await relayOutbox(harness.pool, relayParts(silentLog));
  const listed = await harness.call('GET', `/v1/webhooks/${id}/deliveries`, { key: tenant.key });
  const [delivery] = (listed.json() as { data: { id: number }[] }).data;
  return { webhook_id: id, delivery_id: delivery?.id as number };
}
