// Wire shapes of the webhook routes.
import { type Static, Type } from 'typebox';
import { idOf, named, nullable, oneOf, Time } from '../kernel/index.ts';
import type { DeliveryNumbers } from './delivery-number.ts';
import {
  type DeliveryRow,
  deliveryStatuses,
  disabledReasons,
  type WebhookRow,
  webhookStatuses,
} from './types.ts';

export const WebhookView = named(
  'Webhook',
  Type.Object({
    id: idOf('webhook'),
    org_id: idOf('org'),
    url: Type.String(),
    description: Type.String(),
    events: Type.Array(Type.String(), { description: 'event types, or * for all' }),
    status: oneOf(webhookStatuses, 'WebhookStatus'),
    disabled_reason: nullable(oneOf(disabledReasons, 'WebhookDisabledReason')),
    failing_since: nullable(Time),
    secret_hint: Type.String({ description: 'prefix and last four characters of the secret' }),
    previous_secret_expires_at: nullable(Time),
    last_delivery_at: nullable(Time),
    created_by: nullable(Type.String()),
    created_at: Time,
  }),
);
export type WebhookView = Static<typeof WebhookView>;

/** An endpoint with its secret: the answers that make one, and no other. */
export const WebhookWithSecret = named(
  'WebhookWithSecret',
  Type.Intersect([WebhookView, Type.Object({ secret: Type.String({ description: 'shown once' }) })]),
);

export const DeliveryView = named(
  'Delivery',
  Type.Object({
    id: Type.Integer({ description: 'in no order' }),
    webhook_id: idOf('webhook'),
    org_id: idOf('org'),
    event: Type.String(),
    event_id: Type.String({ description: 'the same in retries and redeliveries' }),
    payload: Type.Record(Type.String(), Type.Unknown(), { description: 'data of the event' }),
    status: oneOf(deliveryStatuses, 'DeliveryStatus'),
    attempts: Type.Integer({ description: 'that have ended' }),
    response_code: nullable(Type.Integer({ description: 'of the last attempt; 0 without an HTTP answer' })),
    latency_ms: nullable(Type.Integer({ description: 'of the last attempt' })),
    attempt_log: Type.Array(
      Type.Object({
        at: Time,
        code: Type.Integer({ description: '0 without an HTTP answer' }),
        latency_ms: Type.Integer(),
        error: oneOf(['', 'timeout', 'dns', 'tls', 'refused', 'blocked_address', 'redirect']),
      }),
    ),
    created_at: Time,
    delivered_at: nullable(Time),
  }),
);
export type DeliveryView = Static<typeof DeliveryView>;

/** An endpoint as the API shows it; a previous secret that has ended is not mentioned. */
export function viewWebhook(webhook: WebhookRow, now: Date): WebhookView {
  const { previous_secret_expires_at: ends_at } = webhook;
  return {
    id: webhook.id,
    org_id: webhook.org_id,
    url: webhook.url,
    description: webhook.description,
    events: [...webhook.events],
    status: webhook.status,
    disabled_reason: webhook.disabled_reason,
    failing_since: webhook.failing_since?.toISOString() ?? null,
    secret_hint: webhook.secret_hint,
    previous_secret_expires_at: ends_at !== null && ends_at > now ? ends_at.toISOString() : null,
    last_delivery_at: webhook.last_delivery_at?.toISOString() ?? null,
    created_by: webhook.created_by,
    created_at: webhook.created_at.toISOString(),
  };
}

/** A delivery as the API shows it. */
export function viewDelivery(numbers: DeliveryNumbers, delivery: DeliveryRow): DeliveryView {
  const { data } = JSON.parse(delivery.body) as { data: Record<string, unknown> };
  return {
    id: numbers.shown(delivery.id),
    webhook_id: delivery.webhook_id,
    org_id: delivery.org_id,
    event: delivery.event,
    event_id: delivery.event_id,
    payload: data,
    status: delivery.status,
    attempts: delivery.attempts,
    response_code: delivery.response_code,
    latency_ms: delivery.latency_ms,
    attempt_log: [...delivery.attempt_log],
    created_at: delivery.created_at.toISOString(),
    delivered_at: delivery.delivered_at?.toISOString() ?? null,
  };
}

export const webhookExample = {
  id: 'wh_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9H',
  url: 'https://example.com/hooks/svc',
  description: 'billing',
  events: ['topup.completed', 'budget.threshold'],
  status: 'active',
  disabled_reason: null,
  failing_since: null,
  secret_hint: 'whsec_...ZjAx',
  previous_secret_expires_at: null,
  last_delivery_at: null,
  created_by: 'usr_01KACZ3V8S6T5R4Q3P2N1M0K9K',
  created_at: '2026-11-21T10:00:00.000Z',
} satisfies WebhookView;

export const deliveryExample = {
  id: 2_718_281_828_459_045,
  webhook_id: webhookExample.id,
  org_id: webhookExample.org_id,
  event: 'test.ping',
  event_id: 'evt_01KACZ3V8S6T5R4Q3P2N1M0K9M',
  payload: { webhook_id: webhookExample.id, message: 'ping' },
  status: 'delivered',
  attempts: 1,
  response_code: 200,
  latency_ms: 41,
  attempt_log: [{ at: '2026-11-21T10:00:00.041Z', code: 200, latency_ms: 41, error: '' }],
  created_at: '2026-11-21T10:00:00.000Z',
  delivered_at: '2026-11-21T10:00:00.041Z',
} satisfies DeliveryView;
