// The data policy and redaction tried out over GraphQL: the same answers and refusals as REST.
import { presets } from '@svc/core/redaction/index.ts';
import { beforeAll, expect, test } from 'vitest';
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

const fields: Readonly<Record<string, string>> = {
  updateDataPolicy: 'org { id dataPolicy }',
  previewRedaction: 'preview { input output redactions presets }',
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

test('no surface met a defect', () => {
  expect(world.defects).toEqual([]);
});
