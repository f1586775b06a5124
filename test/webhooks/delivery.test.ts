import { purgeWebhooks } from '@svc/core/webhooks/index.ts';
import { ATTEMPTS_MAX, RETRY_SECONDS } from '@svc/core/webhooks/schedule.ts';
import { afterEach, expect, test } from 'vitest';
import { startReceiver, withStatus } from './receiver.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { drain, pass, rows } = world;
const MINUTE = 60_000;
const patient = { timeout: 10_000 };
const DAY = 24 * 60 * MINUTE;
let serial = 0;
const freshTenant = () => world.tenant(`org-${++serial}`);

// The clock goes on from test to test: what one left to be tried again must not come due in another.
afterEach(async () => {
  await world.idle();
  await rows('delete from webhook');
  world.patience();
});

test('a fact reaches every endpoint that wants it once, signed, and none that does not', async () => {
  const [tenant, other] = [await freshTenant(), await freshTenant()];
  const [all, one, none, foreign] = await Promise.all([1, 2, 3, 4].map(() => startReceiver()));
  const of_all = await tenant.hook(all!.url);
  const of_one = await tenant.hook(one!.url, ['topup.completed', 'topup.failed']);
  await tenant.hook(none!.url, ['invoice.issued']);
  await other.hook(foreign!.url);
  await tenant.tell('topup.completed', { topup_id: 'tup_1', credits_micro: 11_107_346 });
  await drain();
  expect([all, one, none, foreign].map((receiver) => receiver!.received.length)).toEqual([1, 1, 0, 0]);
  const [event] = all!.verified(of_all.secret);
  expect(event).toEqual({
    id: expect.stringMatching(/^evt_[0-9A-HJKMNP-TV-Z]{26}$/),
    type: 'topup.completed',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    org_id: tenant.org_id,
    data: { topup_id: 'tup_1', credits_micro: 11_107_346 },
  });
  expect(one!.verified(of_one.secret)).toEqual([event]);
  expect(() => all!.verified(of_one.secret)).toThrow();
  expect(all!.received[0]!.headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': 'svc-webhooks/1',
    'webhook-id': event!.id,
  });
  const [delivery] = await tenant.log(of_all.id);
  expect(delivery).toMatchObject({
    ...{ event: 'topup.completed', event_id: event!.id, payload: event!.data, status: 'delivered' },
    ...{ attempts: 1, response_code: 204, delivered_at: expect.any(String) },
    attempt_log: [{ code: 204, error: '', latency_ms: expect.any(Number), at: expect.any(String) }],
  });
  expect(await rows('select 1 from outbox')).toEqual([]);
});

test('a fact that nobody subscribes to leaves nothing behind', async () => {
  const tenant = await freshTenant();
  await tenant.tell('topup.completed', { topup_id: 'tup_2' });
  await drain();
  expect(await rows('select 1 from outbox')).toEqual([]);
  expect(await rows('select 1 from webhook_event where org_id = $1', [tenant.org_id])).toEqual([]);
});

test('ten attempts follow the schedule within a tenth, all with the same bytes, then the delivery has failed', async () => {
  const tenant = await freshTenant();
  const receiver = await startReceiver();
  receiver.answer(withStatus(500));
  const hook = await tenant.hook(receiver.url);
  await tenant.tell('topup.completed', { topup_id: 'tup_3' });
  await drain();
  for (const [at, seconds] of RETRY_SECONDS.entries()) {
    expect(receiver.received).toHaveLength(at + 1);
    pass(seconds * 900 - 4_000);
    await drain();
    expect([seconds, receiver.received.length]).toEqual([seconds, at + 1]);
    pass(seconds * 200 + 4_000);
    await drain();
  }
  expect(receiver.received).toHaveLength(ATTEMPTS_MAX);
  pass(2 * DAY);
  await drain();
  expect(receiver.received).toHaveLength(ATTEMPTS_MAX);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(receiver.verified(hook.secret)).toHaveLength(ATTEMPTS_MAX);
  const [delivery] = await tenant.log(hook.id);
  expect(delivery).toMatchObject({ status: 'failed', attempts: ATTEMPTS_MAX, response_code: 500 });
  expect(delivery!.attempt_log.map(({ code }) => code)).toEqual(Array(ATTEMPTS_MAX).fill(500));
  expect(await tenant.run('webhooks.get', { id: hook.id })).toMatchObject({ status: 'active' });
});

test('a redelivery is a new delivery of the same id and bytes', async () => {
  const tenant = await freshTenant();
  const receiver = await startReceiver();
  const hook = await tenant.hook(receiver.url);
  await tenant.tell('topup.completed', { topup_id: 'tup_4', z: 1, a: [1.5, 'é'] });
  await drain();
  const [first] = await tenant.log(hook.id);
  const redeliver = () =>
    tenant.run<typeof first>('webhooks.redeliver', { id: hook.id, delivery: String(first!.id) });
  const again = await redeliver();
  expect(again).toMatchObject({ status: 'queued', attempts: 0, event_id: first!.event_id, attempt_log: [] });
  expect(again!.id).not.toBe(first!.id);
  await Promise.all([redeliver(), redeliver()]);
  await drain();
  expect(receiver.received).toHaveLength(4);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  expect(receiver.verified(hook.secret)).toHaveLength(4);
});

test('410 switches the endpoint off at once, drops what is queued and tells owners; active starts it afresh', async () => {
  const tenant = await freshTenant();
  const receiver = await startReceiver();
  const hook = await tenant.hook(receiver.url);
  receiver.answer(withStatus(503));
  await tenant.tell('topup.failed', { topup_id: 'tup_5' });
  await drain();
  receiver.answer(withStatus(410));
  await tenant.tell('topup.completed', { topup_id: 'tup_5' });
  await drain();
  expect(await tenant.run('webhooks.get', { id: hook.id })).toMatchObject({
    status: 'disabled',
    disabled_reason: 'gone',
  });
  expect((await tenant.log(hook.id)).map(({ status }) => status)).toEqual(['dropped', 'dropped']);
  const reported = (await world.mails()).filter(({ recipient }) => recipient === tenant.owner.email);
  expect(reported).toMatchObject([
    { template: 'webhook_disabled', data: { reason: 'gone', webhook_id: hook.id, url: receiver.url } },
  ]);
  await tenant.tell('topup.completed', { topup_id: 'tup_6' });
  pass(DAY);
  await drain();
  expect(receiver.received).toHaveLength(2);
  await expect(
    tenant.run('webhooks.redeliver', { id: hook.id, delivery: String((await tenant.log(hook.id))[0]!.id) }),
  ).rejects.toMatchObject({ code: 'state_conflict' });
  receiver.answer(withStatus(200));
  expect(await tenant.run('webhooks.update', { id: hook.id, status: 'active' })).toMatchObject({
    ...{ status: 'active', disabled_reason: null, failing_since: null },
  });
  await tenant.tell('topup.completed', { topup_id: 'tup_7' });
  await drain();
  expect(receiver.verified(hook.secret).map(({ data }) => data['topup_id'])).toEqual([
    'tup_5',
    'tup_5',
    'tup_7',
  ]);
});

test('who made an endpoint is told too that it was switched off, with whatever role', async () => {
  const tenant = await freshTenant();
  const maker = await world.tenant(`maker-${tenant.org_id.slice(-6).toLowerCase()}`, tenant.org_id);
  const receiver = await startReceiver();
  const hook = await maker.hook(receiver.url);
  await tenant.run('members.update', { id: tenant.org_id, user_id: maker.owner.id, role: 'developer' });
  receiver.answer(withStatus(410));
  await tenant.tell('topup.completed', {});
  await drain();
  const reported = (await world.mails()).filter(({ data }) => data['webhook_id'] === hook.id);
  expect(reported.map(({ template, recipient }) => [template, recipient]).sort()).toEqual(
    [tenant, maker].map(({ owner }) => ['webhook_disabled', owner.email]).sort(),
  );
});

test('five days of failure with ten failed attempts switch an endpoint off; fewer attempts or a success do not', async () => {
  const tenant = await freshTenant();
  const [dead, flaky] = [await startReceiver(), await startReceiver()];
  dead.answer(withStatus(500));
  flaky.answer(withStatus(500));
  const of_dead = await tenant.hook(dead.url);
  const of_flaky = await tenant.hook(flaky.url);
  for (let day = 0; day < 6; day++) {
    await tenant.tell('topup.completed', { day });
    await drain();
    if (day === 4) {
      flaky.answer(withStatus(200));
      await tenant.tell('topup.completed', { day });
      await drain();
      flaky.answer(withStatus(500));
    }
    pass(DAY + MINUTE);
  }
  await drain();
  expect(dead.received.length).toBeGreaterThanOrEqual(10);
  expect(await tenant.run('webhooks.get', { id: of_dead.id })).toMatchObject({
    ...{ status: 'disabled', disabled_reason: 'failing', failing_since: expect.any(String) },
  });
  expect(await tenant.run('webhooks.get', { id: of_flaky.id })).toMatchObject({ status: 'active' });
  expect((await tenant.log(of_dead.id)).every(({ status }) => ['dropped', 'failed'].includes(status))).toBe(
    true,
  );
  expect((await world.mails()).at(-1)).toMatchObject({
    recipient: tenant.owner.email,
    data: { reason: 'failing', webhook_id: of_dead.id },
  });
});

test('a redirect is a failure and its target is not called', async () => {
  const tenant = await freshTenant();
  const [receiver, target] = [await startReceiver(), await startReceiver()];
  receiver.answer(withStatus(302, { location: target.url }));
  const hook = await tenant.hook(receiver.url);
  await tenant.tell('topup.completed', {});
  await drain();
  expect(target.received).toEqual([]);
  expect((await tenant.log(hook.id))[0]).toMatchObject({
    ...{ status: 'queued', response_code: 302, attempt_log: [{ code: 302, error: 'redirect' }] },
  });
});

test('an answer that comes too late is a failure, and the next attempt may succeed', async () => {
  const tenant = await freshTenant();
  const receiver = await startReceiver();
  receiver.answer(() => {});
  const hook = await tenant.hook(receiver.url);
  world.patience(700);
  await tenant.tell('topup.completed', {});
  await drain();
  expect((await tenant.log(hook.id))[0]).toMatchObject({
    ...{ status: 'queued', response_code: 0, attempt_log: [{ code: 0, error: 'timeout' }] },
  });
  await expect.poll(() => receiver.open, patient).toBe(0);
  world.patience();
  receiver.answer(withStatus(204));
  pass(6_000);
  await drain();
  expect((await tenant.log(hook.id))[0]).toMatchObject({ status: 'delivered', attempts: 2 });
});

test('a long answer and one that never ends count by their status, and are not read to the end', async () => {
  const tenant = await freshTenant();
  const [long, endless] = [await startReceiver(), await startReceiver()];
  world.patience(4_000);
  let rest = 0;
  long.answer((response) => {
    response.writeHead(200);
    const chunk = Buffer.alloc(70 * 1024, 120);
    const write = () => {
      while (!response.destroyed && response.write(chunk)) rest += chunk.length;
    };
    response.on('drain', write);
    write();
  });
  endless.answer((response) => void response.writeHead(200).write('x'));
  const of_long = await tenant.hook(long.url);
  const of_endless = await tenant.hook(endless.url);
  await tenant.tell('topup.completed', {});
  await drain();
  for (const { id } of [of_long, of_endless]) {
    expect((await tenant.log(id))[0]).toMatchObject({ status: 'delivered', response_code: 200 });
  }
  await expect.poll(() => long.open + endless.open, patient).toBe(0);
  // Socket buffers of the machine, not a body without end.
  expect(rest).toBeLessThan(16 * 1024 * 1024);
});

test('Retry-After of 503 delays the next attempt, of 500 it does not', async () => {
  const tenant = await freshTenant();
  const [asking, ignored] = [await startReceiver(), await startReceiver()];
  asking.answer(withStatus(503, { 'retry-after': '3600' }));
  ignored.answer(withStatus(500, { 'retry-after': '3600' }));
  await tenant.hook(asking.url);
  await tenant.hook(ignored.url);
  await tenant.tell('topup.completed', {});
  await drain();
  pass(59 * MINUTE);
  await drain();
  expect([asking.received.length, ignored.received.length]).toEqual([1, 2]);
  pass(MINUTE + 1_000);
  await drain();
  expect(asking.received.length).toBe(2);
});

test('a receiver that was down gets all it missed when it is back', async () => {
  const tenant = await freshTenant();
  const receiver = await startReceiver();
  const hook = await tenant.hook(receiver.url);
  await receiver.down();
  for (let n = 0; n < 9; n++) await tenant.tell('topup.completed', { n });
  await drain();
  const missed = await tenant.log(hook.id);
  expect(missed.map(({ attempt_log }) => attempt_log[0]?.error)).toEqual(Array(9).fill('refused'));
  expect(await tenant.run('webhooks.get', { id: hook.id })).toMatchObject({
    failing_since: expect.any(String),
  });
  await receiver.up();
  pass(6_000);
  await drain();
  const numbers = receiver.verified(hook.secret).map(({ data }) => data['n']);
  expect(numbers.sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  expect(await tenant.run('webhooks.get', { id: hook.id })).toMatchObject({ failing_since: null });
});

test('for 24 hours after a rotation both secrets sign, then the new one alone', async () => {
  const tenant = await freshTenant();
  const receiver = await startReceiver();
  const old = await tenant.hook(receiver.url);
  const fresh = await tenant.run<typeof old>('webhooks.rotate', { id: old.id });
  expect(fresh.secret).not.toBe(old.secret);
  expect(fresh.previous_secret_expires_at).not.toBeNull();
  await tenant.tell('topup.completed', {});
  await drain();
  expect(receiver.verified(old.secret)).toEqual(receiver.verified(fresh.secret));
  pass(DAY + MINUTE);
  await tenant.tell('topup.completed', {});
  await drain();
  expect(receiver.verified(fresh.secret)).toHaveLength(2);
  expect(() => receiver.verified(old.secret)).toThrow('No matching signature found');
  expect(await tenant.run('webhooks.get', { id: old.id })).toMatchObject({
    previous_secret_expires_at: null,
  });
});

test('a secret that is replaced signs for its 24 hours, however often it is rotated meanwhile', async () => {
  const tenant = await freshTenant();
  const receiver = await startReceiver();
  const first = await tenant.hook(receiver.url);
  const second = await tenant.run<typeof first>('webhooks.rotate', { id: first.id });
  pass(DAY / 2);
  const third = await tenant.run<typeof first>('webhooks.rotate', { id: first.id });
  const isVerified = async (...made: (typeof first)[]) => {
    await tenant.tell('topup.completed', {});
    await drain();
    for (const { secret } of made) receiver.verified(secret);
  };
  await isVerified(first, second, third);
  pass(DAY / 2 + MINUTE);
  await isVerified(second, third);
  expect(() => receiver.verified(first.secret)).toThrow('No matching signature found');
  for (let i = 0; i < 12; i++) await tenant.run('webhooks.rotate', { id: first.id });
  await tenant.tell('topup.completed', {});
  await drain();
  expect(receiver.received.at(-1)?.headers['webhook-signature']?.toString().split(' ')).toHaveLength(6);
});

test('an attempt that nobody recorded is made again when its lease lapses; who lost the lease records nothing', async () => {
  const tenant = await freshTenant();
  const receiver = await startReceiver();
  let release = () => {};
  const reached = new Promise<void>((reported) => {
    receiver.answer((response) => {
      release = () => void response.writeHead(500).end();
      reported();
    });
  });
  const hook = await tenant.hook(receiver.url);
  await tenant.tell('topup.completed', {});
  await world.relay();
  expect(await world.deliverer.pump()).toBe(1);
  await reached;
  expect(await world.deliverer.pump()).toBe(0);
  // As after 60 s in which the process that took it did not renew its lease.
  await rows(`update webhook_delivery set lease_until = clock_timestamp() where webhook_id = $1`, [hook.id]);
  receiver.answer(withStatus(204));
  expect(await world.deliverer.pump()).toBe(1);
  await expect.poll(async () => (await tenant.log(hook.id))[0]?.status, patient).toBe('delivered');
  release();
  await world.idle();
  expect((await tenant.log(hook.id))[0]).toMatchObject({
    status: 'delivered',
    attempts: 1,
    response_code: 204,
  });
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
});

test('deliveries and payloads are gone after 30 days, those under way are not', async () => {
  const tenant = await freshTenant();
  const receiver = await startReceiver();
  const hook = await tenant.hook(receiver.url);
  await tenant.tell('topup.completed', { n: 1 });
  await drain();
  pass(29 * DAY);
  await tenant.tell('topup.completed', { n: 2 });
  await world.relay();
  await purgeWebhooks(world.pool);
  expect(await tenant.log(hook.id)).toHaveLength(2);
  pass(2 * DAY);
  await purgeWebhooks(world.pool);
  expect((await tenant.log(hook.id)).map(({ payload }) => payload)).toEqual([{ n: 2 }]);
  expect(await rows('select 1 from webhook_event where org_id = $1', [tenant.org_id])).toHaveLength(1);
  await drain();
});
