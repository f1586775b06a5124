// What an acceptance that is owed stops: purchases and keys after two weeks, calls after sixty days; no call asks for it.
import { shiftClock } from '@svc/core/kernel/index.ts';
import { grantOfRun } from '@svc/core/keys/index.ts';
import { changeLegalSetting, publishVersion } from '@svc/core/legal/index.ts';
import { afterEach, expect, test } from 'vitest';
import type { Tenant } from '../registry/harness.ts';
import { startSharedGateway } from '../support/shared-gateway.ts';
import { DAY_MS, startLegalWorld } from './world.ts';

const world = await startLegalWorld();
const { call, keys, makeTenant, makePerson, signIn, staff, rows } = world;
const gateway = await startSharedGateway({ database_url: world.url });

afterEach(() => shiftClock(0));

const acceptAll = async (session: string) => {
  for (const kind of ['tos', 'dpa'])
    await call('POST', `/v1/legal/documents/${kind}/accept`, {
      key: session,
      body: { version: '2026-11-01' },
    });
};
const newKey = (tenant: Tenant) =>
  call('POST', '/v1/keys', {
    ...{ key: tenant.key, body: { project_id: tenant.live.id, name: 'a key', scopes: ['inference'] } },
  });
const buy = (tenant: Tenant) =>
  call('POST', '/v1/credits/topups', { key: tenant.key, body: { amount_minor: 1_000 } });

/** A call of a test key to the running gateway: its status and the reason of a refusal. */
async function infer(secret: string): Promise<unknown> {
  const answer = await fetch(`${gateway.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'hello' }] }),
  });
  const { error } = (await answer.json()) as { error?: { code: string; details: { reason?: string } } };
  return error === undefined ? answer.status : `${error.code} ${error.details.reason}`;
}

/** As if all that counts had happened `ago_ms` earlier: organizations, publications, and that acceptances bind. */
async function ageBy(org_id: string, ago_ms: number): Promise<void> {
  const then = new Date(Date.now() - ago_ms);
  await rows('update org set created_at = $2 where id = $1', [org_id, then]);
  await rows(`update legal_version set published_at = $1, effective_at = $1 where version = '2026-11-01'`, [
    then,
  ]);
  await world.insist(then);
}

test('money in and new keys stop two weeks after something is owed, and go on when it is accepted', async () => {
  const tenant = await makeTenant('two-weeks');
  await world.insist();
  shiftClock(14 * DAY_MS - 60_000);
  expect((await newKey(tenant)).statusCode).toBe(201);
  expect((await buy(tenant)).json().error.code).toBe('rail_unavailable');
  shiftClock(14 * DAY_MS + 60_000);
  for (const answer of [await newKey(tenant), await buy(tenant)]) {
    expect(answer.statusCode).toBe(403);
    expect(answer.json().error.code).toBe('legal_acceptance_required');
  }
  const mandate = { method: 'card' };
  expect(
    (await call('POST', '/v1/credits/mandates', { key: tenant.key, body: mandate })).json().error.code,
  ).toBe('legal_acceptance_required');
  await acceptAll(await signIn(await makePerson(tenant, 'owner')));
  expect((await newKey(tenant)).statusCode).toBe(201);
  expect((await buy(tenant)).json().error.code).toBe('rail_unavailable');
});

test('one of the two that are owed is not enough, and a rotation stays possible', async () => {
  const tenant = await makeTenant('one-of-two');
  await world.insist();
  const accept = { key: tenant.key, body: { version: '2026-11-01' } };
  await call('POST', '/v1/legal/documents/tos/accept', accept);
  shiftClock(15 * DAY_MS);
  expect((await newKey(tenant)).json().error.code).toBe('legal_acceptance_required');
  const rotated = await call('POST', `/v1/keys/${tenant.key_id}/rotate`, { key: tenant.key, body: {} });
  expect(rotated.statusCode, rotated.body).toBe(201);
});

test('nothing is stopped before staff insist, and nobody is stopped at once when they do', async () => {
  const tenant = await makeTenant('not-insisted');
  await rows(`delete from settings where name = 'legal'`);
  shiftClock(400 * DAY_MS);
  expect((await newKey(tenant)).statusCode).toBe(201);
  await rows(
    `insert into settings (name, value, updated_at) values ('supplier', $1, now())
              on conflict (name) do nothing`,
    [JSON.stringify({ legal_name: 'Acme Private Limited', address: ['1 Road'], state_code: '29' })],
  );
  await expect(changeLegalSetting(staff, { enforced: true })).rejects.toMatchObject({
    ...{ code: 'state_conflict', details: { missing: ['grievance_officer', 'dpo_email'] } },
  });
  const complete = { grievance_officer: 'Officer', dpo_email: 'dpo@svc.example', enforced: true };
  await changeLegalSetting(staff, complete);
  expect((await newKey(tenant)).statusCode).toBe(201);
  shiftClock(413 * DAY_MS);
  expect((await newKey(tenant)).statusCode).toBe(201);
  shiftClock(415 * DAY_MS);
  expect((await newKey(tenant)).json().error.code).toBe('legal_acceptance_required');
});

test('calls stop sixty days after, of a key that is in the memory of the gateway too, until an owner accepts', async () => {
  const tenant = await makeTenant('sixty-days');
  await ageBy(tenant.org.id, 60 * DAY_MS - 3_000);
  expect(await infer(tenant.test_key)).toBe(200);
  await expect.poll(() => infer(tenant.test_key), { timeout: 20_000 }).toBe('org_inactive legal');
  // Only calls: a key still reads and accepts.
  expect((await call('GET', '/v1/legal/documents', { key: tenant.key })).statusCode).toBe(200);
  await acceptAll(tenant.key);
  await expect.poll(() => infer(tenant.test_key), { timeout: 20_000 }).toBe(200);
});

test('runs of evaluations stop as calls do, whether a key or a person has started them', async () => {
  const tenant = await makeTenant('runs-stop');
  const { key_id, live, org } = tenant;
  const run = {
    run_id: 'er_1',
    org_id: org.id,
    project_id: live.id,
    environment: 'live',
    key_no: 1,
  } as const;
  const admit = (by: typeof key_id | null) =>
    grantOfRun({ db: world.pool, root_key: Buffer.alloc(32, 7) }, { ...run, key_id: by });
  await ageBy(org.id, 59 * DAY_MS);
  expect(await admit(key_id)).toMatchObject({ key_id });
  await ageBy(org.id, 61 * DAY_MS);
  for (const by of [key_id, null])
    await expect(admit(by)).rejects.toMatchObject({ code: 'org_inactive', details: { reason: 'legal' } });
});

test('when staff no longer insist, calls go on within a moment', async () => {
  const tenant = await makeTenant('set-free');
  await ageBy(tenant.org.id, 61 * DAY_MS);
  expect(await infer(tenant.test_key)).toBe('org_inactive legal');
  await changeLegalSetting(staff, { enforced: false });
  await expect.poll(() => infer(tenant.test_key), { timeout: 20_000 }).toBe(200);
});

test('a key that was looked up once is verified without a question to the database', async () => {
  const tenant = await makeTenant('no-question');
  await world.insist();
  const first = await keys.verify(tenant.key);
  expect(first.calls_end_at?.getTime()).toBeGreaterThan(Date.now() + 59 * DAY_MS);
  const again = keys.verify(tenant.key);
  expect(again).not.toBeInstanceOf(Promise);
  expect(again).toBe(first);
});

test('a later version does not begin the time anew, and its acceptance covers what was owed before', async () => {
  const tenant = await makeTenant('later-version');
  await world.insist();
  await publishVersion(staff, {
    ...{ kind: 'tos', version: '2027-01-01', title: 'Terms of service', summary: 'Clearer.' },
    ...{ requires_acceptance: true, text: '# Terms' },
  });
  const end = (since: Date) => since.getTime();
  const since = async () => {
    const [row] = await rows<{ since: Date | null }>('select legal_outstanding_since($1) as since', [
      tenant.org.id,
    ]);
    return row?.since ?? null;
  };
  expect(end((await since()) as Date)).toBeLessThan(Date.now() + 1_000);
  await acceptAll(tenant.key);
  // What comes in thirty days is owed from then on, not before.
  expect(end((await since()) as Date)).toBeGreaterThan(Date.now() + 29 * DAY_MS);
  shiftClock(31 * DAY_MS);
  const accept = { key: tenant.key, body: { version: '2027-01-01', signer_name: 'Ann' } };
  expect((await call('POST', '/v1/legal/documents/tos/accept', accept)).statusCode).toBe(201);
  expect(await since()).toBeNull();
});
