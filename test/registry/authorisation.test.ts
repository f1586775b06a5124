// Every operation with every kind of caller. The list of operations is the registry, so a new one is walked too.
import { createStaff } from '@svc/core/identity/index.ts';
import {
  type Operation,
  type ResellerGrant,
  type Role,
  resellerGrants,
  type Scope,
  scopes,
} from '@svc/core/kernel/index.ts';
import { coversScope, newKeySecret } from '@svc/core/keys/index.ts';
import { admittingRoles, operations } from '@svc/core/operations/index.ts';
import { changeTerms, setMemberGrants, setOrgStatus, suspendForPayments } from '@svc/core/orgs/index.ts';
import { describe, expect, test } from 'vitest';
import { codeOf, type Method, startHarness } from './harness.ts';

const harness = await startHarness();
const { a } = harness;
const keyed = operations.filter((operation) => operation.audience.kind === 'key');

/** A path that leads to nothing, with ids of the right shape. */
function pathOf(operation: Operation): string {
  const ulid = '01KACZ3V8S6T5R4Q3P2N1M0K9J';
  return operation.path
    .replace('/v1/orgs/:id', `/v1/orgs/${a.org.id}`)
    .replace(':id', operation.path.startsWith('/v1/keys') ? `key_${ulid}` : ulid)
    .replace(':delivery', '1')
    .replace(':vendor', 'nobody')
    .replaceAll(/:[a-z_]+/g, 'nothing');
}

/** A request whose body is broken: whoever may not call learns nothing of that. */
function request(
  operation: Operation,
  options: { key?: string; headers?: Record<string, string | string[]> },
) {
  const has_body = ['POST', 'PATCH', 'PUT'].includes(operation.method);
  return harness.call(operation.method as Method, pathOf(operation), {
    ...options,
    ...(has_body ? { body: '{"no such field":1' } : {}),
  });
}

function isAdmitted(operation: Operation, held: readonly Scope[], environment: 'live' | 'test'): boolean {
  const { audience } = operation;
  if (audience.kind !== 'key') throw new Error('walked by another test');
  if (audience.sandbox === 'only' && environment === 'live') return false;
  if (audience.sandbox === false && environment === 'test') return false;
  return audience.scopes === 'any' || audience.scopes.some((scope) => coversScope(held, scope));
}

const takesXApiKey = (operation: Operation) =>
  operation.audience.kind === 'key' && operation.audience.x_api_key === true;

const revoked = await harness.makeKey(a);
await harness.call('DELETE', `/v1/keys/${revoked.id}`, { key: a.key });
const expired = await harness.makeKey(a, { expires_at: new Date(Date.now() - 1) });
const closed = await harness.makeTenant('closed');
await setOrgStatus(harness.pool, { org_id: closed.org.id, status: 'closed', at: new Date() });
const damaged = `${a.key.slice(0, 20)}${a.key[20] === 'a' ? 'b' : 'a'}${a.key.slice(21)}`;
const single = new Map<Scope, { live: string; test: string }>();
for (const scope of scopes) {
  const live = await harness.makeKey(a, { scopes: [scope] });
  const test_key = await harness.makeKey(a, { scopes: [scope], environment: 'test' });
  single.set(scope, { live: live.secret, test: test_key.secret });
}

/** Operations that nobody needs a credential for; each is meant to stand here. */
const open = [
  ...['auth.login', 'auth.login.totp', 'auth.look', 'auth.sso.discover', 'invitations.lookup'],
  ...['auth.register', 'auth.verify_email', 'auth.verify_email.resend'],
  ...['auth.password.forgot', 'auth.password.reset'],
  ...['access_requests.create', 'access_requests.activation', 'access_requests.activate'],
  ...['pricing.fx', 'pricing.get', 'providers.list', 'rankings.get', 'apps.public', 'apps.badge'],
  ...['storefront.get', 'storefront.logo'],
];
const roles = ['owner', 'admin', 'developer', 'billing', 'viewer'] as const satisfies readonly Role[];
const forPeople = operations.filter(({ audience }) => audience.kind === 'key' || audience.kind === 'session');
const sessions = new Map<Role, string>();
for (const role of roles) sessions.set(role, await harness.signIn(await harness.makePerson(a, role)));
const foreigner = await harness.signIn(await harness.makePerson(harness.b, 'owner'));
const homeless_person = await harness.makePerson(a, 'viewer');
await harness.pool.query({
  name: 'test.leave',
  text: 'delete from org_member where user_id = $1',
  values: [homeless_person.id],
});
const homeless = await harness.signIn(homeless_person);
const suspended = await harness.makeTenant('suspended');
const of_suspended = await harness.signIn(await harness.makePerson(suspended, 'owner'));
await setOrgStatus(harness.pool, { org_id: suspended.org.id, status: 'suspended', at: new Date() });
const staff = await createStaff(harness.context, harness.root_key, {
  email: 'ops@svc.example',
  roles: ['super'],
});

const reseller = await harness.makeTenant('reseller');
await changeTerms(harness.context, reseller.org.id, { kind: 'reseller' });
/** People of a reseller: each role without grants, and viewers with one grant each. */
const resellers: { role: Role; grants: readonly ResellerGrant[]; token: string }[] = [];
for (const role of roles) {
  const token = await harness.signIn(await harness.makePerson(reseller, role));
  resellers.push({ role, grants: ['owner', 'admin'].includes(role) ? resellerGrants : [], token });
}
for (const grant of resellerGrants) {
  const person = await harness.makePerson(reseller, 'viewer');
  const of = { org_id: reseller.org.id, user_id: person.id, grants: [grant], at: new Date() };
  await setMemberGrants(harness.pool, of);
  resellers.push({ role: 'viewer', grants: [grant], token: await harness.signIn(person) });
}
const ofResellers = ({ audience }: Operation) =>
  audience.kind === 'session' && audience.reseller !== undefined ? audience.reseller : null;

function admitsRole({ audience }: Operation, role: Role): boolean {
  if (audience.kind === 'key') return audience.session === 'any' || audience.session?.includes(role) === true;
  return audience.kind === 'session' && (audience.roles === 'any' || audience.roles.includes(role));
}

test('every operation has an audience, and none is public but those that are meant to be', () => {
  const kinds = new Set(['key', 'session', 'staff', 'signed']);
  const others = operations.filter(({ audience }) => !kinds.has(audience.kind));
  expect(others.map(({ name }) => name).sort()).toEqual([...open].sort());
});

describe.each(forPeople.map((operation) => [operation.name, operation] as const))(
  '%s, called by people',
  (_name, operation) => {
    const call = (key: string) => request(operation, { key });
    const bypasses =
      operation.audience.kind === 'session' && operation.audience.without_second_factor === true;

    test('admits exactly the roles of its audience, before it looks at the body', async () => {
      for (const [role, token] of sessions) {
        const response = await call(token);
        // What is for resellers is for nobody in another organization.
        if (admitsRole(operation, role) && ofResellers(operation) === null) {
          expect([role, [401, 403].includes(response.statusCode)]).toEqual([role, false]);
        } else {
          expect([role, response.statusCode, codeOf(response)]).toEqual([role, 403, 'permission_denied']);
        }
      }
    });

    test('admits in a reseller exactly who has its grant', async () => {
      const grant = ofResellers(operation);
      if (grant === null) return;
      for (const { role, grants, token } of resellers) {
        const response = await call(token);
        const who = [role, ...grants].join(' ');
        const has_grant = grant === 'any' || grants.includes(grant);
        if (has_grant && admitsRole(operation, role)) {
          expect([who, [401, 403].includes(response.statusCode)]).toEqual([who, false]);
        } else {
          const code = has_grant ? 'permission_denied' : 'grant_required';
          expect([who, response.statusCode, codeOf(response)]).toEqual([who, 403, code]);
        }
      }
    });

    test('knows no token of staff, and no session that is not in force', async () => {
      const strangers = [staff.token, `svc-sess-${'A'.repeat(43)}`, 'svc-sess-short'];
      for (const token of strangers) {
        const response = await call(token);
        expect([token.slice(0, 12), response.statusCode]).toEqual([token.slice(0, 12), 401]);
      }
    });

    test('lets nobody in whose organization is another or none; who is in a suspended one reads alone', async () => {
      const without = await call(homeless);
      const barred = await call(of_suspended);
      if (operation.path.startsWith('/v1/orgs/:id')) {
        // Not a member of the organization that the path names: it is not there.
        for (const token of [homeless, foreigner, of_suspended])
          expect((await call(token)).statusCode).toBe(404);
        return;
      }
      const is_for_anyone = admittingRoles(operation.audience) === 'any';
      expect(without.statusCode === 403).toBe(!is_for_anyone);
      const { audience, method } = operation;
      const stays = method === 'GET' || (audience.kind === 'key' && audience.while_suspended === true);
      if (bypasses) expect([401, 403]).not.toContain(barred.statusCode);
      else if (stays) expect(barred.body).not.toContain('org_inactive');
      else expect([barred.statusCode, codeOf(barred)]).toEqual([403, 'org_inactive']);
    });

    test('is not for keys where it is for people alone', async () => {
      if (operation.audience.kind !== 'session') return;
      for (const key of [a.key, a.test_key]) {
        const response = await call(key);
        expect([response.statusCode, codeOf(response)]).toEqual([403, 'session_required']);
      }
      const nobody = await request(operation, {});
      expect([nobody.statusCode, codeOf(nobody)]).toEqual([401, 'authentication_required']);
    });
  },
);

describe.each(keyed.map((operation) => [operation.name, operation] as const))('%s', (_name, operation) => {
  test('answers 401 and says why to whoever has no valid key', async () => {
    const strangers: [
      string,
      { key?: string; headers?: Record<string, string | string[]> },
      string,
      string?,
    ][] = [
      ['no key', {}, 'authentication_required'],
      ['an empty key', { headers: { authorization: 'Bearer ' } }, 'authentication_required'],
      ['another scheme', { headers: { authorization: `Basic ${a.key}` } }, 'authentication_required'],
      ['a bare key', { headers: { authorization: a.key } }, 'authentication_required'],
      [
        'a doubled header',
        { headers: { authorization: [`Bearer ${a.key}`, `Bearer ${a.key}`] } },
        'authentication_required',
      ],
      [
        'a long header',
        { headers: { authorization: `Bearer ${'x'.repeat(5_000)}` } },
        'authentication_required',
      ],
      ['garbage', { key: "' or 1=1 --" }, 'authentication_required'],
      ['a foreign form', { key: 'sk-proj-0123456789' }, 'invalid_api_key', 'unknown'],
      ['a damaged key', { key: damaged }, 'invalid_api_key', 'checksum'],
      ['a key nobody has', { key: newKeySecret('live') }, 'invalid_api_key', 'unknown'],
      ['a revoked key', { key: revoked.secret }, 'invalid_api_key', 'revoked'],
      ['an expired key', { key: expired.secret }, 'invalid_api_key', 'expired'],
    ];
    for (const [who, options, code, reason] of strangers) {
      const response = await request(operation, options);
      expect([who, response.statusCode, codeOf(response)]).toEqual([who, 401, code]);
      expect(response.headers['www-authenticate']).toBe('Bearer realm="svc"');
      if (reason !== undefined) expect(response.json().error.details.reason).toBe(reason);
    }
  });

  test('takes a key from one place only', async () => {
    const query = await harness.call(
      operation.method as Method,
      `${pathOf(operation)}?api_key=${a.key}&key=${a.key}`,
    );
    expect([query.statusCode, codeOf(query)]).toEqual([401, 'authentication_required']);
    const lower = await request(operation, { headers: { authorization: `bearer ${a.test_key}` } });
    expect(lower.statusCode).not.toBe(401);
    const header = await request(operation, { headers: { 'x-api-key': a.test_key } });
    expect(header.statusCode === 401).toBe(!takesXApiKey(operation));
    if (takesXApiKey(operation)) {
      const both = { authorization: `Bearer ${a.key}`, 'x-api-key': a.test_key };
      expect((await request(operation, { headers: both })).statusCode).toBe(401);
      const same = { authorization: `Bearer ${a.key}`, 'x-api-key': a.key };
      expect((await request(operation, { headers: same })).statusCode).not.toBe(401);
    }
  });

  test('admits exactly the scopes and environments of its audience, before it looks at the body', async () => {
    for (const [scope, pair] of single) {
      for (const environment of ['live', 'test'] as const) {
        const response = await request(operation, { key: pair[environment] });
        const who = `${scope} ${environment}`;
        if (isAdmitted(operation, [scope], environment)) {
          expect([who, [401, 403].includes(response.statusCode)]).toEqual([who, false]);
        } else {
          const code = codeOf(response);
          expect([who, response.statusCode]).toEqual([who, 403]);
          expect(['permission_denied', 'sandbox_key_not_allowed']).toContain(code);
        }
      }
    }
  });

  test('refuses the keys of an organization that is closed', async () => {
    const response = await request(operation, { key: closed.key });
    expect([response.statusCode, codeOf(response)]).toEqual([403, 'org_inactive']);
  });
});

test('a session of an organization that is suspended for a lost payment is told so, as its keys are', async () => {
  const tenant = await harness.makeTenant('lost-payment');
  const { org, key } = tenant;
  const token = await harness.signIn(await harness.makePerson(tenant, 'owner'));
  await suspendForPayments(harness.context, org.id);
  const answerOf = (method: 'GET' | 'POST', path: string, headers: { key: string }) =>
    expect.poll(async () => {
      const reply = await harness.call(method, path, headers);
      return [reply.statusCode, codeOf(reply), reply.json().error?.details];
    });
  const refused = [403, 'org_inactive', { reason: 'payment_hold' }];
  await answerOf('GET', '/v1/credits', { key }).toEqual(refused);
  await answerOf('POST', '/v1/credits/checkin', { key: token }).toEqual(refused);
  // What they owe and why can be read.
  for (const path of ['/v1/credits', '/v1/invoices', '/v1/credits/topups', '/v1/orgs'])
    expect([path, (await harness.call('GET', path, { key: token })).statusCode]).toEqual([path, 200]);
  const { org: seen, barred } = (await harness.call('GET', '/v1/auth/session', { key: token })).json();
  expect([seen.status, seen.suspended_for, barred]).toEqual(['suspended', 'payment_hold', 'payment_hold']);
});

test('a suspended organization still asks for its networks and its second factor', async () => {
  const tenant = await harness.makeTenant('suspended-strict');
  const token = await harness.signIn(await harness.makePerson(tenant, 'owner'));
  await harness.pool.query({
    name: 'test.strict',
    text: `update org set status = 'suspended', settings = '{"security": {"require_2fa": true}}' where id = $1`,
    values: [tenant.org.id],
  });
  const reply = await harness.call('GET', '/v1/credits', { key: token });
  expect([reply.statusCode, codeOf(reply)]).toEqual([403, 'two_factor_required']);
});

test('no caller of the walk met a defect', () => {
  expect(harness.defects).toEqual([]);
});
