export { createDeliverer, type Deliverer } from './deliver.ts';
export {
  type Egress,
  type EgressAnswer,
  type EgressFault,
  type EgressRequest,
  egressOf,
  openEgress,
} from './egress.ts';
export { webhookOperations } from './operations.ts';
export { readBacklog } from './outbox-store.ts';
export { purgeWebhooks } from './purge.ts';
export { type KeyNamer, relayOutbox } from './relay.ts';
export { DeliveryView, WebhookView } from './schema.ts';
