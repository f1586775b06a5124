// Endpoints and their deliveries as people manage them.
import type { ServerResponse } from 'node:http';
import type { DeliveryView, WebhookView } from '@svc/core/webhooks/index.ts';
import { expect, test } from 'vitest';
import { startReceiver, withStatus } from './receiver.ts';
import { type Made, startWorld } from './world.ts';

const world = await startWorld();
let serial = 0;
const freshTenant = () => world.tenant(`org-${++serial}`);
const url = 'http://127.0.0.1:65530/hooks';

test('the secret is in the answers that make one, nowhere else, and not in the database', async () => {
  const tenant = await freshTenant();
  const made = await tenant.hook(url, ['topup.completed']);
  expect(made).toEqual({
    ...{
      id: expect.stringMatching(/^wh_[0-9A-HJKMNP-TV-Z]{26}$/),
      org_id: tenant.org_id,
      url,
      description: '',
    },
    ...{ events: ['topup.completed'], status: 'active', disabled_reason: null, failing_since: null },
    ...{ secret_hint: `whsec_...${made.secret.slice(-4)}`, previous_secret_expires_at: null },
    ...{ last_delivery_at: null, created_by: tenant.owner.id, created_at: expect.any(String) },
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/),
  });
  const { secret, ...shown } = made;
  expect(await tenant.run('webhooks.get', { id: made.id })).toEqual(shown);
  expect(await tenant.run('webhooks.list')).toEqual({ object: 'list', data: [shown] });
  const kept = await world.rows<{ text: string }>(
    `select w::text || (select coalesce(string_agg(a::text, ''), '') from audit_entry a where a.org_id = w.org_id) as text
       from webhook w where id = $1`,
    [made.id],
  );
  const text = kept[0]!.text;
  for (const form of [secret, secret.slice(6), Buffer.from(secret).toString('hex')]) {
    expect(text.includes(form)).toBe(false);
  }
  expect(text).toContain('webhooks.create');
});

test('an organization has twenty endpoints at most, also when thirty are made at once', async () => {
  const tenant = await freshTenant();
  const results = await Promise.allSettled(Array.from({ length: 30 }, () => tenant.hook(url)));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []));
  expect(new Set(refused)).toEqual(new Set(['plan_limit_reached']));
});

test('unknown events and unsafe addresses are refused when an endpoint is made and when it is changed', async () => {
  const tenant = await freshTenant();
  const { id } = await tenant.hook(url);
  const unsafe = [
    'https://10.0.0.1/',
    'http://[fd00::1]:3000/',
    'ftp://127.0.0.1/',
    'https://user@127.0.0.1/',
  ];
  for (const bad of unsafe) {
    const refusal = { code: 'unsafe_url', param: 'url', status: 400 };
    await expect(tenant.hook(bad)).rejects.toMatchObject(refusal);
    await expect(tenant.run('webhooks.update', { id, url: bad })).rejects.toMatchObject(refusal);
  }
  const refusal = { code: 'invalid_request', param: 'events[1]' };
  const events = ['topup.completed', 'topup.complete'];
  await expect(tenant.hook(url, events)).rejects.toMatchObject(refusal);
  await expect(tenant.run('webhooks.update', { id, events })).rejects.toMatchObject(refusal);
  await expect(tenant.hook(url, ['toString', '*'])).rejects.toMatchObject({ param: 'events[0]' });
  expect(await tenant.run('webhooks.get', { id })).toMatchObject({ url, events: ['*'] });
});

test('a change touches what it names; disabling drops what is queued', async () => {
  const tenant = await freshTenant();
  const { id } = await tenant.hook(url);
  const patch = (change: Record<string, unknown>) =>
    tenant.run<WebhookView>('webhooks.update', { id, ...change });
  expect(await patch({ description: 'billing' })).toMatchObject({
    description: 'billing',
    events: ['*'],
    url,
  });
  expect(await patch({ description: null, events: ['invoice.issued', 'topup.failed'] })).toMatchObject({
    description: '',
    events: ['invoice.issued', 'topup.failed'],
  });
  expect(await patch({})).toMatchObject({ description: '', status: 'active' });
  await tenant.tell('topup.failed', {});
  await world.relay();
  expect(await patch({ status: 'disabled' })).toMatchObject({
    status: 'disabled',
    disabled_reason: 'manual',
  });
  expect((await tenant.log(id)).map(({ status }) => status)).toEqual(['dropped']);
  expect(await patch({ status: 'disabled' })).toMatchObject({ disabled_reason: 'manual' });
});

test("another organization's endpoint and delivery are not there", async () => {
  const [tenant, other] = [await freshTenant(), await freshTenant()];
  const { id } = await tenant.hook(url);
  const own = await other.hook(url);
  await tenant.tell('topup.failed', {});
  await world.relay();
  const delivery = String((await tenant.log(id))[0]!.id);
  const missing = { code: 'not_found' };
  for (const name of ['get', 'update', 'delete', 'rotate', 'test', 'deliveries']) {
    await expect(other.run(`webhooks.${name}`, { id })).rejects.toMatchObject(missing);
  }
  for (const name of ['delivery', 'redeliver']) {
    await expect(other.run(`webhooks.${name}`, { id, delivery })).rejects.toMatchObject(missing);
    await expect(other.run(`webhooks.${name}`, { id: own.id, delivery })).rejects.toMatchObject(missing);
    for (const wrong of ['0', '-1', '1.5', 'x', '9'.repeat(30), ' 1']) {
      await expect(tenant.run(`webhooks.${name}`, { id, delivery: wrong })).rejects.toMatchObject(missing);
    }
  }
  await tenant.run('webhooks.delete', { id });
  await expect(tenant.run('webhooks.get', { id })).rejects.toMatchObject(missing);
  await world.drain();
});

test('an endpoint deleted while an event is on its way is simply gone', async () => {
  const tenant = await freshTenant();
  const receiver = await startReceiver();
  const { id } = await tenant.hook(receiver.url);
  let release = () => {};
  const reached = new Promise<void>((reported) => {
    receiver.answer((response) => {
      release = () => void response.writeHead(500).end();
      reported();
    });
  });
  await tenant.tell('topup.failed', {});
  await world.relay();
  await world.deliverer.pump();
  await reached;
  await tenant.run('webhooks.delete', { id });
  release();
  await world.idle();
  expect(world.deliverer.outcomes.get('lost')).toBe(1);
  expect(await world.rows('select 1 from webhook_delivery where webhook_id = $1', [id])).toEqual([]);
});

test('test.ping is sent at once, once, and its answer is the delivery, whatever came of it', async () => {
  const tenant = await freshTenant();
  const receiver = await startReceiver();
  const hook = await tenant.hook(receiver.url, ['topup.completed']);
  const ping = () => tenant.run<DeliveryView>('webhooks.test', { id: hook.id });
  expect(await ping()).toMatchObject({
    ...{ event: 'test.ping', payload: { webhook_id: hook.id, message: 'ping' }, status: 'delivered' },
    ...{ attempts: 1, response_code: 204 },
  });
  expect(receiver.verified(hook.secret)).toMatchObject([
    { type: 'test.ping', org_id: tenant.org_id, data: { webhook_id: hook.id, message: 'ping' } },
  ]);
  receiver.answer(withStatus(500));
  expect(await ping()).toMatchObject({ status: 'failed', attempts: 1, response_code: 500 });
  await receiver.down();
  expect(await ping()).toMatchObject({
    status: 'failed',
    response_code: 0,
    attempt_log: [{ error: 'refused' }],
  });
  await receiver.up();
  await world.drain();
  expect(receiver.received).toHaveLength(2);
  expect(await tenant.log(hook.id)).toHaveLength(3);
});

test('an endpoint that is switched off can be tried, and stays as it is', async () => {
  const tenant = await freshTenant();
  const receiver = await startReceiver();
  const { id } = await tenant.hook(receiver.url);
  await tenant.run('webhooks.update', { id, status: 'disabled' });
  expect(await tenant.run('webhooks.test', { id })).toMatchObject({ status: 'delivered' });
  receiver.answer(withStatus(410));
  expect(await tenant.run('webhooks.test', { id })).toMatchObject({ status: 'failed', response_code: 410 });
  expect(await tenant.run('webhooks.get', { id })).toMatchObject({
    status: 'disabled',
    ...{ disabled_reason: 'manual', failing_since: null },
  });
});

test('tests make no more than four attempts at an endpoint at once; others are refused with a time to wait', async () => {
  const tenant = await freshTenant();
  const receiver = await startReceiver();
  const { id } = await tenant.hook(receiver.url);
  const waiting: ServerResponse[] = [];
  receiver.answer((response) => void waiting.push(response));
  const refused: unknown[] = [];
  const tests = Array.from({ length: 7 }, () =>
    tenant.run('webhooks.test', { id }).catch((error) => void refused.push(error)),
  );
  // The receiver answers once all have asked: a late one would find a place that has become free.
  await expect.poll(() => [waiting.length, refused.length], { timeout: 10_000 }).toEqual([4, 3]);
  for (const error of refused) {
    expect(error).toMatchObject({ code: 'rate_limit_exceeded', retry_after_ms: 1_000 });
  }
  for (const response of waiting) response.writeHead(204).end();
  await Promise.all(tests);
  expect(refused).toHaveLength(3);
  expect(receiver.open_max).toBe(4);
});

test('the log is walked newest first, by status and by event', async () => {
  const tenant = await freshTenant();
  const receiver = await startReceiver();
  const { id }: Made = await tenant.hook(receiver.url);
  for (let n = 0; n < 5; n++) await tenant.tell(n % 2 === 0 ? 'topup.completed' : 'topup.failed', { n });
  await world.drain();
  await tenant.tell('topup.completed', { n: 5 });
  await world.relay();
  interface Page {
    data: DeliveryView[];
    next_cursor: string;
  }
  const page = (more: Record<string, unknown>) => tenant.run<Page>('webhooks.deliveries', { id, ...more });
  const walked: unknown[] = [];
  let cursor = '';
  do {
    const { data, next_cursor } = await page({ limit: 2, cursor });
    walked.push(...data.map(({ payload }) => payload['n']));
    cursor = next_cursor;
  } while (cursor !== '');
  expect(walked).toEqual([5, 4, 3, 2, 1, 0]);
  const numbers = async (more: Record<string, unknown>) =>
    (await page(more)).data.map(({ payload }) => payload['n']);
  expect(await numbers({ status: 'queued' })).toEqual([5]);
  expect(await numbers({ event: 'topup.failed' })).toEqual([3, 1]);
  expect(await numbers({ event: 'topup.failed', status: 'queued' })).toEqual([]);
  const [newest] = (await page({})).data;
  expect(await tenant.run('webhooks.delivery', { id, delivery: String(newest!.id) })).toEqual(newest);
  await world.drain();
});

test('the catalog of events names each once and describes it', async () => {
  const tenant = await freshTenant();
  const { data } = await tenant.run<{ data: { name: string; description: string }[] }>('webhooks.events');
  expect(new Set(data.map(({ name }) => name)).size).toBe(data.length);
  for (const name of [
    'budget.threshold',
    'budget.exhausted',
    'topup.completed',
    'invoice.issued',
    'test.ping',
  ]) {
    expect(data.find((event) => event.name === name)?.description).toMatch(/\.$/);
  }
});

test('every act at an endpoint is in the audit log, a test and a redelivery too', async () => {
  const tenant = await freshTenant();
  const receiver = await startReceiver();
  const { id } = await tenant.hook(receiver.url);
  const delivery = await tenant.run<DeliveryView>('webhooks.test', { id });
  const again = { id, delivery: String(delivery.id) };
  await tenant.run('webhooks.redeliver', again);
  await tenant.run('webhooks.rotate', { id });
  await tenant.run('webhooks.update', { id, description: 'x' });
  await tenant.run('webhooks.delete', { id });
  const entries = await world.rows<{ action: string; after: object | null }>(
    'select action, after from audit_entry where org_id = $1 and target_id = $2 order by id',
    [tenant.org_id, id],
  );
  expect(entries.map(({ action }) => action)).toEqual(
    ['create', 'test', 'redeliver', 'rotate', 'update', 'delete'].map((act) => `webhooks.${act}`),
  );
  const { event_id } = delivery;
  expect(entries.slice(1, 3).map(({ after }) => after)).toEqual([{ event_id }, { event_id }]);
});
