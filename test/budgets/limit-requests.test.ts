// Requests for higher limits: what the plan has room for is granted at once, the rest waits for staff, and gateways obey.

import { findOrg } from '@svc/core/orgs/index.ts';
import { putOnPlan } from '@svc/core/plans/index.ts';
import { approveRequest, overrideLimits, refuseRequest } from '@svc/core/support/index.ts';
import { expect, test } from 'vitest';
import { persistently } from '../credits/world.ts';
import type { Tenant } from '../registry/harness.ts';
import { startBudgetWorld } from './world.ts';

const world = await startBudgetWorld();
const { harness } = world;
const { pool, context } = harness;

/** A tenant on the plan payg: 300 requests and 1,000,000 tokens a minute, 20 calls at once. */
async function payg(slug: string): Promise<Tenant> {
  const tenant = await world.tenant(slug, 1);
  await putOnPlan(context, tenant.org.id, {
    plan_id: 'payg',
    applies: 'now',
    free_months: 0,
    reason: 'by agreement',
  });
  return tenant;
}

interface Answer {
  readonly status: string;
  readonly applied: { rpm: number | null; tpm: number | null; concurrency: number | null };
  readonly ticket: {
    readonly id: `tkt_${string}`;
    readonly status: string;
    readonly body: Record<string, unknown>;
    readonly created_by: string | null;
    readonly resolution: string;
  };
}

/** Asks for `limits` of a key, by default the tenant's own. */
async function ask(tenant: Tenant, limits: object, key_id: string = tenant.key_id, as = tenant.key) {
  const reply = await persistently(() =>
    harness.call('POST', '/v1/limits/requests', { key: as, body: { key_id, ...limits } }),
  );
  expect(reply.statusCode, reply.body).toBe(201);
  return reply.json() as Answer;
}

const limitsOfKey = async (tenant: Tenant) =>
  (await world.send<{ limits: object }>(tenant, 'GET', `/v1/keys/${tenant.key_id}`)).limits;
/** What a gateway that knows the key lets it do. */
const granted = async (tenant: Tenant) => (await harness.keys.verify(tenant.key)).limits;
const events = async (tenant: Tenant) =>
  (
    await pool.query<{ topic: string; payload: object }>({
      name: '',
      text: `select topic, payload from outbox where org_id = $1 and topic = 'limit.request.updated' order by outbox_id`,
      values: [tenant.org.id],
    })
  ).rows.map(({ payload }) => payload);

test('what is within the plan is granted in the answer, and holds where the key is known', async () => {
  const tenant = await payg('within');
  expect((await granted(tenant)).key.rpm).toBe(null);
  const { status, applied, ticket } = await ask(tenant, { rpm: 300, concurrency: 7, reason: 'a sale' });
  expect([status, ticket.status]).toEqual(['approved', 'approved']);
  expect(applied).toEqual({ rpm: 300, tpm: 1_000_000, concurrency: 7 });
  expect(ticket.body).toEqual({
    key_id: tenant.key_id,
    requested: { rpm: 300, tpm: null, concurrency: 7 },
    current: { rpm: 300, tpm: 1_000_000, concurrency: 20 },
    plan_max: { rpm: 300, tpm: 1_000_000, concurrency: 20 },
    reason: 'a sale',
  });
  expect(await limitsOfKey(tenant)).toEqual({ rpm: 300, tpm: null, concurrency: 7 });
  expect((await granted(tenant)).key).toEqual({ rpm: 300, tpm: null, concurrency: 7 });
  expect(await events(tenant)).toEqual([
    { ticket_id: ticket.id, kind: 'limit_increase', status: 'approved' },
  ]);
});

test('one above the plan is open, changes nothing, and is listed', async () => {
  const tenant = await payg('beyond');
  const { status, applied, ticket } = await ask(tenant, { rpm: 301, tpm: 5 });
  expect([status, ticket.status]).toEqual(['open', 'open']);
  expect(applied).toEqual({ rpm: 300, tpm: 1_000_000, concurrency: 20 });
  expect(await limitsOfKey(tenant)).toEqual({ rpm: null, tpm: null, concurrency: null });
  const list = await world.send<{ object: string; data: { id: string }[] }>(
    ...([tenant, 'GET', '/v1/limits/requests'] as const),
  );
  expect([list.object, list.data.map(({ id }) => id)]).toEqual(['list', [ticket.id]]);
  expect(await events(tenant)).toEqual([]);
});

test('of two hundred requests at once three are granted, and a rotated key has none left', async () => {
  const tenant = await payg('many');
  const asked = Array.from({ length: 200 }, (_, n) => ask(tenant, { rpm: 100 + n }));
  const answers = await Promise.all(asked);
  const of = (wanted: string) => answers.filter(({ status }) => status === wanted);
  expect([of('approved').length, of('open').length]).toEqual([3, 197]);
  const rpms = of('approved').map(({ applied }) => applied.rpm);
  expect(rpms).toContain(((await limitsOfKey(tenant)) as { rpm: number }).rpm);
  const next = await world.send<{ id: string }>(tenant, 'POST', `/v1/keys/${tenant.key_id}/rotate`, {
    grace_seconds: 60,
  });
  expect((await ask(tenant, { rpm: 90 }, next.id)).status).toBe('open');
  // A day later there is room again.
  const day = `update limit_request set created_at = created_at - interval '24 hours' where org_id = $1`;
  await pool.query({ name: '', text: day, values: [tenant.org.id] });
  expect((await ask(tenant, { rpm: 90 }, next.id)).status).toBe('approved');
});

test('a key that is being replaced or has ended waits for a person; one of others does not exist', async () => {
  const tenant = await payg('ended');
  const { id } = await harness.makeKey(tenant);
  await world.send(tenant, 'DELETE', `/v1/keys/${id}`);
  const { ticket } = await ask(tenant, { rpm: 10 }, id);
  expect(ticket.status).toBe('open');
  await expect(approveRequest(context, { id: ticket.id, answer: '' })).rejects.toMatchObject({
    code: 'state_conflict',
    details: { state: 'revoked' },
  });
  for (const key_id of [harness.a.key_id, 'key_x', '']) {
    const reply = await harness.call('POST', '/v1/limits/requests', {
      ...{ key: tenant.key, body: { key_id, rpm: 1 } },
    });
    expect([key_id, reply.statusCode]).toEqual([key_id, 404]);
  }
  // A test key does not see live keys.
  const blind = await harness.call('POST', '/v1/limits/requests', {
    ...{ key: tenant.test_key, body: { key_id: tenant.key_id, rpm: 1 } },
  });
  expect(blind.statusCode).toBe(404);
});

test('a request that names no limit, or one that is none, is refused with the member', async () => {
  const tenant = await payg('wrong');
  for (const [body, param] of [
    [{}, 'rpm'],
    [{ reason: 'more' }, 'rpm'],
    [{ rpm: 0 }, 'rpm'],
    [{ tpm: 2 ** 31 }, 'tpm'],
    [{ concurrency: 1.5 }, 'concurrency'],
    [{ rpm: null }, 'rpm'],
    [{ rpm: 1, reason: 'x'.repeat(501) }, 'reason'],
  ] as const) {
    const reply = await harness.call('POST', '/v1/limits/requests', {
      ...{ key: tenant.key, body: { key_id: tenant.key_id, ...body } },
    });
    expect([reply.statusCode, reply.json().error.param]).toEqual([400, param]);
  }
  expect((await world.send<{ data: [] }>(tenant, 'GET', '/v1/limits/requests')).data).toEqual([]);
});

test('staff grant what lies beyond the plan: an override of the organization that a gateway obeys', async () => {
  const tenant = await payg('granted');
  const owner = await harness.makePerson(tenant, 'owner');
  await harness.makePerson(tenant, 'admin');
  const { ticket } = await ask(
    tenant,
    { rpm: 900, concurrency: 5 },
    tenant.key_id,
    await harness.signIn(owner),
  );
  expect(ticket.created_by).toBe(owner.id);
  expect((await granted(tenant)).plan).toMatchObject({ rpm: 300 });
  const done = await approveRequest(context, { id: ticket.id, answer: 'Good luck.', instead: { rpm: 800 } });
  expect(done).toMatchObject({ status: 'approved', resolution: 'Good luck.' });
  // Nothing was dropped by hand: the ring hears of it.
  await expect.poll(async () => (await granted(tenant)).plan.rpm, { timeout: 1_000 }).toBe(800);
  expect((await granted(tenant)).plan).toMatchObject({ tpm: 1_000_000, concurrency: 20 });
  expect((await granted(tenant)).key).toEqual({ rpm: 800, tpm: null, concurrency: 5 });
  const view = await world.send<{ plan: object }>(tenant, 'GET', '/v1/limits');
  expect(view.plan).toMatchObject({ rpm: 800, keys: 20 });
  // A second key may now be given as much without a person.
  const { id } = await harness.makeKey(tenant);
  expect((await ask(tenant, { rpm: 800 }, id)).status).toBe('approved');
  expect(await events(tenant)).toMatchObject([{ ticket_id: ticket.id, status: 'approved' }, {}]);
  // Who asked is written to, and nobody else.
  expect(await world.mails(tenant)).toMatchObject([
    {
      ...{ template: 'limit_request_updated', recipient: owner.email },
      data: { status: 'approved', rpm: 800, tpm: 1_000_000, concurrency: 5, answer: 'Good luck.' },
    },
  ]);
  // A larger plan is not narrowed by the grant, and a smaller one later still has it.
  await putOnPlan(context, tenant.org.id, {
    plan_id: 'team',
    applies: 'now',
    free_months: 0,
    reason: 'by agreement',
  });
  await expect.poll(async () => (await granted(tenant)).plan.rpm, { timeout: 1_000 }).toBe(1_500);
});

test('a refusal leaves the limits, and owners and admins hear of it where a key of nobody asked', async () => {
  const tenant = await payg('refused');
  await harness.makePerson(tenant, 'owner');
  await harness.makePerson(tenant, 'developer');
  const { ticket } = await ask(tenant, { tpm: 2_000_000 });
  const done = await refuseRequest(context, { id: ticket.id, answer: 'The plan team has room.' });
  expect(done).toMatchObject({ status: 'rejected', resolution: 'The plan team has room.' });
  expect(await limitsOfKey(tenant)).toEqual({ rpm: null, tpm: null, concurrency: null });
  expect(await world.mails(tenant)).toMatchObject([
    {
      template: 'limit_request_updated',
      recipient: expect.stringMatching(/^owner/),
      data: { status: 'rejected', answer: 'The plan team has room.' },
    },
  ]);
});

test('of many decisions at once one counts', async () => {
  const tenant = await payg('decided');
  const { ticket } = await ask(tenant, { rpm: 500 });
  const { id } = ticket;
  const decisions = await Promise.allSettled(
    Array.from({ length: 12 }, (_, n) =>
      n % 2 === 0
        ? approveRequest(context, { id, answer: '' })
        : refuseRequest(context, { id, answer: 'no' }),
    ),
  );
  const done = decisions.flatMap((one) => (one.status === 'fulfilled' ? [one.value.status] : []));
  const refused = decisions.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
  expect([done.length, [...new Set(refused)]]).toEqual([1, ['state_conflict']]);
  const org = await findOrg(pool, tenant.org.id);
  expect(org?.limit_overrides).toEqual(done[0] === 'approved' ? { rpm: 500 } : {});
  expect(await events(tenant)).toMatchObject([{ status: done[0] }]);
});

test('an override is withdrawn as it was set, and the plan holds again', async () => {
  const tenant = await payg('withdrawn');
  const { org } = tenant;
  const set = (limits: object, reason = 'agreed') =>
    overrideLimits(context, { org_id: org.id, limits, reason });
  expect(await set({ rpm: 900, tpm: 9_000_000 })).toEqual({ rpm: 900, tpm: 9_000_000 });
  await expect.poll(async () => (await granted(tenant)).plan.rpm, { timeout: 1_000 }).toBe(900);
  expect(await set({ rpm: null }, 'the sale is over')).toEqual({ tpm: 9_000_000 });
  await expect.poll(async () => (await granted(tenant)).plan.rpm, { timeout: 1_000 }).toBe(300);
  const { rows } = await pool.query<{ action: string; reason: string; after: object }>({
    name: '',
    text: `select action, reason, after from audit_entry where org_id = $1 and action = 'staff.limits.override'
            order by id`,
    values: [org.id],
  });
  expect(rows.at(-1)).toMatchObject({
    reason: 'the sale is over',
    after: { limit_overrides: { tpm: 9_000_000 } },
  });
});
