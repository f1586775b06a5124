// Policies over REST: versions, scopes, rollback, ownership, dry runs.
import { putMember } from '@svc/core/orgs/index.ts';
import type { LightMyRequestResponse } from 'fastify';
import { describe, expect, test } from 'vitest';
import { codeOf, startHarness, type Tenant } from '../../test/registry/harness.ts';

const harness = await startHarness();
const { a, b } = harness;
const PRICE = 'sort: price\n';
const LATENCY = 'sort: latency\n';
const manifest = (name: string) => ({ 'x-svc-managed-by': `k8s/0f5a/team-a/${name}` });

type Body = Record<string, unknown> & {
  version: number;
  status: string;
  scopes: { project_id: string | null }[];
};
const bodyOf = (response: LightMyRequestResponse) => response.json() as Body;

function post(path: string, body: unknown, headers: Record<string, string> = {}, tenant: Tenant = a) {
  return harness.call('POST', `/v1/policies${path}`, { key: tenant.key, body, headers });
}
async function made(name: string, versions: readonly string[] = [PRICE], headers = {}, tenant: Tenant = a) {
  const [first, ...more] = versions;
  const created = await post('', { name, yaml: first }, headers, tenant);
  expect(created.statusCode).toBe(201);
  for (const yaml of more) {
    expect((await post(`/${name}/versions`, { yaml }, headers, tenant)).statusCode).toBe(201);
  }
}
async function activated(name: string, version: number, headers = {}, scope?: object) {
  const response = await post(`/${name}/activate`, { version, ...(scope ? { scope } : {}) }, headers);
  expect([response.statusCode, response.body]).toEqual([200, response.body]);
  return bodyOf(response);
}
async function ruling(): Promise<Record<string, number | string>> {
  const { data } = (await harness.call('GET', '/v1/policies', { key: a.key })).json();
  return Object.fromEntries(
    data
      .filter((row: { status: string }) => row.status === 'active')
      .map((row: { name: string; version: number }) => [row.name, row.version]),
  );
}

describe('versions', () => {
  test('a policy begins as draft 1, keeps its text byte for byte, and lists its versions newest first', async () => {
    const yaml = `# reasons\n${PRICE}`;
    const created = await post('', { name: 'texts', yaml });
    expect([created.statusCode, bodyOf(created)]).toMatchObject([
      201,
      { name: 'texts', version: 1, status: 'draft', yaml, scopes: [], notices: [], managed_by: null },
    ]);
    await post('/texts/versions', { yaml: LATENCY });
    const { data } = (await harness.call('GET', '/v1/policies/texts/versions', { key: a.key })).json();
    expect(data.map((row: Body) => [row.version, row['yaml']])).toEqual([
      [2, LATENCY],
      [1, yaml],
    ]);
    expect(codeOf(await post('', { name: 'texts', yaml: PRICE }))).toBe('already_exists');
  });

  test('versions made at once are numbered without a gap, and a refused one takes no number', async () => {
    await made('busy');
    const all = Array.from({ length: 20 }, (_, i) =>
      post('/busy/versions', { yaml: i % 5 === 0 ? 'sort: fast' : PRICE }),
    );
    const answers = await Promise.all(all);
    const numbers = answers.filter((one) => one.statusCode === 201).map((one) => bodyOf(one).version);
    expect(numbers.sort((x, y) => x - y)).toEqual(Array.from({ length: 16 }, (_, i) => i + 2));
    expect(answers.filter((one) => one.statusCode === 400)).toHaveLength(4);
  });

  test('an Idempotency-Key makes one version however often it is sent', async () => {
    await made('once');
    const key = { 'idempotency-key': 'uid-1-abc' };
    const first = await post('/once/versions', { yaml: LATENCY }, key);
    const again = await post('/once/versions', { yaml: LATENCY }, key);
    expect([again.statusCode, again.body]).toEqual([first.statusCode, first.body]);
    expect(again.headers['x-svc-idempotent-replay']).toBe('true');
    expect(codeOf(await post('/once/versions', { yaml: PRICE }, key))).toBe('idempotency_conflict');
    expect(bodyOf(await post('/once/versions', { yaml: PRICE })).version).toBe(3);
  });

  test('an invalid text is refused with its place, and validate returns the same as data', async () => {
    const yaml = 'rules:\n  - match: {models: acme}\n';
    const refused = await post('', { name: 'broken', yaml });
    expect([refused.statusCode, codeOf(refused)]).toEqual([400, 'invalid_policy']);
    const { details, param } = refused.json().error;
    expect([param, details.path, details.line]).toEqual(['yaml', 'rules[0].match.models', 2]);
    const verdict = await post('/validate', { yaml });
    expect([verdict.statusCode, verdict.json()]).toMatchObject([
      200,
      { valid: false, path: 'rules[0].match.models', message: '"acme"; expected a list', notices: [] },
    ]);
    const fine = await post('/validate', { yaml: '{sort: price, defaults: {sort: latency}}', name: 'x' });
    expect(fine.json()).toMatchObject({ valid: true, path: '', message: '', faults: [] });
    expect(fine.json().notices[0].path).toBe('sort');
    expect(codeOf(await harness.call('GET', '/v1/policies/broken/versions', { key: a.key }))).toBe(
      'not_found',
    );
  });

  test('a stored version never changes, whoever asks the database', async () => {
    await made('fixed');
    const change = harness.pool.query({
      name: 'test.change',
      text: `update policy_version set yaml = 'sort: latency' where name = 'fixed'`,
    });
    await expect(change).rejects.toThrow('a policy version never changes');
  });

  test('a deleted name is free again, and its numbers go on', async () => {
    await made('phoenix', [PRICE, LATENCY]);
    const remove = () => harness.call('DELETE', '/v1/policies/phoenix', { key: a.key });
    await activated('phoenix', 2, {}, { project_id: a.test.id });
    expect(codeOf(await remove())).toBe('in_use');
    await post('/phoenix/deactivate', { scope: { project_id: a.test.id } });
    expect((await remove()).statusCode).toBe(204);
    expect((await remove()).statusCode).toBe(404);
    expect(codeOf(await post('/phoenix/activate', { version: 2 }))).toBe('not_found');
    expect(bodyOf(await post('', { name: 'phoenix', yaml: PRICE })).version).toBe(3);
  });
});

describe('scopes', () => {
  test('a scope has one active version; another policy replaces it and a rollback walks back', async () => {
    await made('first', [PRICE, LATENCY]);
    await made('second');
    await activated('first', 1);
    expect(await activated('first', 1)).toMatchObject({ version: 1, status: 'active' });
    await activated('first', 2);
    await activated('second', 1);
    expect(await ruling()).toEqual({ second: 1 });
    const back = (name: string, body = {}) => post(`/${name}/rollback`, body);
    expect(bodyOf(await back('second'))).toMatchObject({ name: 'first', version: 2, status: 'active' });
    expect(bodyOf(await back('first'))).toMatchObject({ name: 'first', version: 1 });
    expect(codeOf(await back('first'))).toBe('state_conflict');
    expect(codeOf(await back('second'))).toBe('state_conflict');
    expect(bodyOf(await back('first', { version: 2 }))).toMatchObject({ version: 2 });
    expect(codeOf(await back('first', { version: 9 }))).toBe('not_found');
    const ended = await post('/first/deactivate', {});
    expect([ended.statusCode, bodyOf(ended)]).toMatchObject([200, { version: 2, status: 'draft' }]);
    expect((await post('/first/deactivate', {})).statusCode).toBe(200);
    expect(await ruling()).toEqual({});
  });

  test('organization and projects are scopes of their own', async () => {
    await made('scoped', [PRICE, LATENCY]);
    await activated('scoped', 1);
    await activated('scoped', 2, {}, { project_id: a.live.id });
    const both = await activated('scoped', 2);
    expect(both.scopes.map((scope) => scope.project_id)).toEqual([null, a.live.id]);
    for (const project_id of [b.live.id, 'prj_x', `prj_${'0'.repeat(26)}`]) {
      const foreign = await post('/scoped/activate', { version: 1, scope: { project_id } });
      expect([project_id, foreign.statusCode]).toEqual([project_id, 404]);
    }
    await post('/scoped/deactivate', {});
    await post('/scoped/deactivate', { scope: { project_id: a.live.id } });
  });

  test('activations at once leave exactly one active version', async () => {
    await made('race', [PRICE, LATENCY, PRICE]);
    const options = Array.from({ length: 12 }, (_, i) => post('/race/activate', { version: (i % 3) + 1 }));
    for (const answer of await Promise.all(options)) expect(answer.statusCode).toBe(200);
    expect(Object.keys(await ruling())).toEqual(['race']);
    const { rows } = await harness.pool.query<{ n: number }>({
      name: 'test.active',
      text: 'select count(*)::int as n from policy_activation where ended_at is null',
    });
    expect(rows[0]?.n).toBe(1);
    await post('/race/deactivate', {});
  });
});

test('a test key lets policies rule test projects alone, and live calls are none of its business', async () => {
  await made('fenced', [PRICE, LATENCY]);
  const by_test = (path: string, body: unknown) =>
    harness.call('POST', `/v1/policies${path}`, { key: a.test_key, body });
  await activated('fenced', 1);
  for (const scope of [undefined, { project_id: null }, { project_id: a.live.id }]) {
    const writes: [string, object][] = [
      ['/fenced/activate', { version: 2 }],
      ['/fenced/deactivate', {}],
      ['/fenced/rollback', {}],
      ['/nowhere/activate', { version: 1 }],
    ];
    for (const [path, body] of writes) {
      const refused = await by_test(path, { ...body, ...(scope === undefined ? {} : { scope }) });
      expect([path, scope, refused.statusCode, codeOf(refused)]).toEqual([
        path,
        scope,
        403,
        'sandbox_key_not_allowed',
      ]);
    }
  }
  expect(await ruling()).toEqual({ fenced: 1 });
  const scope = { project_id: a.test.id };
  expect((await by_test('/fenced/activate', { version: 2, scope })).statusCode).toBe(200);
  expect((await by_test('/fenced/deactivate', { scope })).statusCode).toBe(200);
  await post('/fenced/deactivate', {});
});

describe('ownership', () => {
  test('a key takes a policy over only while its creator is an owner or admin', async () => {
    await made('guarded', [PRICE], manifest('guarded'));
    const person = await harness.makePerson(a, 'developer');
    const made_by = await harness.call('POST', '/v1/keys', {
      key: await harness.signIn(person),
      body: { name: 'of a developer', project_id: a.live.id, scopes: ['manage:policies'] },
    });
    const key = made_by.json().secret as string;
    const take = () =>
      harness.call('POST', '/v1/policies/guarded/versions', {
        ...{ key, body: { yaml: LATENCY } },
        headers: { 'x-svc-take-over': '1' },
      });
    const refused = await take();
    expect([refused.statusCode, codeOf(refused)]).toEqual([403, 'permission_denied']);
    const member = { org_id: a.org.id, user_id: person.id, source: 'owner', at: new Date() } as const;
    await putMember(harness.pool, { ...member, role: 'admin' });
    expect((await take()).statusCode).toBe(201);
  });

  test('what a manifest manages is refused elsewhere with a pointer to it, and taken over only on purpose', async () => {
    await made('owned', [PRICE, LATENCY], manifest('owned'));
    await activated('owned', 1, manifest('owned'));
    const writes: [string, unknown][] = [
      ['/owned/versions', { yaml: PRICE }],
      ['/owned/activate', { version: 2 }],
      ['/owned/deactivate', {}],
      ['/owned/rollback', {}],
    ];
    for (const [path, body] of writes) {
      for (const headers of [{}, manifest('other')]) {
        const refused = await post(path, body, headers);
        expect([path, refused.statusCode, codeOf(refused)]).toEqual([path, 403, 'managed_elsewhere']);
        expect(refused.json().error.message).toContain('RoutingPolicy team-a/owned');
        expect(refused.json().error.details).toMatchObject({ namespace: 'team-a', name: 'owned' });
      }
    }
    expect(codeOf(await harness.call('DELETE', '/v1/policies/owned', { key: a.key }))).toBe(
      'managed_elsewhere',
    );
    await made('rival');
    expect(codeOf(await post('/rival/activate', { version: 1 }))).toBe('managed_elsewhere');
    const over = { 'x-svc-take-over': '1' };
    const held = await harness.call('GET', '/v1/policies/owned/versions/1', { key: a.key });
    const owner = manifest('owned')['x-svc-managed-by'];
    expect(held.json()).toMatchObject({ managed_by: owner, policy_managed_by: owner });
    expect((await post('/owned/versions', { yaml: PRICE }, over)).statusCode).toBe(201);
    const free = await harness.call('GET', '/v1/policies/owned/versions/1', { key: a.key });
    expect(free.json()).toMatchObject({ managed_by: owner, policy_managed_by: null });
    expect((await post('/owned/versions', { yaml: LATENCY })).statusCode).toBe(201);
    // The manifest takes it back with its next write, as the operator does at its resync.
    await activated('owned', 1, manifest('owned'));
    expect(codeOf(await post('/owned/deactivate', {}))).toBe('managed_elsewhere');
    expect((await post('/rival/activate', { version: 1 }, over)).statusCode).toBe(200);
    await post('/rival/deactivate', {});
  });

  test('a finalizer lets go with or without ending the rule, and versions stay', async () => {
    await made('kept', [PRICE], manifest('kept'));
    await activated('kept', 1, manifest('kept'));
    const release = { ...manifest('kept'), 'x-svc-release': '1' };
    await activated('kept', 1, release);
    expect(await ruling()).toEqual({ kept: 1 });
    expect((await post('/kept/versions', { yaml: LATENCY })).statusCode).toBe(201);
    await activated('kept', 1, manifest('kept'));
    expect((await post('/kept/deactivate', {}, release)).statusCode).toBe(200);
    expect(await ruling()).toEqual({});
    expect((await post('/kept/versions', { yaml: LATENCY })).statusCode).toBe(201);
  });

  test('a manifest that is not one is refused', async () => {
    const refused = await post('', { name: 'odd', yaml: PRICE }, { 'x-svc-managed-by': 'helm/x' });
    expect([refused.statusCode, refused.json().error.param]).toEqual([400, 'x-svc-managed-by']);
  });
});

test('another organization sees none of it: same name, other policy, and 404 for the rest', async () => {
  await made('mine', [PRICE, LATENCY]);
  const of_b = (method: 'GET' | 'POST', path: string, body?: unknown) =>
    harness.call(method, `/v1/policies${path}`, { key: b.key, ...(body === undefined ? {} : { body }) });
  const asks: ['GET' | 'POST', string, unknown?][] = [
    ['GET', '/mine/versions'],
    ['GET', '/mine/versions/1'],
    ['POST', '/mine/versions', { yaml: PRICE }],
    ['POST', '/mine/activate', { version: 1 }],
    ['POST', '/mine/deactivate', {}],
    ['POST', '/mine/rollback', {}],
    ['POST', '/mine/dry-run', { model: 'sandbox/echo' }],
  ];
  for (const [method, path, body] of asks) {
    const answer = await of_b(method, path, body);
    expect([path, answer.statusCode, codeOf(answer)]).toEqual([path, 404, 'not_found']);
  }
  expect((await of_b('GET', '')).json().data).toEqual([]);
  expect((await of_b('POST', '', { name: 'mine', yaml: PRICE })).statusCode).toBe(201);
});

test('a version of an impossible number is missing, not a fault', async () => {
  await made('numbers');
  for (const version of ['0', '-1', '1.5', 'x', '99999999999', '01', '%00']) {
    const answer = await harness.call('GET', `/v1/policies/numbers/versions/${version}`, { key: a.key });
    expect([version, answer.statusCode]).toEqual([version, 404]);
  }
});

describe('dry runs', () => {
  const sandbox = { model: 'sandbox/echo', est_input_tokens: 1_000 };

  test('they show plan, reasons and trace of any version, and a call that is denied', async () => {
    const closed = 'rules: [{name: closed, match: {input_tokens: {min: 5000}}, deny: {message: Too long}}]';
    await made('dry', ['sort: price\ndefaults: {require: {regions: [local-1]}}', closed]);
    const first = (await post('/dry/dry-run', { ...sandbox, version: 1 })).json();
    expect(first).toMatchObject({ policy: 'dry', version: 1, decision: { sort: 'price', denied: false } });
    expect(first.plan.map((item: { region: string }) => item.region)).toEqual(['local-1']);
    expect(first.excluded.map((item: { reason: string }) => item.reason)).toEqual(['region']);
    expect(first.trace).toContain('v1; policy=dry/1; rule=-; sort=price');
    const second = (await post('/dry/dry-run', { ...sandbox, est_input_tokens: 9_000 })).json();
    expect(second).toMatchObject({ version: 2, plan: [], reserve_micro: null });
    expect(second.decision).toMatchObject({ denied: true, rule: 'closed', notes: ['Too long'] });
    expect(codeOf(await post('/dry/dry-run', { model: 'nobody/nothing' }))).toBe('model_not_found');
    const limits = (max_cost_micro: number) => `defaults: {limits: {max_cost_micro: ${max_cost_micro}}}`;
    await made('frugal', [limits(1), limits(1_000_000)]);
    const dry = async (more: object) => {
      const body = { model: 'openai/gpt-4o', est_input_tokens: 1_000, ...more };
      return (await harness.call('POST', '/v1/policies/frugal/dry-run', { key: a.test_key, body })).json();
    };
    for (const more of [{}, { max_tokens: 1_000 }]) {
      const expensive = await dry({ ...more, version: 1 });
      expect(expensive).toMatchObject({ plan: [], reserve_micro: null, decision: { denied: true } });
      expect(expensive.decision.notes).toEqual([expect.stringContaining('at most 1 micro-USD a call')]);
      const paid = await dry({ ...more, version: 2 });
      expect(paid.decision.denied).toBe(false);
      expect(paid.reserve_micro).toBeGreaterThan(1);
    }
  });

  test('they try a text that is not stored, under a name that need not exist, and refuse a faulty one', async () => {
    const tried = await post('/unborn/dry-run', { ...sandbox, yaml: 'sort: latency' });
    expect(tried.json()).toMatchObject({ policy: 'unborn', version: 0, decision: { sort: 'latency' } });
    const faulty = await post('/unborn/dry-run', { ...sandbox, yaml: 'sort: slow' });
    expect([faulty.statusCode, codeOf(faulty)]).toEqual([400, 'invalid_policy']);
    const both = await post('/dry/dry-run', { ...sandbox, version: 1, yaml: 'sort: price' });
    expect([both.statusCode, codeOf(both)]).toEqual([400, 'invalid_request']);
    expect((await harness.call('GET', '/v1/policies/unborn/versions', { key: a.key })).statusCode).toBe(404);
  });

  test('they charge nothing and write no row', async () => {
    const { rows } = await harness.pool.query<{ n: number }>({
      name: 'test.traces_of_money',
      text: `select (select count(*) from ledger.hold)::int + (select count(*) from ledger.meter)::int
                  + (select count(*) from request_row)::int as n`,
    });
    expect(rows[0]?.n).toBe(0);
  });
});

test('no caller met a defect', () => {
  expect(harness.defects).toEqual([]);
});
