// How long deliveries and payloads are kept (docs/webhooks.md#watching-and-trying).
import { type Db, now } from '../kernel/index.ts';
import { purgeDeliveries } from './delivery-store.ts';

const KEPT_MS = 30 * 24 * 3_600_000;

/** Deletes ended deliveries and their payloads after 30 days; returns how many rows. An hourly job. */
export function purgeWebhooks(db: Db): Promise<number> {
  return purgeDeliveries(db, new Date(now().getTime() - KEPT_MS));
}
