// Who may export an organization, how often, for how long, and who hears of it.
import { shiftClock } from '@svc/core/kernel/index.ts';
import { requestOrgErasure } from '@svc/core/org-erasure/index.ts';
import { changeTerms } from '@svc/core/orgs/index.ts';
import { afterEach, expect, test } from 'vitest';
import { startWorld } from '../organizations/world.ts';
import { codeOf } from '../registry/harness.ts';
import { staffContext } from '../support/provision.ts';
import { exportOf, linesOf, makeExport, ownerOf } from './exports.ts';

const world = await startWorld();
const { b, call, makePerson, makeTenant, pool, signIn } = world;
const staff = staffContext(pool);
const HOUR_MS = 3_600_000;
afterEach(() => shiftClock(0));

const rows = async <Row>(text: string, values: readonly unknown[] = []) =>
  (await pool.query<Row>({ name: '', text, values })).rows;
const refusal = (answer: Awaited<ReturnType<typeof call>>) => [answer.statusCode, codeOf(answer)];
const theirs = await ownerOf(world, b);

test('owners alone make and download one; keys, other roles, strangers and who is not signed in do not', async () => {
  const tenant = await makeTenant('roles');
  const owner = await ownerOf(world, tenant);
  const { path } = (await makeExport(world, tenant, owner)).json() as { path: string };
  const list = `/v1/orgs/${tenant.org.id}/exports`;
  for (const role of ['admin', 'developer', 'billing', 'viewer'] as const) {
    const other = await signIn(await makePerson(tenant, role));
    expect(refusal(await makeExport(world, tenant, other))).toEqual([403, 'permission_denied']);
    for (const url of [list, path]) expect(refusal(await call('GET', url, { key: other }))[0]).toBe(403);
  }
  for (const key of [tenant.key, tenant.test_key]) {
    expect(refusal(await makeExport(world, tenant, key))).toEqual([403, 'session_required']);
    expect(refusal(await call('GET', path, { key }))).toEqual([403, 'session_required']);
  }
  expect(refusal(await makeExport(world, tenant, theirs))).toEqual([404, 'not_found']);
  expect(refusal(await call('GET', path, { key: theirs }))).toEqual([404, 'not_found']);
  expect(refusal(await call('GET', path.replace(tenant.org.id, b.org.id), { key: theirs }))).toEqual([
    404,
    'not_found',
  ]);
  expect((await call('GET', path)).statusCode).toBe(401);
  expect((await call('GET', list, { key: owner })).json()).toMatchObject({ data: [{ downloads: 0, path }] });
});

test('a link lives 24 hours and can be downloaded twenty times; then it is gone', async () => {
  const tenant = await makeTenant('lapses');
  const owner = await ownerOf(world, tenant);
  const made = (await makeExport(world, tenant, owner)).json() as { id: string; path: string };
  shiftClock(24 * HOUR_MS - 60_000);
  const later = await signIn(await makePerson(tenant, 'owner'));
  expect((await call('GET', made.path, { key: later })).statusCode).toBe(200);
  shiftClock(24 * HOUR_MS + 1_000);
  const gone = await call('GET', made.path, { key: later });
  expect(refusal(gone)).toEqual([410, 'gone']);
  expect(gone.json()).toMatchObject({ error: { details: { reason: 'lapsed' } } });
  shiftClock(0);
  await rows(`update org_export set downloads = 20 where id = $1`, [made.id]);
  expect((await call('GET', made.path, { key: owner })).json()).toMatchObject({
    error: { code: 'gone', details: { reason: 'used_up' } },
  });
});

test('of ten that are asked for at once five are made, and a sixth after 24 hours', async () => {
  const tenant = await makeTenant('often');
  const owner = await ownerOf(world, tenant);
  const answers = await Promise.all(Array.from({ length: 10 }, () => makeExport(world, tenant, owner)));
  const refused = answers.filter(({ statusCode }) => statusCode === 429);
  expect([answers.length - refused.length, refused.length]).toEqual([5, 5]);
  expect(refused[0]?.json()).toMatchObject({
    error: { code: 'rate_limit_exceeded', details: { limit: 'exports', limit_value: 5 } },
  });
  expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThan(86_000);
  shiftClock(24 * HOUR_MS + 1_000);
  const fresh = await signIn(await makePerson(tenant, 'owner'));
  expect((await makeExport(world, tenant, fresh)).statusCode).toBe(201);
});

test('owners get a mail that says who made one, and both the making and each download are in the audit log', async () => {
  const tenant = await makeTenant('told');
  const [one, other, admin] = [
    await makePerson(tenant, 'owner'),
    await makePerson(tenant, 'owner'),
    await makePerson(tenant, 'admin'),
  ];
  await exportOf(world, tenant, await signIn(one));
  expect(
    await Promise.all([one, other, admin].map(({ email }) => world.mailsTo('org_export', email))),
  ).toEqual([1, 1, 0]);
  const [mail] = await rows<{ data: object }>(
    `select data from mail where template = 'org_export' and org_id = $1`,
    [tenant.org.id],
  );
  expect(mail?.data).toMatchObject({ by: one.email, org: 'told' });
  const entries = await rows<{ action: string; actor_id: string; target_type: string }>(
    `select action, actor_id, target_type from audit_entry where org_id = $1 and action like 'orgs.exports.%' order by id`,
    [tenant.org.id],
  );
  expect(entries).toEqual(
    ['orgs.exports.create', 'orgs.exports.get'].map((action) => ({
      ...{ action, actor_id: one.id, target_type: 'org_export' },
    })),
  );
});

test('a suspended organization can be exported, and so can a closed one for as long as its owner reads', async () => {
  const tenant = await makeTenant('leaves');
  const owner = await ownerOf(world, tenant);
  await changeTerms(staff, tenant.org.id, { status: 'suspended' });
  expect((await exportOf(world, tenant, owner)).size).toBeGreaterThan(30);
  await changeTerms(staff, tenant.org.id, { status: 'active' });
  const closed = await call('POST', `/v1/orgs/${tenant.org.id}/close`, {
    key: owner,
    body: { confirm: tenant.org.slug },
  });
  expect(closed.statusCode, closed.body).toBe(200);
  const files = await exportOf(world, tenant, owner);
  expect(linesOf(files, 'organization')).toMatchObject([{ status: 'closed' }]);
});

test('until its erasure begins an organization can be exported, and from then on not', async () => {
  const tenant = await makeTenant('erasing');
  const owner = await ownerOf(world, tenant);
  const org_id = tenant.org.id;
  await requestOrgErasure(staff, { org_id, refund_requested: false, action: 'orgs.erasure.request' });
  const made = await makeExport(world, tenant, owner);
  expect(made.statusCode).toBe(201);
  const { path } = made.json() as { path: string };
  expect((await call('GET', path, { key: owner })).statusCode).toBe(200);
  for (const status of ['closing', 'running']) {
    await rows(`update org_erasure set status = $2, began_at = now() where org_id = $1`, [org_id, status]);
    expect(refusal(await makeExport(world, tenant, owner))).toEqual([409, 'state_conflict']);
    expect(refusal(await call('GET', path, { key: owner }))).toEqual([409, 'state_conflict']);
  }
  expect(world.defects).toEqual([]);
});
