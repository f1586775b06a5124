// Accepting legal documents: who may, what is kept as evidence, and that it counts once.
import { sha256Hex } from '@svc/core/kernel/index.ts';
import { findText } from '@svc/core/legal/index.ts';
import { expect, test } from 'vitest';
import { startLegalWorld } from './world.ts';

const world = await startLegalWorld();
const { a, b, call, makePerson, makeTenant, pool, signIn, rows } = world;
const V1 = '2026-11-01';

const accept = (kind: string, key: string, body: object = { version: V1 }, ip?: string) =>
  call('POST', `/v1/legal/documents/${kind}/accept`, { key, body, ...(ip === undefined ? {} : { ip }) });

async function outstanding(key: string): Promise<string[]> {
  const { data } = (await call('GET', '/v1/legal/documents', { key })).json();
  return data
    .filter((one: { outstanding: boolean }) => one.outstanding)
    .map((one: { kind: string }) => one.kind);
}

test('a new organization owes what asks for acceptance, and nothing more when an owner has accepted it', async () => {
  const tenant = await makeTenant('accepts');
  const owner = await signIn(await makePerson(tenant, 'owner'));
  expect(await outstanding(tenant.key)).toEqual(['tos', 'dpa', 'privacy', 'aup']);
  for (const kind of ['tos', 'dpa', 'privacy', 'aup'])
    expect((await accept(kind, owner)).statusCode, kind).toBe(201);
  expect(await outstanding(tenant.key)).toEqual([]);
  const { data } = (await call('GET', '/v1/legal/documents', { key: tenant.test_key })).json();
  expect(data.map(({ kind }: { kind: string }) => kind)).toEqual([
    ...['tos', 'dpa', 'privacy', 'aup', 'dpdp_notice', 'sccs'],
  ]);
  expect(data[0]).toMatchObject({
    ...{ version: V1, scope: 'org', requires_acceptance: true, previous_version: null },
    url: `http://127.0.0.1:8080/docs/legal/tos/${V1}`,
  });
  expect(data[0].accepted_at).toMatch(/Z$/);
  expect(data[0].accepted_by).toContain('@');
});

test('the evidence holds who, from which address, how, and the text as it was shown', async () => {
  const tenant = await makeTenant('evidence');
  const person = await makePerson(tenant, 'owner');
  const owner = await signIn(person);
  const signing = { version: V1, signer_name: 'Ann Rao', signer_title: 'Director' };
  const answer = await accept('dpa', owner, signing, '203.0.113.77');
  expect(answer.json()).toMatchObject({
    ...{ org_id: tenant.org.id, user_id: person.id, user_email: person.email, kind: 'dpa', version: V1 },
    ...{ ip: '203.0.113.77', method: 'click_through', signer_name: 'Ann Rao', signer_title: 'Director' },
  });
  const { text_sha256 } = answer.json();
  const text = await findText(pool, Buffer.from(text_sha256, 'hex'));
  expect(sha256Hex(text ?? '')).toBe(text_sha256);
  const read = await call('GET', '/v1/documents/dpa', { key: tenant.key });
  expect(text).toBe(read.body);
  expect(text).toContain('evidence');
  expect(text).not.toContain('{{');
});

test('accepting again is 200 with the acceptance of before, and of twenty at once one counts', async () => {
  const tenant = await makeTenant('at-once');
  const owner = await signIn(await makePerson(tenant, 'owner'));
  const all = await Promise.all(Array.from({ length: 20 }, () => accept('tos', owner)));
  expect(all.filter(({ statusCode }) => statusCode === 201)).toHaveLength(1);
  expect(all.filter(({ statusCode }) => statusCode === 200)).toHaveLength(19);
  expect(new Set(all.map((answer) => answer.json().id)).size).toBe(1);
  const { data } = (await call('GET', '/v1/legal/acceptances', { key: tenant.key })).json();
  expect(data).toHaveLength(1);
});

test('a key of an owner accepts as api; keys of others, test keys and members who are no owners do not', async () => {
  const tenant = await makeTenant('by-key');
  const owner = await makePerson(tenant, 'owner');
  const admin = await makePerson(tenant, 'admin');
  const mine = await world.makeKey(tenant, { created_by: owner.id });
  const theirs = await world.makeKey(tenant, { created_by: admin.id });
  expect((await accept('tos', theirs.secret)).statusCode).toBe(403);
  expect((await accept('tos', await signIn(admin))).statusCode).toBe(403);
  expect((await accept('tos', tenant.test_key)).json().error.code).toBe('sandbox_key_not_allowed');
  const answer = await accept('tos', mine.secret);
  expect(answer.statusCode, answer.body).toBe(201);
  expect(answer.json()).toMatchObject({ method: 'api', user_id: owner.id });
});

test('a version that is not in force or coming is refused with those that are', async () => {
  const answer = await accept('tos', a.key, { version: '2020-01-01' });
  expect(answer.statusCode).toBe(409);
  expect(answer.json().error).toMatchObject({ code: 'version_mismatch', details: { versions: [V1] } });
  expect((await accept('nonsense', a.key)).statusCode).toBe(404);
  expect((await call('GET', '/v1/legal/documents/nonsense', { key: a.key })).statusCode).toBe(404);
  const other = await call('GET', '/v1/legal/documents/tos?version=1999-01-01', { key: a.key });
  expect(other.statusCode).toBe(404);
});

test('whoever makes an organization with the terms has accepted terms, privacy notice and use policy', async () => {
  const session = await signIn(await makePerson(b, 'viewer'));
  const make = async (slug: string, accept_terms: boolean) => {
    const body = { name: slug, slug, billing_country: 'US', accept_terms };
    const answer = await call('POST', '/v1/orgs', { key: session, body });
    expect(answer.statusCode, answer.body).toBe(201);
    return rows<{ kind: string; method: string; ip: string }>(
      `select kind, method, ip from legal_acceptance where org_id = $1 order by kind`,
      [answer.json().id],
    );
  };
  expect(await make('with-terms', true)).toEqual(
    ['aup', 'privacy', 'tos'].map((kind) => ({ kind, method: 'click_through', ip: '127.0.0.1' })),
  );
  expect(await make('without-terms', false)).toEqual([]);
});

test('what was published and accepted cannot be altered by programs', async () => {
  for (const text of [
    `update legal_version set text = 'x'`,
    `update legal_acceptance set ip = null`,
    'delete from legal_acceptance',
    'delete from legal_text',
    `update subprocessor_list set entries = '[]'`,
  ])
    await expect(
      pool.transaction(async (db) => {
        await db.query({ name: '', text: 'set local role svc_runtime' });
        await db.query({ name: '', text });
      }),
      text,
    ).rejects.toThrow(/permission denied/);
});

test('an acceptance is in the audit log, and other organizations see neither', async () => {
  const tenant = await makeTenant('audited');
  const owner = await signIn(await makePerson(tenant, 'owner'));
  await accept('aup', owner);
  const log = (await call('GET', '/v1/audit-log', { key: owner })).json().data;
  expect(log[0]).toMatchObject({ action: 'legal.documents.accept', target: { id: `aup ${V1}` } });
  const { data } = (await call('GET', '/v1/legal/acceptances', { key: b.key })).json();
  expect(data.filter(({ org_id }: { org_id: string }) => org_id === tenant.org.id)).toEqual([]);
});
