// An organization's own provider keys over GraphQL, from the first one to its end: the same objects and refusals as REST,
// and the secret nowhere.
import { camel } from '@svc/graphql/names.ts';
import type { FastifyInstance } from 'fastify';
import { beforeAll, expect, test } from 'vitest';
import { providersFile, REFUSAL, startKeyHost } from '../sim/key-host.ts';
import { startWorld } from './world.ts';

const host = await startKeyHost();
const world = await startWorld({ providers_file: providersFile(host.provider('keyhost', 'Key Host')) });
const { harness, gateway, tenant } = world;
const { a, b } = harness;
const SECRET = 'sk-planted-0123456789-TAIL';
let session = '';
let viewer = '';
let stranger = '';
beforeAll(async () => {
  session = await harness.signIn(await harness.makePerson(a, 'developer'));
  viewer = await harness.signIn(await harness.makePerson(a, 'viewer'));
  stranger = await harness.signIn(await harness.makePerson(b, 'owner'));
});

/** Every answer of this file, as text. */
const answers: string[] = [];

async function ask(at: FastifyInstance, token: string, query: string, variables: object = {}) {
  const answer = await world.ask(at, token, query, variables);
  answers.push(JSON.stringify(answer));
  return answer;
}

const key =
  'id providerId label hint status feeBps fallbackToPool createdAt updatedAt lastUsedAt validatedAt';
const fields: Readonly<Record<string, string>> = {
  createByok: `key { ${key} }`,
  updateByok: `key { ${key} }`,
  deleteByok: 'deleted',
  validateByok: `key { ${key} } validation { ok providerId status models message }`,
};

function documentOf(name: string): string {
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  return `mutation($input: ${title}Input!) { ${name}(input: $input) { __typename
    ... on ${title}Payload { ${fields[name]} } ... on UserError { code message path } } }`;
}

async function send(name: string, input: object, token = session, at = tenant) {
  const answer = await ask(at, token, documentOf(name), { input });
  expect(answer.errors).toEqual([]);
  return answer.data[name];
}

async function rest() {
  const response = await gateway.inject({
    url: '/v1/byok',
    headers: { authorization: `Bearer ${session}` },
  });
  answers.push(response.body);
  return response.json() as { data: object[]; providers: object[]; fee_bps: number };
}

/** An object of REST as GraphQL says it. */
function shown(row: object): object {
  const value = (name: string, found: unknown) => (name === 'status' ? String(found).toUpperCase() : found);
  return Object.fromEntries(Object.entries(row).map(([name, found]) => [camel(name), value(name, found)]));
}

const list = `{ byok { feeBps keys { ${key} } providers { id name byokCapable byokRequired } } }`;

test('a key is added, tried, changed and deleted, and REST sees each step', async () => {
  const input = { providerId: 'keyhost', secret: SECRET, label: 'research', fallbackToPool: true };
  const made = await send('createByok', { ...input, idempotencyKey: 'own-1' });
  expect(made).toEqual({
    __typename: 'CreateByokPayload',
    key: {
      id: expect.stringMatching(/^byok_[0-9A-HJKMNP-TV-Z]{26}$/),
      ...{ providerId: 'keyhost', label: 'research', hint: '...TAIL', status: 'ACTIVE', feeBps: 500 },
      ...{ fallbackToPool: true, createdAt: expect.any(String), updatedAt: expect.any(String) },
      ...{ lastUsedAt: null, validatedAt: null },
    },
  });
  expect(await send('createByok', { ...input, idempotencyKey: 'own-1' })).toEqual(made);
  expect((await rest()).data.map(shown)).toEqual([made.key]);
  const { id } = made.key as { id: string };

  const refused = await send('validateByok', { id });
  expect(refused.validation).toEqual({
    ...{ ok: false, providerId: 'keyhost', status: 401, models: null, message: REFUSAL },
  });
  expect(refused.key).toMatchObject({ status: 'REJECTED', validatedAt: null });

  host.accepted.add(`${SECRET}2`);
  const changed = await send('updateByok', {
    ...{ id, secret: `${SECRET}2`, label: 'other', fallbackToPool: false },
  });
  expect(changed.key).toMatchObject({ label: 'other', hint: '...AIL2', status: 'ACTIVE' });
  expect(changed.key.fallbackToPool).toBe(false);
  const good = await send('validateByok', { id });
  expect(good.validation).toEqual({
    ...{ ok: true, providerId: 'keyhost', status: 200, models: 2, message: null },
  });
  expect(good.key.validatedAt).toEqual(expect.any(String));
  expect(host.asked).toEqual([SECRET, `${SECRET}2`]);

  // A provider that has troubles of its own says nothing of the key.
  host.broken = true;
  const unknown = await send('validateByok', { id });
  expect(unknown.validation).toMatchObject({ ok: false, status: 503, message: 'We are looking into it.' });
  expect(unknown.key).toEqual(good.key);
  host.broken = false;

  // What is not given stays as it is.
  const renamed = await send('updateByok', { id, label: null, fallbackToPool: true, secret: null });
  expect(renamed.key).toMatchObject({ label: 'other', hint: '...AIL2', fallbackToPool: true });
  expect((await rest()).data.map(shown)).toEqual([renamed.key]);

  expect(await send('deleteByok', { id })).toEqual({ __typename: 'DeleteByokPayload', deleted: true });
  expect((await rest()).data).toEqual([]);
});

test('a key and a person read what REST shows, with the providers; another organization finds nothing', async () => {
  for (const label of ['first', 'second']) {
    await send('createByok', { providerId: 'keyhost', secret: SECRET, label });
  }
  const seen = await ask(tenant, session, list);
  expect(seen.errors).toEqual([]);
  expect((await ask(gateway, a.key, list)).data).toEqual(seen.data);
  const { data, providers, fee_bps } = await rest();
  expect(data).toHaveLength(2);
  expect(seen.data.byok).toEqual({
    ...{ keys: data.map(shown), providers: providers.map(shown), feeBps: fee_bps },
  });
  expect(seen.data.byok.providers).toContainEqual({
    ...{ id: 'keyhost', name: 'Key Host', byokCapable: true, byokRequired: true },
  });

  const [{ id }] = seen.data.byok.keys;
  const node = 'query($id: ID!) { node(id: $id) { __typename id ... on ProviderKey { label hint } } }';
  expect((await ask(gateway, a.key, node, { id })).data.node).toEqual({
    ...{ __typename: 'ProviderKey', id, label: 'first', hint: '...TAIL' },
  });
  expect((await ask(tenant, stranger, node, { id })).data.node).toBeNull();
  expect((await ask(tenant, stranger, list)).data.byok.keys).toEqual([]);
  for (const [name, input] of [
    ['updateByok', { id, label: 'mine' }],
    ['validateByok', { id }],
    ['deleteByok', { id }],
  ] as const) {
    const refused = await send(name, input, stranger);
    expect(refused).toMatchObject({ __typename: 'NotFoundError', code: 'not_found' });
  }
  expect((await rest()).data).toHaveLength(2);
});

test('who may not change keys is refused in the union with the code of REST, and may read or not as there', async () => {
  const { id } = (await rest()).data[0] as { id: string };
  const writes = [
    ['createByok', { providerId: 'keyhost', secret: SECRET, label: 'third' }],
    ['updateByok', { id, fallbackToPool: true }],
    ['validateByok', { id }],
    ['deleteByok', { id }],
  ] as const;
  const { secret: reader } = await harness.makeKey(a, { scopes: ['read:usage'] });
  for (const [name, input] of writes) {
    for (const [at, token, code] of [
      [tenant, viewer, 'permission_denied'],
      [gateway, reader, 'permission_denied'],
      [gateway, a.test_key, 'sandbox_key_not_allowed'],
    ] as const)
      expect([code, await send(name, input, token, at)]).toMatchObject([
        code,
        { __typename: 'PermissionError', code },
      ]);
  }
  for (const [at, token] of [
    [tenant, viewer],
    [gateway, reader],
  ] as const) {
    const refused = await ask(at, token, list);
    expect([refused.data.byok, refused.errors[0]?.extensions['code']]).toEqual([null, 'permission_denied']);
  }
  expect((await ask(gateway, a.test_key, list)).data.byok.keys).toHaveLength(2);
  expect((await rest()).data).toHaveLength(2);
});

test.each([
  ['a provider that there is none of', { providerId: 'nobody' }, 'NotFoundError', 'not_found', 'providerId'],
  ['the sandbox, which takes no keys', { providerId: 'sandbox' }, 'NotFoundError', 'not_found', 'providerId'],
  ['a secret with a blank', { secret: `${SECRET} x` }, 'ValidationError', 'invalid_request', 'secret'],
  [
    'a secret with a line break',
    { secret: `${SECRET}\nx: y` },
    'ValidationError',
    'invalid_request',
    'secret',
  ],
  ['an empty secret', { secret: '' }, 'ValidationError', 'invalid_request', 'secret'],
  ['a label with a line break', { label: 'a\nb' }, 'ValidationError', 'invalid_request', 'label'],
  ['a label of another key', { label: 'first' }, 'ConflictError', 'conflict', 'label'],
] as const)('%s is refused, and names the field', async (_what, more, __typename, code, field) => {
  const input = { providerId: 'keyhost', secret: SECRET, label: 'refused', ...more };
  expect(await send('createByok', input)).toMatchObject({ __typename, code, path: ['input', field] });
});

test.each([
  ['a member that is missing', { secret: SECRET }],
  ['a member that there is none of', { providerId: 'keyhost', secret: SECRET, baseUrl: 'http://10.0.0.1' }],
  ['a secret in a list of two', { providerId: 'keyhost', secret: [SECRET, SECRET] }],
  ['no object at all', SECRET],
])('an input that does not fit its type is refused on both surfaces: %s', async (_what, input) => {
  for (const [at, token] of [
    [tenant, session],
    [gateway, a.key],
  ] as const) {
    const answer = await ask(at, token, documentOf('createByok'), { input });
    expect(answer.data?.createByok ?? null).toBeNull();
    expect(answer.errors[0]?.extensions['code']).toBe('GRAPHQL_VALIDATION_FAILED');
    expect(answer.errors[0]?.message).toContain('Variable "$input" got an invalid value');
  }
});

/** Tables of which a row holds `text`, as text or as bytes. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows } = await harness.pool.query<{ name: string }>({
    name: 'test.tables',
    text: `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
            where c.relkind in ('r', 'p') and not c.relispartition and n.nspname in ('public', 'ledger')`,
  });
  expect(rows.length).toBeGreaterThan(30);
  const found: string[] = [];
  for (const { name } of rows) {
    const { rows: held } = await harness.pool.query({
      name: `test.look ${name}`,
      text: `select 1 from ${name} t where t::text like '%' || $1::text || '%'
                or t::text like '%' || encode(convert_to($1::text, 'UTF8'), 'hex') || '%' limit 1`,
      values: [text],
    });
    if (held.length > 0) found.push(name);
  }
  return found;
}

test('the secret is in no answer, no table and no log', async () => {
  expect(answers.join('\n')).toContain('research');
  expect(answers.filter((answer) => answer.includes('planted'))).toEqual([]);
  expect(await tablesWith('TAIL')).toEqual(['public.byok_key']);
  expect(await tablesWith('planted')).toEqual([]);
  expect(world.defects).toEqual([]);
});
