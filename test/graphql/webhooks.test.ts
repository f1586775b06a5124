// Webhook endpoints over GraphQL, from the first one to its end: the same objects and refusals as REST.
import { beforeAll, expect, test } from 'vitest';
import { startReceiver, withStatus } from '../webhooks/receiver.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { harness, gateway, tenant } = world;
const { a, b } = harness;
const receiver = await startReceiver();
let session = '';
let viewer = '';
let stranger = '';
beforeAll(async () => {
  session = await harness.signIn(await harness.makePerson(a, 'developer'));
  viewer = await harness.signIn(await harness.makePerson(a, 'viewer'));
  stranger = await harness.signIn(await harness.makePerson(b, 'owner'));
});

const shown = `webhook { id orgId url description events status disabledReason failingSince secretHint
  previousSecretExpiresAt lastDeliveryAt createdBy createdAt }`;
const sent = `delivery { id webhookId event eventId payload status attempts responseCode latencyMs
  attemptLog { at code latencyMs error } createdAt deliveredAt }`;
const fields: Readonly<Record<string, string>> = {
  createWebhook: `secret ${shown}`,
  updateWebhook: shown,
  rotateWebhookSecret: `secret ${shown}`,
  deleteWebhook: 'deleted',
  testWebhook: sent,
  redeliverWebhook: sent,
};

async function send(name: string, input: object, token = session) {
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  const text = `mutation($input: ${title}Input!) { ${name}(input: $input) { __typename
    ... on ${title}Payload { ${fields[name]} } ... on UserError { code message path } } }`;
  const answer = await world.ask(tenant, token, text, { input });
  expect(answer.errors).toEqual([]);
  return answer.data[name];
}

const rest = async (path: string) =>
  (await harness.call('GET', `/v1/webhooks${path}`, { key: a.key })).json();

test('an endpoint is made, tried, switched off and on, rotated and deleted, and REST sees each step', async () => {
  const input = { url: receiver.url, events: ['topup.completed'], idempotencyKey: 'hook-1' };
  const made = await send('createWebhook', input);
  expect(made.webhook).toMatchObject({ url: receiver.url, events: ['topup.completed'], status: 'ACTIVE' });
  expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  expect(await send('createWebhook', input)).toEqual(made);
  const { id } = made.webhook as { id: string };
  expect((await rest('')).data.map((hook: { id: string }) => hook.id)).toEqual([id]);

  const pinged = await send('testWebhook', { id });
  expect(pinged.delivery).toMatchObject({ event: 'test.ping', status: 'DELIVERED', responseCode: 204 });
  expect(pinged.delivery.payload).toEqual({ webhook_id: id, message: 'ping' });
  expect(receiver.verified(made.secret).map(({ id }) => id)).toEqual([pinged.delivery.eventId]);
  receiver.answer(withStatus(500));
  const failed = await send('testWebhook', { id });
  expect(failed.delivery).toMatchObject({
    status: 'FAILED',
    attempts: 1,
    attemptLog: [{ code: 500, error: '' }],
  });

  const off = await send('updateWebhook', { id, status: 'DISABLED', description: 'billing' });
  expect(off.webhook).toMatchObject({ status: 'DISABLED', disabledReason: 'MANUAL', description: 'billing' });
  const delivery = String(failed.delivery.id);
  expect(await send('redeliverWebhook', { id, delivery })).toMatchObject({
    __typename: 'ConflictError',
    code: 'state_conflict',
  });
  const on = await send('updateWebhook', { id, status: 'ACTIVE', description: null, events: ['*'] });
  expect(on.webhook).toMatchObject({
    status: 'ACTIVE',
    disabledReason: null,
    description: '',
    events: ['*'],
  });
  const again = await send('redeliverWebhook', { id, delivery });
  expect(again.delivery).toMatchObject({ status: 'QUEUED', attempts: 0, eventId: failed.delivery.eventId });

  const rotated = await send('rotateWebhookSecret', { id });
  expect(rotated.webhook.secretHint).toBe(`whsec_...${rotated.secret.slice(-4)}`);
  expect(rotated.secret).not.toBe(made.secret);
  expect(rotated.webhook.previousSecretExpiresAt).toBe((await rest(`/${id}`)).previous_secret_expires_at);

  expect((await send('deleteWebhook', { id })).deleted).toBe(true);
  expect((await rest('')).data).toEqual([]);
});

const read = `query($id: ID!, $delivery: String!) {
  webhook(id: $id) { id url events status secretHint createdAt } node(id: $id) { __typename id }
  webhookDelivery(id: $id, delivery: $delivery) { id event eventId payload status attempts }
  webhookDeliveries(id: $id, first: 2, status: DELIVERED) { nodes { id } pageInfo { hasNextPage endCursor } } }`;

test('a key and a person read the rows of REST, page by page; another organization finds nothing', async () => {
  receiver.answer(withStatus(204));
  const { webhook } = await send('createWebhook', { url: receiver.url, events: ['*'] });
  const { id } = webhook as { id: string };
  for (let i = 0; i < 3; i++) await send('testWebhook', { id });
  const all: { id: number; event_id: string }[] = (await rest(`/${id}/deliveries`)).data;
  const newest = all[0] as { id: number; event_id: string };
  const variables = { id, delivery: String(newest.id) };
  const seen = await world.ask(tenant, session, read, variables);
  expect(seen.errors).toEqual([]);
  expect((await world.ask(gateway, a.key, read, variables)).data).toEqual(seen.data);
  expect(seen.data).toMatchObject({
    webhook: { id, url: receiver.url, events: ['*'], status: 'ACTIVE', secretHint: webhook.secretHint },
    node: { __typename: 'Webhook', id },
    webhookDelivery: { id: newest.id, eventId: newest.event_id, status: 'DELIVERED', attempts: 1 },
    webhookDeliveries: { nodes: all.slice(0, 2).map(({ id }) => ({ id })), pageInfo: { hasNextPage: true } },
  });
  const after = seen.data.webhookDeliveries.pageInfo.endCursor;
  const next = `query($id: ID!, $after: String) {
    webhookDeliveries(id: $id, after: $after, status: DELIVERED) { nodes { id } } }`;
  const rows = (await world.ask(tenant, session, next, { id, after })).data.webhookDeliveries;
  expect(rows.nodes).toEqual(all.slice(2).map(({ id }) => ({ id })));

  const foreign = await world.ask(tenant, stranger, read, variables);
  expect(foreign.data).toEqual({ webhook: null, node: null, webhookDelivery: null, webhookDeliveries: null });
  for (const [name, input] of [
    ['updateWebhook', { id, status: 'DISABLED' }],
    ['rotateWebhookSecret', { id }],
    ['testWebhook', { id }],
    ['redeliverWebhook', variables],
    ['deleteWebhook', { id }],
  ] as const)
    expect(await send(name, input, stranger)).toMatchObject({
      __typename: 'NotFoundError',
      code: 'not_found',
    });
});

test('events are described with an example; a viewer may read these and nothing else', async () => {
  const events = '{ webhookEvents { name description example { type data } } webhooks { id } }';
  const listed: { name: string }[] = (await rest('/events')).data;
  const seen = await world.ask(tenant, session, events);
  expect(seen.data.webhookEvents.map(({ name }: { name: string }) => name)).toEqual(
    listed.map(({ name }) => name),
  );
  const refused = await world.ask(tenant, viewer, events);
  expect(refused.data.webhookEvents).toEqual(seen.data.webhookEvents);
  expect([refused.data.webhooks, refused.errors[0]?.extensions['code']]).toEqual([null, 'permission_denied']);
  const input = { url: receiver.url, events: ['*'] };
  expect(await send('createWebhook', input, viewer)).toMatchObject({ __typename: 'PermissionError' });
});

test('an unsafe address and an unknown event name the field at fault', async () => {
  expect(await send('createWebhook', { url: 'https://10.0.0.1/', events: ['*'] })).toMatchObject({
    ...{ __typename: 'ValidationError', code: 'unsafe_url', path: ['input', 'url'] },
  });
  expect(await send('createWebhook', { url: receiver.url, events: ['*', 'topup.done'] })).toMatchObject({
    ...{ __typename: 'ValidationError', code: 'invalid_request', path: ['input', 'events', '1'] },
  });
});
