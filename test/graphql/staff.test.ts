// Staff: another listener, another sign-in, another schema; everything they do or read is in the audit log.
import { verifyAudit } from '@svc/core/identity/index.ts';
import { beforeAll, expect, test } from 'vitest';
import { withClient } from '../support/books.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { harness, staff, tenant, gateway } = world;
const { a } = harness;
let finance = '';
let support = '';
let catalog = '';

beforeAll(async () => {
  finance = await world.signInStaff(['finance']);
  support = await world.signInStaff(['support']);
  catalog = await world.signInStaff(['catalog']);
});

test('a console page of customers cannot begin a sign-in of staff, a staff page can', async () => {
  const login = async (origin: string) => {
    const response = await staff.inject({
      method: 'POST',
      url: '/auth/login',
      headers: { origin, 'content-type': 'application/json' },
      payload: JSON.stringify({ email: 'nobody@svc.example', password: 'wrong' }),
    });
    const shown = response.headers['access-control-allow-origin'];
    return [response.statusCode, (response.json() as { error: { code: string } }).error.code, shown];
  };
  expect(await login('http://127.0.0.1:8081')).toEqual([403, 'csrf_failed', undefined]);
  const own = 'http://127.0.0.1:8082';
  expect(await login(own)).toEqual([401, 'invalid_credentials', own]);
});

interface Entry {
  readonly action: string;
  readonly actor_type: string;
  readonly target_id: string | null;
  readonly reason: string | null;
  readonly after: Record<string, unknown> | null;
}

const auditOf = (org_id: string) =>
  withClient(harness.url, async (client) => {
    const { rows } = await client.query<Entry>(
      'select action, actor_type, target_id, reason, after from audit_entry where org_id = $1 order by id',
      [org_id],
    );
    return rows.filter(({ actor_type, action }) => actor_type === 'staff' && action.startsWith('staff.'));
  });

const grant = `mutation($input: GrantCreditInput!) { grantCredit(input: $input) { __typename
  ... on GrantCreditPayload { seq replay balance { availableMicroUsd } } ... on UserError { code path } } }`;

test('finance finds an organization, grants credit with a reason, sees it in the ledger, and all of it is in the audit log', async () => {
  const found = await world.ask(staff, finance, '{ staffOrgs(q: "acm") { id slug } }');
  expect(found.data).toEqual({ staffOrgs: [{ id: a.org.id, slug: 'acme' }] });
  const input = {
    orgId: a.org.id,
    amountMicro: '5000000',
    reason: 'goodwill, ticket 17',
    reference: 'ticket-17',
  };
  const made = await world.ask(staff, finance, grant, { input });
  expect(made.data.grantCredit).toMatchObject({
    __typename: 'GrantCreditPayload',
    replay: false,
    balance: { availableMicroUsd: '5000000' },
  });
  const read = await world.ask(
    staff,
    finance,
    `query($id: ID!) { staffOrg(id: $id) { slug balance { availableMicroUsd }
      ledger(first: 5) { nodes { seq kind amountMicroUsd balanceAfterMicroUsd refId } pageInfo { hasNextPage } } } }`,
    { id: 'acme' },
  );
  expect(read.errors).toEqual([]);
  expect(read.data.staffOrg).toMatchObject({
    slug: 'acme',
    balance: { availableMicroUsd: '5000000' },
    ledger: { nodes: [{ kind: 'GRANT', amountMicroUsd: '5000000', refId: 'grant ticket-17' }] },
  });
  const entries = await auditOf(a.org.id);
  expect(entries.map(({ action }) => action).sort()).toEqual([
    'staff.credits.get',
    'staff.credits.grant',
    'staff.credits.ledger',
    'staff.orgs.get',
  ]);
  expect(entries.find(({ action }) => action === 'staff.credits.grant')).toMatchObject({
    target_id: a.org.id,
    reason: 'goodwill, ticket 17',
    after: { amount_micro: 5_000_000, reference: 'ticket-17' },
  });
  expect((await auditOf('')).map(({ action }) => action)).toContain('staff.orgs.find');
  expect((await verifyAudit(harness.pool)).faults).toEqual([]);
});

test('a reference grants once, however often and however many at once; another amount under it is refused', async () => {
  const input = { orgId: a.org.id, amountMicro: '1000000', reason: 'again', reference: 'once' };
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => world.ask(staff, finance, grant, { input })),
  );
  const replays = answers.map(({ data }) => data.grantCredit.replay);
  expect(replays.filter((replay) => replay === false)).toHaveLength(1);
  const other = await world.ask(staff, finance, grant, { input: { ...input, amountMicro: '2' } });
  expect(other.data.grantCredit).toMatchObject({ __typename: 'ConflictError', code: 'idempotency_conflict' });
  const { data } = await world.ask(
    staff,
    finance,
    `{ staffOrg(id: "acme") { balance { availableMicroUsd } } }`,
  );
  expect(data.staffOrg.balance.availableMicroUsd).toBe('6000000');
});

test('one person alone grants at most 100 USD, with a reason, in the role of finance', async () => {
  const input = { orgId: a.org.id, amountMicro: '100000001', reason: 'much', reference: 'much' };
  const much = await world.ask(staff, finance, grant, { input });
  expect(much.data.grantCredit).toMatchObject({ __typename: 'PermissionError', code: 'pending_approval' });
  const silent = await world.ask(staff, finance, grant, {
    input: { ...input, amountMicro: '1', reason: '' },
  });
  expect(silent.data.grantCredit).toMatchObject({ code: 'invalid_request', path: ['input', 'reason'] });
  const wrong = await world.ask(staff, support, grant, { input: { ...input, amountMicro: '1' } });
  expect(wrong.data.grantCredit).toMatchObject({ code: 'permission_denied' });
  const blind = await world.ask(staff, catalog, `{ staffOrg(id: "acme") { slug ledger { nodes { seq } } } }`);
  expect(blind.data.staffOrg).toEqual({ slug: 'acme', ledger: null });
  expect(blind.errors[0]?.extensions['code']).toBe('permission_denied');
});

test('nobody else enters: not a customer, not a key, and staff enter no customer listener', async () => {
  const session = await harness.signIn(await harness.makePerson(a, 'owner'));
  for (const token of [session, a.key, 'nonsense']) {
    const answer = await world.ask(staff, token, '{ viewer { email } }');
    expect(answer.status).toBe(401);
  }
  for (const app of [tenant, gateway]) {
    expect((await world.ask(app, finance, '{ viewer { kind } }')).status).toBe(401);
  }
  for (const path of ['/v1/auth/login', '/v1/keys', '/staff/orgs']) {
    const response = await staff.inject({ method: 'POST', url: path, payload: '{}' });
    expect([path, response.statusCode]).toEqual([path, 404]);
  }
  expect(
    JSON.stringify(await world.ask(tenant, session, '{ __type(name: "StaffOrg") { name } }')),
  ).not.toContain('"StaffOrg"');
});

test('no surface met a defect', () => {
  expect(world.defects).toEqual([]);
});
