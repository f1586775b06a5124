// How many deliveries are attempted at once, and that one slow endpoint does not take the places of others.
import type { ServerResponse } from 'node:http';
import { IN_FLIGHT_MAX, IN_FLIGHT_PER_ENDPOINT_MAX } from '@svc/core/webhooks/deliver.ts';
import { afterEach, expect, test } from 'vitest';
import { startReceiver, withStatus } from './receiver.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { drain, pass, rows } = world;
const patient = { timeout: 10_000 };
let serial = 0;
const freshTenant = () => world.tenant(`org-${++serial}`);

// The clock goes on from test to test: what one left to be tried again must not come due in another.
afterEach(async () => {
  await world.idle();
  await rows('delete from webhook');
  world.patience();
});

test('endpoints that never answer, with a long queue each, do not keep another organization waiting', async () => {
  const [hoarder, tenant] = [await freshTenant(), await freshTenant()];
  const tarpit = await startReceiver();
  const held: ServerResponse[] = [];
  tarpit.answer((response) => void held.push(response));
  for (let i = 0; i < IN_FLIGHT_MAX / IN_FLIGHT_PER_ENDPOINT_MAX; i++)
    await hoarder.hook(`${tarpit.url}/${i}`);
  const receiver = await startReceiver();
  await tenant.hook(receiver.url);
  for (let i = 0; i < 8; i++) await hoarder.tell('topup.completed', { i });
  await world.relay();
  await world.deliverer.pump();
  await expect.poll(() => held.length, patient).toBe(IN_FLIGHT_MAX);
  await tenant.tell('topup.completed', { mine: true });
  await world.relay();
  await world.deliverer.pump();
  expect(receiver.received).toEqual([]);
  // One place becomes free; half of the hoarder's queue is older than the other's delivery.
  held.pop()?.end();
  await expect.poll(() => world.deliverer.in_flight, patient).toBe(IN_FLIGHT_MAX - 1);
  await world.deliverer.pump();
  await expect.poll(() => receiver.received.length, patient).toBe(1);
  tarpit.answer(withStatus(204));
  for (const response of held) response.end();
});

test('an endpoint has four attempts at once, and a slow one holds no other up', async () => {
  const tenant = await freshTenant();
  const [slow, quick] = [await startReceiver(), await startReceiver()];
  const held: ServerResponse[] = [];
  slow.answer((response) => void held.push(response));
  const of_slow = await tenant.hook(slow.url, ['topup.failed']);
  await tenant.hook(quick.url, ['topup.completed']);
  for (let n = 0; n < 12; n++) await tenant.tell('topup.failed', { n });
  await tenant.tell('topup.completed', {});
  await world.relay();
  expect(await world.deliverer.pump()).toBe(5);
  await expect.poll(() => [slow.open_max, quick.received.length], patient).toEqual([4, 1]);
  expect(await world.deliverer.pump()).toBe(0);
  slow.answer(withStatus(503));
  await expect.poll(() => held.length, patient).toBe(4);
  for (const response of held) response.writeHead(503).end();
  await world.idle();
  await drain();
  expect(slow.open_max).toBe(4);
  expect((await tenant.log(of_slow.id)).every(({ attempts }) => attempts === 1)).toBe(true);
});

test('a process has sixty-four attempts at once', async () => {
  const tenants = await Promise.all([freshTenant(), freshTenant()]);
  const receiver = await startReceiver();
  const waiting: ServerResponse[] = [];
  receiver.answer((response) => void waiting.push(response));
  for (const tenant of tenants) {
    for (let n = 0; n < 10; n++) await tenant.hook(`${receiver.url}/${n}`);
    for (let n = 0; n < 4; n++) await tenant.tell('topup.completed', { n });
  }
  await world.relay();
  expect(await world.deliverer.pump()).toBe(64);
  await expect.poll(() => waiting.length, patient).toBe(64);
  expect(await world.deliverer.pump()).toBe(0);
  receiver.answer(withStatus(204));
  for (const response of waiting) response.writeHead(503).end();
  await world.idle();
  pass(6_000);
  await drain();
  expect(receiver.open_max).toBe(64);
  // Sixty-four that were refused, and then all eighty.
  expect(receiver.received).toHaveLength(64 + 80);
});
