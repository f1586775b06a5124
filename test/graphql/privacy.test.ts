// The data policy, redaction tried out, and requests about end users over GraphQL: the same answers and refusals as REST.
import { eraseBatch } from '@svc/core/privacy/index.ts';
import { presets } from '@svc/core/redaction/index.ts';
import { beforeAll, expect, test } from 'vitest';
import { rowOf } from '../registry/rows.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { harness, gateway, tenant } = world;
const { a, b } = harness;
let owner = '';
let viewer = '';
beforeAll(async () => {
  owner = await harness.signIn(await harness.makePerson(a, 'owner'));
  viewer = await harness.signIn(await harness.makePerson(a, 'viewer'));
});

const request = `id kind subjectHash status records createdAt
  receipt { records method payloadsDeleted completedAt digest }`;
const fields: Readonly<Record<string, string>> = {
  updateDataPolicy: 'org { id dataPolicy }',
  previewRedaction: 'preview { input output redactions presets }',
  eraseSubject: `request { ${request} }`,
  exportSubject: 'export { object subjectHash count records { requestId model tokens costMicro } }',
};

async function send(name: string, input: object, token = owner, at = tenant) {
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  const text = `mutation($input: ${title}Input!) { ${name}(input: $input) { __typename
    ... on ${title}Payload { ${fields[name]} } ... on UserError { code message path } } }`;
  const answer = await world.ask(at, token, text, { input });
  expect(answer.errors).toEqual([]);
  return answer.data[name];
}

const rest = async (method: 'GET' | 'PATCH' | 'POST', path: string, body?: object, key = a.key) =>
  (await harness.call(method, path, { key, ...(body === undefined ? {} : { body }) })).json();
const path = `/v1/orgs/${a.org.id}`;
const { id } = a.org;

test('a data policy is changed in parts, null is the default, and REST shows the same', async () => {
  const first = await send('updateDataPolicy', {
    id,
    dataPolicy: {
      ...{ zdr: true, regions: ['eu'], logging: 'on' },
      redact: { presets: ['EMAIL', 'API_KEY'], patterns: ['PRJ-\\d+'] },
    },
  });
  expect(first.org.dataPolicy).toEqual({
    ...{ logging: 'on', retention_days: 30, zdr: true, no_train: false, regions: ['eu'] },
    redact: { presets: ['email', 'api_key'], patterns: ['PRJ-\\d+'] },
  });
  const change = { retentionDays: 7, zdr: null, logging: null, redact: { patterns: null } };
  const second = await send('updateDataPolicy', { id, dataPolicy: change });
  expect(second.org.dataPolicy).toEqual({
    ...{ logging: 'off', retention_days: 7, zdr: false, no_train: false, regions: ['eu'] },
    redact: { presets: ['email', 'api_key'], patterns: [] },
  });
  expect((await rest('GET', path)).data_policy).toEqual(second.org.dataPolicy);
  const third = await send('updateDataPolicy', { id, dataPolicy: { noTrain: true } }, a.key, gateway);
  expect(third.org.dataPolicy).toEqual({ ...second.org.dataPolicy, no_train: true });
});

test('a refused change names its field, and who may not is told so in the words of REST', async () => {
  const before = (await rest('GET', path)).data_policy;
  for (const [dataPolicy, code, at] of [
    [{ retentionDays: 366 }, 'invalid_request', ['retentionDays']],
    [{ logging: 'yes' }, 'invalid_request', ['logging']],
    [{ regions: ['eu', ''] }, 'invalid_request', ['regions', '1']],
    [{ redact: { patterns: ['fine', '(a)\\1'] } }, 'invalid_pattern', ['redact', 'patterns', '1']],
  ] as const) {
    const refused = await send('updateDataPolicy', { id, dataPolicy });
    expect(refused).toMatchObject({
      ...{ __typename: 'ValidationError', code, path: ['input', 'dataPolicy', ...at] },
    });
  }
  const body = { data_policy: { zdr: true } };
  const { error } = await rest('PATCH', path, body, viewer);
  const refused = await send('updateDataPolicy', { id, dataPolicy: { zdr: true } }, viewer);
  expect(refused).toMatchObject({
    ...{ __typename: 'PermissionError', code: error.code, message: error.message },
  });
  const abroad = await send('updateDataPolicy', { id: b.org.id, dataPolicy: { zdr: true } });
  expect(abroad).toMatchObject({ __typename: 'NotFoundError', code: 'not_found' });
  expect((await rest('GET', path)).data_policy).toEqual(before);
});

/** Tables with a row that has `needle` in it. */
async function tablesWith(needle: string): Promise<string[]> {
  const { rows } = await harness.pool.query<{ name: string }>({
    name: 'test.tables',
    text: `select format('%I.%I', n.nspname, c.relname) as name from pg_class c
             join pg_namespace n on n.oid = c.relnamespace
            where c.relkind in ('r', 'p') and not c.relispartition and n.nspname in ('public', 'ledger')`,
  });
  const found: string[] = [];
  for (const { name } of rows) {
    const text = `select 1 from ${name} t where t::text like '%' || $1 || '%' limit 1`;
    const hit = await harness.pool.query({ name: `test.${name}`, text, values: [needle] });
    if (hit.rows.length > 0) found.push(name);
  }
  return found;
}

test('redaction is tried out by everybody with what is asked, as over REST, and nothing of it is stored', async () => {
  const sample = 'planted4711@b.co, +91 98765 43210, PRJ-7';
  const asked = { presets: ['EMAIL', 'PHONE'], patterns: ['PRJ-\\d'], sample };
  const seen = await send('previewRedaction', asked, viewer);
  expect(seen.preview).toEqual({
    input: sample,
    output: '[REDACTED:email], [REDACTED:phone], [REDACTED:pattern_1]',
    redactions: 3,
    presets: presets.map((preset) => preset.toUpperCase()),
  });
  expect(await send('previewRedaction', asked, a.key, gateway)).toEqual(seen);
  const body = { presets: ['email', 'phone'], patterns: ['PRJ-\\d'], sample };
  const { output, redactions } = await rest('POST', '/v1/policy/redact/preview', body);
  expect([output, redactions]).toEqual([seen.preview.output, seen.preview.redactions]);
  await send('updateDataPolicy', { id, dataPolicy: { redact: { patterns: ['planted0815'] } } });
  expect(await tablesWith('planted0815')).toContain('public.org');
  expect(await tablesWith('planted4711')).toEqual([]);
});

test('a preview that is refused names the pattern or the sample', async () => {
  const ask = (input: object) => send('previewRedaction', { presets: [], sample: 'x', ...input }, viewer);
  expect(await ask({ patterns: ['x', '(?=y)'] })).toMatchObject({
    ...{ __typename: 'ValidationError', code: 'invalid_pattern', path: ['input', 'patterns', '1'] },
  });
  expect(await ask({ patterns: Array.from({ length: 21 }, () => 'x') })).toMatchObject({
    ...{ code: 'invalid_request', path: ['input', 'patterns'] },
  });
  expect(await ask({ sample: 'e'.repeat(65_537) })).toMatchObject({
    ...{ code: 'invalid_request', path: ['input', 'sample'] },
  });
  expect(await ask({ sample: 'é'.repeat(40_000) })).toMatchObject({
    ...{ code: 'request_too_large', path: ['input', 'sample'] },
  });
  const { secret } = await harness.makeKey(a, { scopes: ['read:usage'] });
  expect(await send('previewRedaction', { presets: [], sample: 'x' }, secret, gateway)).toMatchObject({
    ...{ __typename: 'PermissionError', code: 'permission_denied' },
  });
});

test('an end user is exported and erased, and the list shows both as REST does', async () => {
  const userId = 'user-4711';
  const none = await send('exportSubject', { userId });
  const rows = [1, 2].map(() => rowOf(a, { user_hash: none.export.subjectHash }));
  for (const row of rows) harness.request_log.write(row);
  await harness.request_log.flush();
  const shown = await send('exportSubject', { userId });
  expect(shown.export).toMatchObject({ object: 'dsar_export', count: 2 });

  // The call waits for the end of the erasure, which a worker brings about.
  const asked = send('eraseSubject', { userId });
  const list = `{ privacyRequests(first: 3) { nodes { ${request} } pageInfo { hasNextPage } } }`;
  const read = async () => {
    const answer = await world.ask(tenant, owner, list);
    expect(answer.errors).toEqual([]);
    return answer.data.privacyRequests;
  };
  await expect.poll(async () => (await read()).nodes[0].kind).toBe('ERASURE');
  const dsr_id = (await read()).nodes[0].id;
  await expect.poll(async () => (await eraseBatch(harness.context, { dsr_id })).status).toBe('completed');
  const { request: erased } = await asked;
  expect(erased).toMatchObject({
    ...{ id: dsr_id, kind: 'ERASURE', status: 'COMPLETED', records: 2 },
    subjectHash: none.export.subjectHash,
    receipt: {
      records: 2,
      method: 'unlink_and_delete_content',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  });

  const { nodes, pageInfo } = await read();
  expect([nodes.length, pageInfo]).toEqual([3, { hasNextPage: false }]);
  expect(nodes[0]).toEqual(erased);
  const { data } = await rest('GET', '/v1/privacy/requests');
  expect(
    data.map(({ id, kind, subject_hash, status, records }: Record<string, unknown>) => [
      ...[id, String(kind).toUpperCase(), subject_hash, String(status).toUpperCase(), records],
    ]),
  ).toEqual(
    nodes.map(({ id, kind, subjectHash, status, records }: Record<string, unknown>) => [
      ...[id, kind, subjectHash, status, records],
    ]),
  );
  const one = await world.ask(tenant, owner, `query($id: ID!) { privacyRequest(id: $id) { ${request} } }`, {
    id: dsr_id,
  });
  expect(one.data.privacyRequest).toEqual(erased);
});

test('requests about end users are for owners and admins, and stay in their organization', async () => {
  for (const name of ['eraseSubject', 'exportSubject'])
    expect(await send(name, { userId: 'user-1' }, viewer)).toMatchObject({
      ...{ __typename: 'PermissionError', code: 'permission_denied' },
    });
  const list = '{ privacyRequests { nodes { id } } }';
  const refused = await world.ask(tenant, viewer, list);
  expect([refused.data.privacyRequests, refused.errors[0]?.extensions['code']]).toEqual([
    ...[null, 'permission_denied'],
  ]);
  expect(await send('eraseSubject', { userId: '' })).toMatchObject({
    ...{ __typename: 'ValidationError', path: ['input', 'userId'] },
  });
  const stranger = await harness.signIn(await harness.makePerson(b, 'owner'));
  expect((await world.ask(tenant, stranger, list)).data.privacyRequests.nodes).toEqual([]);
});

test('no surface met a defect', () => {
  expect(world.defects).toEqual([]);
});
