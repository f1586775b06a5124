// Operations on deliveries: list, read, test, redeliver.
import { Type } from 'typebox';
import { egressOf } from '../egress/index.ts';
import { writeAudit } from '../identity/index.ts';
import {
  type Context,
  idOf,
  newUlid,
  notFound,
  oneOf,
  operation,
  page,
  pageInput,
  pageOf,
  ServiceError,
  walkPage,
} from '../kernel/index.ts';
import { attemptDelivery, type Transactor } from './attempt.ts';
import { IN_FLIGHT_PER_ENDPOINT_MAX } from './deliver.ts';
import { LARGEST_DELIVERY_NUMBER, numbersOf } from './delivery-number.ts';
import {
  countRunning,
  findDelivery,
  insertDelivery,
  insertEvents,
  listDeliveries,
  nextRedelivery,
  readClaimed,
} from './delivery-store.ts';
import { getWebhook } from './find.ts';
import { eventBody } from './relay.ts';
import { ATTEMPTS_MAX } from './schedule.ts';
import { DeliveryView, deliveryExample, viewDelivery } from './schema.ts';
import { findWebhook, lockWebhook } from './store.ts';
import { type Claimed, type DeliveryRow, deliveryStatuses, type WebhookRow } from './types.ts';

const session = ['owner', 'admin', 'developer'] as const;
const readers = { kind: 'key', scopes: ['manage:keys'], session } as const;
const writers = { kind: 'key', scopes: ['manage:keys'], session, sandbox: false } as const;
const DEFAULT_LIMIT = 50;
const ofDelivery = Type.Object({ id: idOf('webhook'), delivery: Type.String({ description: 'an integer' }) });

/** The delivery that a path names; text that is no integer names none. */
async function getDelivery(context: Context, webhook: WebhookRow, text: string): Promise<DeliveryRow> {
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
  const found =
    number <= LARGEST_DELIVERY_NUMBER
      ? await findDelivery(context.db, { webhook_id: webhook.id, id: numbersOf(context).stored(number) })
      : null;
  if (found === null) throw notFound();
  return found;
}

export const listDeliveriesOperation = operation({
  name: 'webhooks.deliveries',
  method: 'GET',
  path: '/v1/webhooks/:id/deliveries',
  summary: 'List the deliveries of an endpoint, newest first; they are kept for 30 days',
  audience: readers,
  input: Type.Object({
    id: idOf('webhook'),
    status: Type.Optional(oneOf(deliveryStatuses, 'DeliveryStatus')),
    event: Type.Optional(Type.String()),
    ...pageInput(200),
  }),
  output: pageOf(DeliveryView),
  errors: [],
  example: { object: 'list', data: [deliveryExample], next_cursor: '' },
  async run(context, input) {
    const webhook = await getWebhook(context, input.id, findWebhook);
    const filter = { status: input.status ?? null, event: input.event ?? null };
    const numbers = numbersOf(context);
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `webhooks.deliveries ${webhook.id} ${JSON.stringify(filter)}`,
      cursor: input.cursor,
      limit: input.limit ?? DEFAULT_LIMIT,
      read(after, limit) {
        const before = after === null ? null : numbers.stored(after.at);
        return listDeliveries(context.db, { webhook_id: webhook.id, ...filter, before, limit });
      },
      // A cursor can be read by who gets it.
      placeOf: (row) => ({ at: numbers.shown(row.id), id: '' }),
    });
    const shown = rows.map((row) => viewDelivery(numbers, row));
    return page(shown, next_cursor, cursorAt);
  },
});

export const getDeliveryOperation = operation({
  name: 'webhooks.delivery',
  method: 'GET',
  path: '/v1/webhooks/:id/deliveries/:delivery',
  summary: 'Read a delivery',
  audience: readers,
  input: ofDelivery,
  output: DeliveryView,
  errors: [],
  example: deliveryExample,
  async run(context, { id, delivery }) {
    const webhook = await getWebhook(context, id, findWebhook);
    return viewDelivery(numbersOf(context), await getDelivery(context, webhook, delivery));
  },
});

/** Sending a test or a redelivery is recorded in the audit log. */
function auditSent(
  context: Context,
  action: string,
  sent: { webhook: WebhookRow; event_id: string },
): Promise<void> {
  const { id, org_id, url } = sent.webhook;
  const target = { type: 'webhook', id, display: url };
  return writeAudit(context, { action, org_id, target, after: { event_id: sent.event_id } });
}

/** A `test.ping` for an endpoint, leased to this process. @throws ServiceError not_found, rate_limit_exceeded. */
function beginTest(context: Context, webhook_id: string): Promise<Claimed> {
  return context.transaction(async (context) => {
    const { db } = context;
    const webhook = await getWebhook(context, webhook_id, lockWebhook);
    const { id, org_id } = webhook;
    // The test must not become a way to flood a receiver.
    if ((await countRunning(db, id)) >= IN_FLIGHT_PER_ENDPOINT_MAX) {
      throw new ServiceError(
        'rate_limit_exceeded',
        'Several deliveries to this endpoint are still running.',
        {
          retry_after_ms: 1_000,
        },
      );
    }
    const at = context.now();
    const event = { id: context.newId('event'), type: 'test.ping', org_id, at };
    const body = eventBody({ ...event, data: { webhook_id: id, message: 'ping' } });
    await insertEvents(db, [{ ...event, body }]);
    const lease = newUlid();
    const delivery = {
      webhook_id: id,
      org_id,
      event_id: event.id,
      redelivery: 0,
      attempts_max: 1,
      lease,
      at,
    };
    const claimed = await readClaimed(db, { id: await insertDelivery(db, delivery), lease });
    await auditSent(context, 'webhooks.test', { webhook, event_id: event.id });
    return claimed;
  });
}

export const testWebhookOperation = operation({
  name: 'webhooks.test',
  method: 'POST',
  path: '/v1/webhooks/:id/test',
  summary: 'Send a test.ping now, once; the answer is the delivery, also when it failed',
  audience: writers,
  input: Type.Object({ id: idOf('webhook') }),
  output: DeliveryView,
  errors: [],
  // The receiver is asked between the transaction that makes the delivery and the one that records it.
  own_transactions: true,
  example: deliveryExample,
  async run(context, { id }) {
    // The receiver is asked between the transaction that makes the delivery and the one that records it.
    const claimed = await beginTest(context, id);
    const { root_key } = context.services;
    const { db, log } = context;
    const transaction: Transactor['transaction'] = (work) => context.transaction(({ db }) => work(db));
    const store = { query: db.query.bind(db), transaction };
    await attemptDelivery({ store, egress: egressOf(context.services), root_key, log }, claimed);
    const webhook = await getWebhook(context, id, findWebhook);
    const ended = await findDelivery(db, { webhook_id: webhook.id, id: claimed.id });
    if (ended === null) throw notFound();
    return viewDelivery(numbersOf(context), ended);
  },
});

export const redeliverOperation = operation({
  name: 'webhooks.redeliver',
  method: 'POST',
  path: '/v1/webhooks/:id/deliveries/:delivery/redeliver',
  summary: 'Send an event again: the same id and bytes in a new delivery',
  audience: writers,
  input: ofDelivery,
  output: DeliveryView,
  errors: ['state_conflict'],
  status: 201,
  example: {
    ...deliveryExample,
    status: 'queued',
    attempts: 0,
    response_code: null,
    latency_ms: null,
    attempt_log: [],
    delivered_at: null,
  },
  run: (context, input) =>
    context.transaction(async (context) => {
      const { db } = context;
      const webhook = await getWebhook(context, input.id, lockWebhook);
      const { event_id } = await getDelivery(context, webhook, input.delivery);
      if (webhook.status !== 'active') {
        throw new ServiceError(
          'state_conflict',
          'The endpoint is disabled. Set its status to active first.',
          {
            details: { state: webhook.status, disabled_reason: webhook.disabled_reason },
          },
        );
      }
      const { id: webhook_id, org_id } = webhook;
      const redelivery = await nextRedelivery(db, { webhook_id, event_id });
      const delivery = { webhook_id, org_id, event_id, redelivery, attempts_max: ATTEMPTS_MAX, lease: null };
      const id = await insertDelivery(db, { ...delivery, at: context.now() });
      await auditSent(context, 'webhooks.redeliver', { webhook, event_id });
      return viewDelivery(numbersOf(context), (await findDelivery(db, { webhook_id, id })) as DeliveryRow);
    }),
});

export const deliveryOperations = [
  testWebhookOperation,
  listDeliveriesOperation,
  getDeliveryOperation,
  redeliverOperation,
] as const;
