// The log of an endpoint as it moves: each delivery that comes or changes arrives on a stream of the console's listener,
// and what happens at other endpoints and in other organizations does not.
import { openEgress } from '@svc/core/egress/index.ts';
import { now, readConfig, silentLog } from '@svc/core/kernel/index.ts';
import { writeEvent } from '@svc/core/ledger/index.ts';
import { relayParts } from '@svc/core/operations/index.ts';
import { createDeliverer, relayOutbox } from '@svc/core/webhooks/index.ts';
import { expect, test } from 'vitest';
import type { Tenant } from '../../registry/harness.ts';
import { atFileEnd } from '../../support/ends.ts';
import { startReceiver, withStatus } from '../../webhooks/receiver.ts';
import { LOCAL } from '../../webhooks/world.ts';
import { startWorld } from '../world.ts';
import { openStreams, type Stream } from './stream.ts';

const world = await startWorld();
const { harness, gateway, tenant } = world;
const { a, b, pool } = harness;
const follow = await openStreams(tenant);
const receiver = await startReceiver();
const deliverer = createDeliverer({
  ...{ store: pool, egress: openEgress(readConfig(LOCAL)), root_key: harness.root_key, log: silentLog },
  mayTake: () => false,
});
atFileEnd(() => deliverer.stop());

const moved =
  'subscription($id: ID!) { webhookDelivery(id: $id) { id webhookId event status attempts responseCode deliveredAt } }';

async function post(of: Tenant, url: string, payload: object = {}) {
  const answer = await gateway.inject({
    ...{ method: 'POST', url, payload },
    headers: { authorization: `Bearer ${of.key}` },
  });
  expect(answer.statusCode, answer.body).toBeLessThan(300);
  return answer.json();
}

const endpoint = async (of: Tenant): Promise<string> =>
  (await post(of, '/v1/webhooks', { url: receiver.url, events: ['*'] })).id;

/** Something happens to `of`, and its events are queued. */
async function happens(of: Tenant, topic = 'topup.completed'): Promise<void> {
  await pool.transaction((db) => writeEvent(db, { org_id: of.org.id, topic, payload: { n: 1 }, at: now() }));
  await relayOutbox(pool, relayParts(silentLog));
}

async function deliver(): Promise<void> {
  await deliverer.pump();
  await expect.poll(() => deliverer.in_flight).toBe(0);
}

/** The next state of a delivery that is no attempt under way, which a look may or may not meet. */
async function resting(stream: Stream) {
  for (;;) {
    const delivery = (await stream.next())?.data.webhookDelivery;
    if (delivery.status !== 'DELIVERING') return delivery;
  }
}

test('a delivery comes when it is queued, after a failed attempt, and when it was taken; others never do', async () => {
  const mine = await endpoint(a);
  const other = await endpoint(a);
  const theirs = await endpoint(b);
  const developer = await harness.signIn(await harness.makePerson(a, 'developer'));
  const stranger = await harness.signIn(await harness.makePerson(b, 'owner'));
  // What was there before is not told of.
  await happens(a);
  await deliver();
  const stream = await follow(developer, moved, { id: mine });
  const elsewhere = await follow(stranger, moved, { id: theirs });
  expect(stream.response.headers.get('content-type')).toContain('text/event-stream');
  await happens(a);
  const queued = await resting(stream);
  expect(queued).toMatchObject({ webhookId: mine, event: 'topup.completed', status: 'QUEUED', attempts: 0 });

  receiver.answer(withStatus(500));
  await deliver();
  const failed = await resting(stream);
  expect(failed).toMatchObject({ id: queued.id, status: 'QUEUED', attempts: 1, responseCode: 500 });

  receiver.answer(withStatus(204));
  await pool.query({
    name: '',
    text: `update webhook_delivery set next_at = now() - interval '1 second' where status = 'queued'`,
  });
  await deliver();
  const taken = await resting(stream);
  expect(taken).toMatchObject({ id: queued.id, status: 'DELIVERED', attempts: 2, responseCode: 204 });
  expect(taken.deliveredAt).not.toBeNull();

  // The next that both see is what happens next to each: nothing of the other endpoint came between.
  await post(a, `/v1/webhooks/${other}/test`);
  await happens(b, 'invoice.issued');
  expect(await resting(elsewhere)).toMatchObject({
    webhookId: theirs,
    event: 'invoice.issued',
  });
  await post(a, `/v1/webhooks/${mine}/test`);
  expect(await resting(stream)).toMatchObject({ webhookId: mine, event: 'test.ping' });
  stream.close();
  elsewhere.close();
});

test('one that waits for hours behind a thousand newer ones is told of when it moves', async () => {
  const id = await endpoint(a);
  await happens(a);
  await pool.query({ name: '', text: `update webhook_delivery set next_at = now() + interval '1 day'` });
  // As of an endpoint that failed for long: more is queued than one look sees.
  await pool.query({
    name: '',
    text: `
      with event as (
        insert into webhook_event (id, org_id, type, body, created_at)
        select 'evt_' || lpad(n::text, 26, '0'), $2, 'key.created', '{"data":{}}', now() from generate_series(1, 1000) as n
        returning id)
      insert into webhook_delivery (webhook_id, org_id, event_id, status, attempts_max, next_at, created_at)
      select $1, $2, id, 'queued', 10, now() + interval '2 days', now() from event`,
    values: [id, a.org.id],
  });
  const developer = await harness.signIn(await harness.makePerson(a, 'developer'));
  const stream = await follow(developer, moved, { id });
  const move = `update webhook_delivery set status = 'dropped' where webhook_id = $1 and event_id in (
    select e.id from webhook_event e where e.type = 'topup.completed')`;
  await pool.query({ name: '', text: move, values: [id] });
  expect((await stream.next())?.data.webhookDelivery).toMatchObject({
    event: 'topup.completed',
    status: 'DROPPED',
  });
  stream.close();
});

test('a viewer, who may not see the log, and who asks for another organization are refused before a stream opens', async () => {
  const id = await endpoint(a);
  const viewer = await harness.signIn(await harness.makePerson(a, 'viewer'));
  const refused = await follow(viewer, moved, { id });
  expect((await refused.next())?.errors[0]?.extensions['code']).toBe('permission_denied');
  const stranger = await harness.signIn(await harness.makePerson(b, 'owner'));
  const missing = await follow(stranger, moved, { id });
  expect((await missing.next())?.errors[0]?.extensions['code']).toBe('not_found');
});

test('no surface met a defect', () => {
  expect(world.defects).toEqual([]);
});
