export { createDeliverer, type Deliverer } from './deliver.ts';
export {
  getDeliveryOperation,
  listDeliveriesOperation,
  redeliverOperation,
  testWebhookOperation,
} from './delivery-operations.ts';
export {
  createWebhookOperation,
  deleteWebhookOperation,
  EventTypeView,
  getWebhookOperation,
  listEventsOperation,
  listWebhooksOperation,
  patchWebhookOperation,
  rotateWebhookOperation,
  webhookOperations,
} from './operations.ts';
export {
  listWaitingDeliveries,
  listWaitingFacts,
  readBacklog,
  readDeliveryBacklog,
} from './outbox-store.ts';
export { purgeWebhooks } from './purge.ts';
export { relayOutbox } from './relay.ts';
export { DeliveryView, WebhookView } from './schema.ts';
export { disableAllWebhooks, listSubscribers } from './store.ts';
export { deliveryStatuses, disabledReasons, webhookStatuses } from './types.ts';
export { type DeliveryWatch, watchDeliveries } from './watch.ts';
