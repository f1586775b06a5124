// Who may change a data policy, who may see stored content, and what the audit log says of both.
import { openPayloadLog, type PayloadSlot } from '@svc/core/payloads/index.ts';
import { presets } from '@svc/core/redaction/index.ts';
import { expect, test } from 'vitest';
import { codeOf, startHarness } from '../registry/harness.ts';
import { rowOf } from '../registry/rows.ts';

const harness = await startHarness();
const { a, b } = harness;
const roles = ['owner', 'admin', 'developer', 'billing', 'viewer'] as const;
const people = new Map<string, { id: string; token: string }>();
for (const role of roles) {
  const person = await harness.makePerson(a, role);
  people.set(role, { id: person.id, token: await harness.signIn(person) });
}
const tokenOf = (role: string) => people.get(role)?.token as string;
const path = `/v1/orgs/${a.org.id}`;

async function auditOf(action: string): Promise<Record<string, unknown>[]> {
  const { rows } = await harness.pool.query<Record<string, unknown>>({
    name: 'test.audit',
    text: 'select actor_type, actor_id, target_id, before, after from audit_entry where action = $1 and org_id = $2 order by id',
    values: [action, a.org.id],
  });
  return rows;
}

/** A key of organization a, made by `user_id`. */
async function keyOf(user_id: string): Promise<string> {
  const made = await harness.makeKey(a);
  await harness.pool.query({
    name: 'test.set_maker',
    text: 'update api_key set created_by = $2 where id = $1',
    values: [made.id, user_id],
  });
  return made.secret;
}

test('owners and admins change the data policy, and the audit log says who changed what', async () => {
  for (const [role, zdr] of [
    ['owner', true],
    ['admin', false],
  ] as const) {
    const response = await harness.call('PATCH', path, {
      key: tokenOf(role),
      body: { data_policy: { zdr } },
    });
    expect([role, response.statusCode, response.json().data_policy.zdr]).toEqual([role, 200, zdr]);
    expect(response.json().role).toBe(role);
  }
  for (const [role, status] of [
    ['developer', 403],
    ['billing', 403],
    ['viewer', 403],
  ] as const) {
    const response = await harness.call('PATCH', path, {
      key: tokenOf(role),
      body: { data_policy: { zdr: true } },
    });
    expect([role, response.statusCode, codeOf(response)]).toEqual([role, status, 'permission_denied']);
  }
  const entries = await auditOf('orgs.update');
  expect(entries.map(({ actor_id }) => actor_id)).toEqual([people.get('owner')?.id, people.get('admin')?.id]);
  expect(entries[0]).toMatchObject({
    target_id: a.org.id,
    before: { data_policy: { zdr: false } },
    after: { data_policy: { zdr: true } },
  });
});

test("a key changes it by its creator's role now, and a test key not at all", async () => {
  const body = { data_policy: { no_train: true } };
  expect((await harness.call('PATCH', path, { key: a.key, body })).statusCode).toBe(200);
  expect(
    (await harness.call('PATCH', path, { key: await keyOf(people.get('admin')?.id as string), body }))
      .statusCode,
  ).toBe(200);
  const weak = await harness.call('PATCH', path, {
    key: await keyOf(people.get('developer')?.id as string),
    body,
  });
  expect([weak.statusCode, codeOf(weak)]).toEqual([403, 'permission_denied']);
  const fenced = await harness.call('PATCH', path, { key: a.test_key, body });
  expect([fenced.statusCode, codeOf(fenced)]).toEqual([403, 'sandbox_key_not_allowed']);
});

test('a patch merges: absent is unchanged, null is the default, and nothing changed is no entry', async () => {
  const patch = async (data_policy: unknown) =>
    (await harness.call('PATCH', path, { key: a.key, body: { data_policy } })).json().data_policy;
  await patch(null);
  expect(await patch({ regions: ['eu'], redact: { presets: ['card'], patterns: ['x{3}'] } })).toEqual({
    ...{ logging: 'off', retention_days: 30, zdr: false, no_train: false, regions: ['eu'] },
    redact: { presets: ['card'], patterns: ['x{3}'] },
  });
  expect((await patch({ redact: { presets: null } })).redact).toEqual({ presets: [], patterns: ['x{3}'] });
  expect((await patch({ regions: null })).regions).toEqual([]);
  const entries = (await auditOf('orgs.update')).length;
  await patch({});
  await patch({ regions: [] });
  expect((await auditOf('orgs.update')).length).toBe(entries);
  for (const wrong of [
    { logging: 'yes' },
    { retention_days: 366 },
    { retention_days: 1.5 },
    { zrd: true },
    [],
  ]) {
    const response = await harness.call('PATCH', path, { key: a.key, body: { data_policy: wrong } });
    expect([wrong, response.statusCode]).toEqual([wrong, 400]);
  }
});

test('content is shown to owners, admins, developers and their keys, and each look is noted', async () => {
  await harness.call('PATCH', path, { key: a.key, body: { data_policy: { logging: 'on' } } });
  const row = rowOf(a, { logged: true });
  harness.request_log.write(row);
  await harness.request_log.flush();
  const payloads = openPayloadLog({ db: harness.pool, log: harness.context.log, root_key: harness.root_key });
  const texts = () => ({ request: '{"said":"content-4711"}', response: '{"said":"answer-4711"}' });
  (payloads.open(a.org.id, 100) as PayloadSlot).write({
    ...{ request_id: row.request_id, org_id: a.org.id, redact: null, bytes: 100, texts },
  });
  await payloads.flush();
  await payloads.close();
  const detail = (key: string) => harness.call('GET', `/v1/requests/${row.request_id}`, { key });
  const seen = [tokenOf('owner'), tokenOf('admin'), tokenOf('developer'), a.key];
  seen.push(await keyOf(people.get('developer')?.id as string));
  for (const key of seen) {
    const { payload_state, request, response } = (await detail(key)).json();
    expect([payload_state, request, response]).toEqual([
      ...['available', { said: 'content-4711' }, { said: 'answer-4711' }],
    ]);
  }
  for (const key of [
    tokenOf('billing'),
    tokenOf('viewer'),
    await keyOf(people.get('viewer')?.id as string),
  ]) {
    const response = await detail(key);
    expect([response.statusCode, response.json().payload_state]).toEqual([200, 'available']);
    expect(response.body).not.toContain('-4711');
  }
  expect((await detail(b.key)).statusCode).toBe(404);
  const looks = await auditOf('requests.get');
  expect(looks.length).toBe(seen.length);
  expect(looks.every(({ target_id }) => target_id === row.request_id)).toBe(true);
  expect(JSON.stringify(looks)).not.toContain('-4711');
  const listed = await harness.call('GET', '/v1/requests', { key: a.key });
  expect(listed.json().data[0].logged).toBe(true);
  expect(listed.body).not.toContain('-4711');
});

test('a redaction can be tried out on a sample: presets, patterns, and what they make of it', async () => {
  const preview = (body: object, key = tokenOf('viewer')) =>
    harness.call('POST', '/v1/policy/redact/preview', { key, body });
  const sample = 'a@b.co, +91 98765 43210, PRJ-7';
  expect((await preview({ presets: ['email', 'phone'], sample })).json()).toEqual({
    input: sample,
    output: '[REDACTED:email], [REDACTED:phone], PRJ-7',
    redactions: 2,
    presets: [...presets],
  });
  const own = await preview({ presets: [], patterns: ['PRJ-\\d'], sample }, a.key);
  expect([own.json().output, own.json().redactions]).toEqual([
    'a@b.co, +91 98765 43210, [REDACTED:pattern_1]',
    1,
  ]);
  const bad = await preview({ presets: [], patterns: ['(a)\\1'], sample });
  expect([bad.statusCode, codeOf(bad), bad.json().error.param]).toEqual([
    400,
    'invalid_pattern',
    'patterns[0]',
  ]);
  expect((await preview({ presets: ['email'], sample: 'é'.repeat(40_000) })).statusCode).toBe(413);
  expect((await preview({ presets: ['email'], sample: 'e'.repeat(65_537) })).statusCode).toBe(400);
  expect((await preview({ presets: ['passport'], sample })).statusCode).toBe(400);
  expect((await preview({ presets: ['card'], sample: '\u2028"\\ 4111111111111111' })).json().output).toBe(
    '\u2028"\\ [REDACTED:card]',
  );
});

test('no caller met a defect', () => {
  expect(harness.defects).toEqual([]);
});
