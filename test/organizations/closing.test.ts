// Closing an organization: who may, what stops at once, and what its owners can still read.
import { closeOrg } from '@svc/core/closing/index.ts';
import { shiftClock } from '@svc/core/kernel/index.ts';
import { relayParts } from '@svc/core/operations/index.ts';
import { relayOutbox } from '@svc/core/webhooks/index.ts';
import { afterEach, expect, test } from 'vitest';
import { codeOf, type Tenant } from '../registry/harness.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { b, call, context, makeKey, makePerson, makeTenant, pool, signIn } = world;
const DAY_MS = 86_400_000;
let serial = 0;
const rows = async <T>(text: string, values: unknown[]) =>
  (await pool.query<T>({ name: '', text, values })).rows;

interface Owned extends Tenant {
  readonly owner: string;
  readonly email: string;
  readonly user_id: string;
  readonly password: string;
}

/** An organization whose owner is signed in. */
async function owned(): Promise<Owned> {
  const tenant = await makeTenant(`closing-${++serial}`);
  const person = await makePerson(tenant, 'owner');
  const { email, password, id: user_id } = person;
  return { ...tenant, owner: await signIn(person), email, password, user_id };
}
const close = ({ org }: Tenant, key: string, body: object = {}) =>
  call('POST', `/v1/orgs/${org.id}/close`, { key, body: { confirm: org.slug, ...body } });
const refusal = (response: Awaited<ReturnType<typeof close>>) => [response.statusCode, codeOf(response)];
const statusOf = async ({ org }: Tenant) =>
  (await rows<{ status: string }>('select status from org where id = $1', [org.id]))[0]?.status;

afterEach(() => shiftClock(0));

test('keys, endpoints, invitations and automatic top-up end in the transaction that closes', async () => {
  const tenant = await owned();
  const { org, key, owner } = tenant;
  const invite = { email: 'guest@closing.example', role: 'viewer' };
  await call('POST', `/v1/orgs/${org.id}/invitations`, { key: owner, body: invite });
  await rows(
    `insert into webhook (id, org_id, url, events, secret_sealed, secret_hint, created_at, updated_at)
     values ('wh_' || substr($1, 5), $1, 'https://hooks.example/a', '{*}', '\\x00', 'abcd', now(), now())`,
    [org.id],
  );
  await rows(
    `insert into auto_topup (org_id, enabled, threshold_micro, amount_minor, updated_at) values ($1, true, 1, 1, now())`,
    [org.id],
  );
  const answer = await close(tenant, owner);
  expect(answer.statusCode, answer.body).toBe(200);
  expect(answer.json()).toMatchObject({ id: org.id, status: 'closed', closed_at: expect.any(String) });
  expect(refusal(await call('GET', '/v1/credits', { key }))).toEqual([401, 'invalid_api_key']);
  const left = await rows(
    `select (select count(*)::int from api_key where org_id = $1 and status <> 'revoked') as keys,
            (select disabled_reason from webhook where org_id = $1) as webhook,
            (select string_agg(status, ',') from invitation where org_id = $1) as invitations,
            (select disabled_reason from auto_topup where org_id = $1 and not enabled) as auto,
            (select count(*)::int from mail where org_id = $1 and template = 'org_closed') as mails,
            (select type from workflow_start where workflow_id = 'close-' || $1) as workflow`,
    [org.id],
  );
  expect(left).toEqual([
    {
      ...{ keys: 0, webhook: 'org_closed', invitations: 'revoked', auto: 'org_closed' },
      ...{ mails: 1, workflow: 'orgClose' },
    },
  ]);
  const [entry] = await rows<{ after: object }>(
    `select after from audit_entry where org_id = $1 and action = 'orgs.close'`,
    [org.id],
  );
  expect(entry?.after).toMatchObject({ status: 'closed', refund_requested: false, keys: 2, webhooks: 1 });
});

test('an endpoint hears of the closing and of nothing that comes after it', async () => {
  const tenant = await owned();
  const { org } = tenant;
  await rows(
    `insert into webhook (id, org_id, url, events, secret_sealed, secret_hint, created_at, updated_at)
     values ('wh_' || substr($1, 5), $1, 'https://hooks.example/b', '{*}', '\\x00', 'abcd', now(), now())`,
    [org.id],
  );
  await relayOutbox(pool, relayParts(context.log));
  await close(tenant, tenant.owner);
  await rows(
    `insert into outbox (org_id, topic, payload, created_at) values ($1, 'plan.changed', '{}', now())`,
    [org.id],
  );
  await relayOutbox(pool, relayParts(context.log));
  const queued = await rows(
    `select e.type, d.status from webhook_delivery d join webhook_event e on e.id = d.event_id
      where d.org_id = $1 and e.created_at >= (select closed_at from org where id = $1)`,
    [org.id],
  );
  expect(queued).toEqual([{ type: 'org.closed', status: 'queued' }]);
});

test('only an owner closes, or a key that an owner made; the slug must be typed as it is', async () => {
  const tenant = await owned();
  const admin = await makePerson(tenant, 'admin');
  const of_admin = await makeKey(tenant, { created_by: admin.id });
  const outsider = await signIn(await makePerson(b, 'owner'));
  expect(refusal(await close(tenant, await signIn(admin)))).toEqual([403, 'permission_denied']);
  expect(refusal(await close(tenant, of_admin.secret))).toEqual([403, 'permission_denied']);
  expect(refusal(await close(tenant, tenant.test_key))).toEqual([403, 'sandbox_key_not_allowed']);
  expect(refusal(await close(tenant, outsider))).toEqual([404, 'not_found']);
  expect(refusal(await close(tenant, b.key))).toEqual([404, 'not_found']);
  for (const confirm of ['', tenant.org.slug.toUpperCase(), `${tenant.org.slug} `, b.org.slug])
    expect(refusal(await close(tenant, tenant.owner, { confirm }))).toEqual([400, 'confirm_mismatch']);
  expect(refusal(await close(tenant, tenant.owner, { confirm: 7 }))).toEqual([400, 'invalid_request']);
  expect(await statusOf(tenant)).toBe('active');
  const of_owner = await makeKey(tenant, { created_by: tenant.user_id as never });
  expect((await close(tenant, of_owner.secret)).statusCode).toBe(200);
  expect(await statusOf(tenant)).toBe('closed');
});

test('of twenty who close at once one closes it', async () => {
  const tenant = await owned();
  const answers = await Promise.all(Array.from({ length: 20 }, () => close(tenant, tenant.owner)));
  const codes = answers.map(({ statusCode }) => statusCode).sort();
  expect(codes).toEqual([200, ...Array.from({ length: 19 }, () => 409)]);
  const written = await rows(
    `select (select count(*)::int from audit_entry where org_id = $1 and action = 'orgs.close') as entries,
            (select count(*)::int from mail where org_id = $1 and template = 'org_closed') as mails`,
    [tenant.org.id],
  );
  expect(written).toEqual([{ entries: 1, mails: 1 }]);
  expect(refusal(await close(tenant, tenant.owner))).toEqual([409, 'org_closed']);
});

test('a closing that must be proved asks for the password again', async () => {
  const tenant = await owned();
  shiftClock(16 * 60_000);
  expect(refusal(await close(tenant, tenant.owner))).toEqual([403, 'reauthentication_required']);
  expect(await statusOf(tenant)).toBe('active');
});

const READABLE = [
  ...['/v1/invoices', '/v1/credits', '/v1/credits/ledger', '/v1/credits/lots', '/v1/credits/topups'],
  ...['/v1/credits/refunds', '/v1/orgs'],
];
const REFUSED = [
  ['GET', '/v1/keys'],
  ['GET', '/v1/webhooks'],
  ['GET', '/v1/usage'],
  ['GET', '/v1/audit-log'],
  ['POST', '/v1/projects'],
  ['POST', '/v1/credits/topups'],
  ['POST', '/v1/credits/checkin'],
] as const;

test('for 90 days an owner signs in and reads invoices and ledger; everything else is 409', async () => {
  const tenant = await owned();
  const { org, email, password } = tenant;
  const viewer = await makePerson(tenant, 'viewer');
  await close(tenant, tenant.owner);
  shiftClock(89 * DAY_MS);
  const owner = await signIn({ email, password });
  for (const path of READABLE)
    expect([path, (await call('GET', path, { key: owner })).statusCode]).toEqual([path, 200]);
  expect((await call('GET', `/v1/orgs/${org.id}`, { key: owner })).json().status).toBe('closed');
  for (const [method, path] of REFUSED)
    expect([path, ...refusal(await call(method, path, { key: owner }))]).toEqual([path, 409, 'org_closed']);
  const session = (await call('GET', '/v1/auth/session', { key: owner })).json();
  expect(session).toMatchObject({ barred: 'org_closed', org: { id: org.id, status: 'closed' } });
  const other = await signIn(viewer);
  for (const path of READABLE.filter((path) => path !== '/v1/orgs'))
    expect([path, ...refusal(await call('GET', path, { key: other }))]).toEqual([path, 409, 'org_closed']);
  shiftClock(90 * DAY_MS);
  const late = await signIn({ email, password });
  expect(refusal(await call('GET', '/v1/invoices', { key: late }))).toEqual([409, 'org_closed']);
});

test('what staff close is closed the same way, and says who did it and why', async () => {
  const tenant = await owned();
  const { org, key } = tenant;
  await closeOrg(context, {
    ...{ org_id: org.id, confirm: null, refund_requested: true, action: 'staff.orgs.close' },
    reason: 'asked by telephone',
  });
  expect((await call('GET', '/v1/credits', { key })).statusCode).toBe(401);
  expect(await rows('select refund_requested from org_closing where org_id = $1', [org.id])).toEqual([
    { refund_requested: true },
  ]);
  expect(
    await rows(
      `select actor_type, reason from audit_entry where org_id = $1 and action = 'staff.orgs.close'`,
      [org.id],
    ),
  ).toEqual([{ actor_type: 'staff', reason: 'asked by telephone' }]);
});
