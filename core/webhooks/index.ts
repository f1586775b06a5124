export { createDeliverer, type Deliverer } from './deliver.ts';
export { webhookOperations } from './operations.ts';
export { readBacklog } from './outbox-store.ts';
export { purgeWebhooks } from './purge.ts';
export { relayOutbox } from './relay.ts';
export { DeliveryView, WebhookView } from './schema.ts';
export { disableAllWebhooks } from './store.ts';
