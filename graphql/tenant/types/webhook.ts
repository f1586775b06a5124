// Webhook endpoints, the events that they can subscribe to, and what was sent to them.
import {
  createWebhookOperation,
  DeliveryView,
  deleteWebhookOperation,
  deliveryStatuses,
  disabledReasons,
  EventTypeView,
  getDeliveryOperation,
  getWebhookOperation,
  listDeliveriesOperation,
  listEventsOperation,
  listWebhooksOperation,
  patchWebhookOperation,
  redeliverOperation,
  rotateWebhookOperation,
  testWebhookOperation,
  WebhookView,
  webhookStatuses,
} from '@svc/core/webhooks/index.ts';
import { builder, derive, Node } from '../builder.ts';
import { connectionType, pageField } from '../connection.ts';
import { nullWhenMissing } from '../missing.ts';
import { mutation } from '../mutation.ts';

derive.enum('WebhookStatus', webhookStatuses);
derive.enum('WebhookDisabledReason', disabledReasons);
derive.enum('WebhookDeliveryStatus', deliveryStatuses);

const Webhook = derive.output('Webhook', WebhookView, { interfaces: [Node] });
const EventType = derive.output('WebhookEventType', EventTypeView, {
  names: { example: 'WebhookEventExample' },
});
export const Delivery = derive.output('WebhookDelivery', DeliveryView, {
  names: { attempt_log: 'WebhookAttempt' },
});
const Deliveries = connectionType('WebhookDelivery', Delivery);

builder.queryFields((t) => ({
  webhooks: t.field({
    type: [Webhook],
    nullable: true,
    description: 'Endpoints, oldest first.',
    extensions: { operation: listWebhooksOperation.name },
    resolve: async (_root, _args, { runner }) => (await runner.run(listWebhooksOperation, {})).data,
  }),
  webhook: t.field({
    type: Webhook,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    extensions: { operation: getWebhookOperation.name },
    resolve: (_root, { id }, { runner }) => nullWhenMissing(runner.run(getWebhookOperation, { id })),
  }),
  webhookEvents: t.field({
    type: [EventType],
    nullable: true,
    description: 'Events that endpoints can subscribe to.',
    extensions: { operation: listEventsOperation.name },
    resolve: async (_root, _args, { runner }) => (await runner.run(listEventsOperation, {})).data,
  }),
  webhookDeliveries: pageField(t, 'WebhookDeliveries', {
    operation: listDeliveriesOperation,
    type: Deliveries,
    description: 'What was sent to an endpoint, newest first; kept for 30 days.',
    options: () => ({}),
  }),
  webhookDelivery: t.field({
    type: Delivery,
    nullable: true,
    args: { id: t.arg.id({ required: true }), delivery: t.arg.string({ required: true }) },
    description: 'One delivery of the endpoint `id`.',
    extensions: { operation: getDeliveryOperation.name },
    resolve: (_root, { id, delivery }, { runner }) =>
      nullWhenMissing(runner.run(getDeliveryOperation, { id, delivery })),
  }),
}));

interface Payload {
  readonly answer: unknown;
}
interface Secret {
  readonly answer: { readonly secret: string };
}
type Fields = Parameters<Parameters<typeof mutation>[0]['payload']>[0];
const withWebhook = (t: Fields) => ({
  webhook: t.field({ type: Webhook, resolve: ({ answer }: Payload) => answer }),
});
const withSecret = (t: Fields) => ({
  ...withWebhook(t),
  secret: t.string({ description: 'shown once', resolve: ({ answer }: Secret) => answer.secret }),
});
const withDelivery = (t: Fields) => ({
  delivery: t.field({ type: Delivery, resolve: ({ answer }: Payload) => answer }),
});

mutation({
  name: 'createWebhook',
  operation: createWebhookOperation,
  input: createWebhookOperation.input,
  description: 'Makes an endpoint; the answer shows its secret once.',
  payload: withSecret,
});

mutation({
  name: 'updateWebhook',
  operation: patchWebhookOperation,
  input: patchWebhookOperation.input,
  description: 'Changes what is given. Status DISABLED drops what is queued; ACTIVE starts fresh.',
  payload: withWebhook,
});

mutation({
  name: 'rotateWebhookSecret',
  operation: rotateWebhookOperation,
  input: rotateWebhookOperation.input,
  description: 'Replaces the secret; for 24 hours the old one signs too. The answer shows the new one once.',
  payload: withSecret,
});

mutation({
  name: 'deleteWebhook',
  operation: deleteWebhookOperation,
  input: deleteWebhookOperation.input,
  description: 'Deletes an endpoint with its deliveries.',
  payload: (t) => ({ deleted: t.boolean({ resolve: () => true }) }),
});

mutation({
  name: 'testWebhook',
  operation: testWebhookOperation,
  input: testWebhookOperation.input,
  description: 'Sends a `test.ping` now, once; the answer is the delivery, also when it failed.',
  payload: withDelivery,
});

mutation({
  name: 'redeliverWebhook',
  operation: redeliverOperation,
  input: redeliverOperation.input,
  description: 'Sends an event again, with the same id and bytes, as a new delivery.',
  payload: withDelivery,
});
