import { shiftClock } from '@svc/core/kernel/index.ts';
import { readWindows } from '@svc/core/ledger/index.ts';
import { expect, test } from 'vitest';
import { codeOf, startHarness } from '../../test/registry/harness.ts';

const harness = await startHarness();
const { a, b } = harness;
const options = { project_id: a.live.id, name: 'service', scopes: ['inference'] };
const post = (body: object, key = a.key, headers = {}) =>
  harness.call('POST', '/v1/keys', { key, body, headers });
const faults = (response: { json(): unknown }) =>
  (response.json() as { error: { details: { faults: { param: string; reason: string }[] } } }).error.details
    .faults;

test('a new key is shown with its secret once, works at once, and has its settings', async () => {
  const response = await post({
    ...options,
    limits: { rpm: 60 },
    budget: { daily_micro: 5_000_000 },
    expires_in: '48h',
    alerts: [90],
    data_policy: { zdr: true },
  });
  expect(response.statusCode).toBe(201);
  const key = response.json();
  expect(key).toMatchObject({
    environment: 'live',
    status: 'active',
    limits: { rpm: 60, tpm: null, concurrency: null },
    budget: { daily_micro: 5_000_000, hard: true },
    alerts: [90],
    svc_version: '2026-09-09',
    data_policy: { zdr: true },
    paused: null,
    last_used_at: null,
    revoked_at: null,
  });
  expect(Date.parse(key.expires_at) - Date.parse(key.created_at)).toBe(48 * 3_600_000);
  expect(key.hint).toBe(`svc-live-...${key.secret.slice(-4)}`);
  expect((await harness.keys.verify(key.secret)).key_id).toBe(key.id);
  const { secret: _, ...read } = key;
  expect((await harness.call('GET', `/v1/keys/${key.id}`, { key: a.key })).json()).toEqual(read);
});

test('every fault of a body is reported, with its path and reason', async () => {
  const response = await post({
    project_id: 5,
    scopes: ['inference', 'everything'],
    limits: { rpm: 0, tpm: '5', burst: 1 },
    budget: null,
    expires_in: '2d',
    name: null,
    status: 'active',
    alerts: [0, 101, 50, 50],
  });
  expect([response.statusCode, codeOf(response)]).toEqual([400, 'invalid_request']);
  const reported = faults(response).map((fault) => `${fault.param} ${fault.reason}`);
  expect(reported.sort()).toEqual(
    [
      'project_id type',
      'scopes[1] enum',
      'limits.rpm range',
      'limits.tpm type',
      'limits.burst unknown',
      'expires_in format',
      'name not_nullable',
      'status unknown',
      'alerts[0] range',
      'alerts[1] range',
      'alerts range',
    ].sort(),
  );
  const { error } = response.json();
  expect(error.param).toBe(faults(response)[0]?.param);
});

test("fields that are not a caller's to set are refused in every body", async () => {
  const made = await post(options);
  const stolen = {
    id: 'key_x',
    org_id: b.org.id,
    status: 'active',
    hash: 'x',
    key_no: 1,
    chain_no: 1,
    created_by: 'usr_x',
    last_used_at: null,
    revoked_at: null,
    secret: 'svc-live-x',
    available_micro_usd: 1e9,
    role: 'owner',
    constructor: { prototype: {} },
  };
  const bodies = Object.entries(stolen).map(([name, value]) => ({ [name]: value }));
  const proto = '{"__proto__":{"scopes":["manage:keys"]}}';
  for (const body of [...bodies, proto]) {
    const merged =
      typeof body === 'string'
        ? `${JSON.stringify(options).slice(0, -1)},${proto.slice(1)}`
        : { ...options, ...body };
    const targets = [
      ['POST', '/v1/keys', merged],
      ['PATCH', `/v1/keys/${made.json().id}`, body],
      ['POST', `/v1/keys/${made.json().id}/rotate`, body],
      ['POST', '/v1/credits/sandbox/refill', body],
    ] as const;
    for (const [method, path, payload] of targets) {
      const key = path.includes('sandbox') ? a.test_key : a.key;
      const response = await harness.call(method, path, { key, body: payload });
      expect([method, path, JSON.stringify(body), response.statusCode]).toEqual([
        method,
        path,
        JSON.stringify(body),
        400,
      ]);
      expect(faults(response)[0]?.reason).toBe('unknown');
    }
  }
});

test('a key cannot grant a scope it lacks: not by create, not by change, not by rotation', async () => {
  const manager = await harness.makeKey(a, { scopes: ['manage:keys', 'manage:credits'] });
  const wide = await harness.makeKey(a, { scopes: ['inference'] });
  const attempts = [
    await post(options, manager.secret),
    await harness.call('PATCH', `/v1/keys/${manager.id}`, {
      key: manager.secret,
      body: { scopes: ['manage:keys', 'inference'] },
    }),
    await harness.call('POST', `/v1/keys/${wide.id}/rotate`, { key: manager.secret, body: {} }),
  ];
  for (const response of attempts) {
    expect([response.statusCode, codeOf(response)]).toEqual([403, 'permission_denied']);
    expect(response.json().error.details.scope).toBe('inference');
  }
  // manage:credits contains read:credits.
  expect((await post({ ...options, scopes: ['read:credits'] }, manager.secret)).statusCode).toBe(201);
});

test('a key that ends cannot make, extend or rotate into a key that lives longer', async () => {
  const ends = new Date(Date.now() + 3_600_000);
  const mortal = await harness.makeKey(a, { expires_at: ends });
  const lasting = await harness.makeKey(a);
  const attempts = [
    await post(options, mortal.secret),
    await post({ ...options, expires_in: '2h' }, mortal.secret),
    await harness.call('PATCH', `/v1/keys/${mortal.id}`, { key: mortal.secret, body: { expires_at: null } }),
    await harness.call('POST', `/v1/keys/${lasting.id}/rotate`, { key: mortal.secret, body: {} }),
  ];
  for (const response of attempts)
    expect([response.statusCode, codeOf(response)]).toEqual([403, 'permission_denied']);
  expect((await post({ ...options, expires_in: '1h' }, a.key)).statusCode).toBe(201);
  const own = await harness.call('POST', `/v1/keys/${mortal.id}/rotate`, { key: mortal.secret, body: {} });
  expect([own.statusCode, own.json().expires_at]).toEqual([201, ends.toISOString()]);
});

test('a test key makes test keys only, also in a live project', async () => {
  const live = await post({ ...options, environment: 'live' }, a.test_key);
  expect([live.statusCode, codeOf(live)]).toEqual([403, 'sandbox_key_not_allowed']);
  const made = await post(options, a.test_key);
  expect([made.statusCode, made.json().environment]).toEqual([201, 'test']);
  const misplaced = await post({ ...options, project_id: a.test.id, environment: 'live' });
  expect([misplaced.statusCode, misplaced.json().error.param]).toEqual([400, 'environment']);
});

test('a patch changes what it names: absent stays, null is the default, {} changes nothing', async () => {
  const made = (
    await post({ ...options, limits: { rpm: 5, tpm: 6 }, budget: { daily_micro: 7, hard: false } })
  ).json();
  const patch = async (body: object) =>
    (await harness.call('PATCH', `/v1/keys/${made.id}`, { key: a.key, body })).json();
  const { secret: _, ...unchanged } = made;
  expect(await patch({})).toMatchObject(unchanged);
  expect(await patch({ limits: { rpm: 9 } })).toMatchObject({
    limits: { rpm: 9, tpm: 6 },
    budget: made.budget,
  });
  expect(await patch({ limits: { tpm: null } })).toMatchObject({ limits: { rpm: 9, tpm: null } });
  expect(await patch({ budget: { hard: true } })).toMatchObject({ budget: { daily_micro: 7, hard: true } });
  await patch({ budget: { hard: false }, data_policy: { zdr: true, regions: ['eu'] } });
  expect(await patch({ budget: { hard: null }, data_policy: { regions: null } })).toMatchObject({
    budget: { daily_micro: 7, hard: true },
    data_policy: { zdr: true },
  });
  expect((await patch({})).data_policy).toEqual({ zdr: true });
  expect(await patch({ budget: null })).toMatchObject({ budget: { daily_micro: null, hard: true } });
  expect((await patch({})).alerts).toEqual([50, 80, 100]);
  expect((await patch({ alerts: [25] })).alerts).toEqual([25]);
  expect((await patch({ alerts: [] })).alerts).toEqual([]);
  expect((await patch({ alerts: null })).alerts).toEqual([50, 80, 100]);
  expect((await harness.keys.verify(made.secret)) as object).toMatchObject({
    limits: { key: { rpm: 9, tpm: null } },
  });
  for (const [body, param] of [
    [{ name: null }, 'name'],
    [{ scopes: null }, 'scopes'],
  ] as const) {
    const response = await harness.call('PATCH', `/v1/keys/${made.id}`, { key: a.key, body });
    expect([response.statusCode, faults(response)[0]]).toMatchObject([
      400,
      { param, reason: 'not_nullable' },
    ]);
  }
  const version = await harness.call('PATCH', `/v1/keys/${made.id}`, {
    key: a.key,
    body: { svc_version: '2020-01-01' },
  });
  expect(codeOf(version)).toBe('unsupported_version');
});

test.each(['2027-02-30', '2027-02-29T10:00:00Z', '2027-04-31T10:00:00+05:30', '9999-12-31T23:59:59-01:00'])(
  'a time that no calendar of four digits has is refused: %s',
  async (expires_at) => {
    const patch = (body: object) => harness.call('PATCH', `/v1/keys/${made.id}`, { key: a.key, body });
    const made = (await post(options)).json();
    const response = await patch({ expires_at });
    expect([response.statusCode, faults(response)]).toMatchObject([
      400,
      [{ param: 'expires_at', reason: 'format' }],
    ]);
    expect((await patch({ expires_at: '2028-02-29' })).json().expires_at).toBe('2028-02-29T00:00:00.000Z');
  },
);

test('revoking twice is the same as once, and a revoked key takes no changes', async () => {
  const { id, secret } = await harness.makeKey(a);
  const first = (await harness.call('DELETE', `/v1/keys/${id}`, { key: a.key })).json();
  expect(first.status).toBe('revoked');
  const used = await harness.call('GET', '/v1/models', { key: secret });
  expect([used.statusCode, used.json().error.details.reason]).toEqual([401, 'revoked']);
  const again = await harness.call('DELETE', `/v1/keys/${id}`, { key: a.key });
  expect([again.statusCode, again.json().revoked_at]).toEqual([200, first.revoked_at]);
  const patched = await harness.call('PATCH', `/v1/keys/${id}`, { key: a.key, body: { name: 'x' } });
  expect([patched.statusCode, codeOf(patched)]).toEqual([409, 'state_conflict']);
});

test('rotation copies the settings, keeps the budget window and leaves the old key its grace', async () => {
  const old = (await post({ ...options, budget: { daily_micro: 1_000 }, limits: { rpm: 3 } })).json();
  const rotated = await harness.call('POST', `/v1/keys/${old.id}/rotate`, {
    key: a.key,
    body: { grace_seconds: 60 },
  });
  expect(rotated.statusCode).toBe(201);
  const fresh = rotated.json();
  expect(fresh).toMatchObject({
    rotated_from: old.id,
    status: 'active',
    limits: old.limits,
    budget: old.budget,
    scopes: old.scopes,
  });
  const [was, is] = [await harness.keys.verify(old.secret), await harness.keys.verify(fresh.secret)];
  expect(is.subject).toEqual(was.subject);
  const listed = await harness.call('GET', '/v1/keys?status=rotating', { key: a.key });
  expect(listed.json().data.map((key: { id: string }) => key.id)).toContain(old.id);
  const twice = await harness.call('POST', `/v1/keys/${old.id}/rotate`, { key: a.key, body: {} });
  expect([twice.statusCode, codeOf(twice)]).toEqual([409, 'state_conflict']);
  await harness.call('PATCH', `/v1/keys/${fresh.id}`, {
    key: a.key,
    body: { budget: { daily_micro: 2_000 } },
  });
  expect((await harness.call('GET', `/v1/keys/${old.id}`, { key: a.key })).json().budget.daily_micro).toBe(
    2_000,
  );
  expect(await readWindows(harness.pool, { key_nos: [is.subject.key_no] })).toEqual([]);
  const at_once = await harness.call('POST', `/v1/keys/${fresh.id}/rotate`, { key: a.key, body: {} });
  expect(at_once.statusCode).toBe(201);
  const gone = await harness.call('GET', '/v1/models', { key: fresh.secret });
  expect([gone.statusCode, gone.json().error.details.reason]).toEqual([401, 'revoked']);
});

test('of twenty concurrent rotations one succeeds', async () => {
  const { id } = await harness.makeKey(a);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => harness.call('POST', `/v1/keys/${id}/rotate`, { key: a.key, body: {} })),
  );
  expect(answers.map((answer) => answer.statusCode).sort()).toEqual([201, ...Array(19).fill(409)]);
});

test('the plan bounds active keys, and concurrent creates do not pass it', async () => {
  const tenant = await harness.makeTenant('bounded');
  const statement = {
    name: 'test.plan',
    text: `update org set plan_id = 'payg' where id = $1`,
    values: [tenant.org.id],
  };
  await harness.pool.query(statement);
  const body = { ...options, project_id: tenant.live.id };
  const answers = await Promise.all(Array.from({ length: 25 }, () => post(body, tenant.key)));
  // Two keys stand already; payg allows twenty.
  expect(answers.filter((answer) => answer.statusCode === 201)).toHaveLength(18);
  const refused = answers.filter((answer) => answer.statusCode === 409);
  expect(new Set(refused.map(codeOf))).toEqual(new Set(['plan_limit_reached']));
});

test('a key that was revoked or has ended does not count against the plan', async () => {
  const tenant = await harness.makeTenant('bounded-again');
  for (let keys = 2; keys < 19; keys++) await harness.makeKey(tenant);
  await harness.pool.query({
    name: 'test.plan_again',
    text: `update org set plan_id = 'payg' where id = $1`,
    values: [tenant.org.id],
  });
  const make = (more: object = {}) => post({ ...options, project_id: tenant.live.id, ...more }, tenant.key);
  const ends = await make({ expires_in: '2h' });
  expect([ends.statusCode, codeOf(await make())]).toEqual([201, 'plan_limit_reached']);
  shiftClock(2 * 3_600_000);
  const last = await make();
  expect([last.statusCode, codeOf(await make())]).toEqual([201, 'plan_limit_reached']);
  await harness.call('DELETE', `/v1/keys/${last.json().id}`, { key: tenant.key });
  expect([(await make()).statusCode, codeOf(await make())]).toEqual([201, 'plan_limit_reached']);
  shiftClock(0);
});

test('a repeated Idempotency-Key makes one key and shows its secret again', async () => {
  const headers = { 'idempotency-key': 'create-1' };
  const first = await post(options, a.key, headers);
  const again = await post(options, a.key, headers);
  expect([first.statusCode, again.statusCode]).toEqual([201, 201]);
  expect(again.json()).toEqual(first.json());
  expect(first.headers['x-svc-idempotent-replay']).toBeUndefined();
  expect(again.headers['x-svc-idempotent-replay']).toBe('true');
  const other = await post({ ...options, name: 'other' }, a.key, headers);
  expect([other.statusCode, codeOf(other)]).toEqual([422, 'idempotency_conflict']);
  // Scope is (organization, environment, path, key): neither the other tenant nor a test key meets it.
  const theirs = await post({ ...options, project_id: b.live.id }, b.key, headers);
  expect([theirs.statusCode, theirs.json().id === first.json().id]).toEqual([201, false]);
  expect((await post({ ...options, environment: 'test' }, a.test_key, headers)).statusCode).toBe(201);
  const stored = await harness.pool.query<{ body: Buffer }>({
    name: 'test.sealed',
    text: 'select body from idempotency',
  });
  for (const { body } of stored.rows) expect(body.toString('latin1')).not.toContain('svc-');
});

test('of twenty concurrent calls with one Idempotency-Key one runs', async () => {
  const headers = { 'idempotency-key': 'create-2' };
  const answers = await Promise.all(Array.from({ length: 20 }, () => post(options, a.key, headers)));
  const made = answers.filter((answer) => answer.statusCode === 201);
  expect(new Set(made.map((answer) => answer.json().id)).size).toBe(1);
  for (const answer of answers) expect([201, 409]).toContain(answer.statusCode);
  const refused = answers.find((answer) => answer.statusCode === 409);
  if (refused !== undefined) {
    expect([codeOf(refused), refused.headers['retry-after']]).toEqual(['idempotency_in_progress', '1']);
  }
});

test('a kept refusal is given again, a refusal of rights is not kept', async () => {
  const headers = { 'idempotency-key': 'refused-1' };
  const missing = { ...options, project_id: 'prj_x' };
  const first = await post(missing, a.key, headers);
  const again = await post(missing, a.key, headers);
  expect([first.statusCode, again.statusCode, again.headers['x-svc-idempotent-replay']]).toEqual([
    404,
    404,
    'true',
  ]);
  const denied = { 'idempotency-key': 'refused-2' };
  const narrow = await harness.makeKey(a, { scopes: ['manage:keys'] });
  expect((await post(options, narrow.secret, denied)).statusCode).toBe(403);
  expect((await post(options, a.key, denied)).statusCode).toBe(201);
  const bad = await post(options, a.key, { 'idempotency-key': 'x'.repeat(129) });
  expect([bad.statusCode, bad.json().error.param]).toEqual([400, 'Idempotency-Key']);
});

test('no caller met a defect', () => {
  expect(harness.defects).toEqual([]);
});
