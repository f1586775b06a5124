// The export of an organization: what is in it, and what is in no file.
import { createHash } from 'node:crypto';
import { sealColumn } from '@svc/core/kernel/index.ts';
import { admittingRoles, operations } from '@svc/core/operations/index.ts';
import { derived, exported, ours, passing, secret } from '@svc/core/org-export/index.ts';
import { beforeAll, expect, test } from 'vitest';
import { startWorld } from '../organizations/world.ts';
import { makeEvalRows } from '../registry/eval-rows.ts';
import { makeGiftRow } from '../registry/gift-rows.ts';
import type { Tenant } from '../registry/harness.ts';
import { rowOf } from '../registry/rows.ts';
import { makeMandate, makeTopup } from '../registry/topup-rows.ts';
import { makeWebhook } from '../registry/webhook-rows.ts';
import { exportOf, linesOf, ownerOf } from './exports.ts';
import { tablesOfOrgs } from './tables.ts';

const world = await startWorld();
const { a, b, call, context, pool } = world;

const rows = async <Row>(text: string, values: readonly unknown[] = []) =>
  (await pool.query<Row>({ name: '', text, values })).rows;
/** Fills an organization in every corner, with `mark` wherever words can be given. */
async function fill(tenant: Tenant, mark: string): Promise<{ owner: string; secrets: string[] }> {
  const { org, key } = tenant;
  const owner = await ownerOf(world, tenant);
  const post = async (path: string, body: object, as = key) => {
    const answer = await call('POST', path, { key: as, body });
    expect([path, answer.statusCode < 300], answer.body).toEqual([path, true]);
    return answer.json() as Record<string, string>;
  };
  const { secret: key_secret } = await post('/v1/keys', {
    ...{ project_id: tenant.live.id, name: `${mark} key`, scopes: ['inference'], environment: 'live' },
  });
  await post('/v1/projects', { slug: `${mark}-project`, name: `${mark} project` });
  const old = await post('/v1/projects', { slug: `${mark}-archived`, name: `${mark} archived` });
  const archived = await call('DELETE', `/v1/projects/${old['id']}`, { key });
  expect(archived.statusCode, archived.body).toBe(204);
  await post('/v1/byok', { provider_id: 'openai', secret: `sk-${mark}-0123456789`, label: `${mark} key` });
  const webhook = await post('/v1/webhooks', {
    url: 'https://93.184.216.34/a',
    events: ['*'],
    description: mark,
  });
  await makeWebhook(world, tenant);
  await post(`/v1/orgs/${org.id}/invitations`, { email: `guest@${mark}.example`, role: 'viewer' }, owner);
  const token = await post('/v1/org/scim/token', {});
  await post('/v1/tickets', { subject: `${mark} subject`, body: `${mark} text` });
  await post('/v1/privacy/export', { user_id: `${mark}-user` });
  await post('/v1/policies', {
    name: mark,
    yaml: `version: 1\npolicy: ${mark}\ndefaults: {sort: price, require: {zdr: true}}\n`,
  });
  await makeTopup(context, tenant);
  await makeMandate(context, tenant);
  await makeGiftRow(context, tenant);
  await rows(`update gift set code_hash = sha256($2::bytea) where org_id = $1`, [org.id, `code of ${mark}`]);
  await makeEvalRows(context, tenant);
  await rows(
    `insert into sso_connection (org_id, kind, display_name, status, enforce, default_role, role_map, config, metadata,
                                 client_secret, created_at, updated_at)
     values ($1, 'oidc', $2, 'draft', false, 'viewer', '{}', $4, '{}', $3, now(), now())`,
    [
      org.id,
      `${mark} identity`,
      sealColumn(
        world.root_key,
        'sso_connection.client_secret',
        [org.id],
        Buffer.from(`${mark}-client-secret`),
      ),
      { issuer: `https://id.${mark}.example`, client_id: mark, scopes: [], claim_map: {}, jit: true },
    ],
  );
  await rows(`insert into sso_alias (org_id, alias) values ($1, $2)`, [org.id, mark]);
  for (const environment of ['live', 'test'] as const)
    for (let n = 0; n < 230; n++)
      world.request_log.write(rowOf(tenant, { environment, tags: { team: mark } }));
  await world.request_log.flush();
  const secrets = [key_secret, webhook['secret'], token['token'], key, tenant.test_key, owner];
  return {
    owner,
    secrets: [
      ...secrets.filter((text) => text !== undefined),
      `sk-${mark}-0123456789`,
      `${mark}-client-secret`,
    ],
  };
}

let files: Map<string, Buffer>;
let planted: { owner: string; secrets: string[] };
let theirs: { owner: string; secrets: string[] };
beforeAll(async () => {
  planted = await fill(a, 'planted');
  theirs = await fill(b, 'foreign');
  files = await exportOf(world, a, planted.owner);
}, 120_000);

test('every table that knows an organization has a fate, and what is exported has a file that is there', async () => {
  const names = await tablesOfOrgs(pool);
  const all = [exported, secret, passing, derived, ours].flatMap(Object.keys);
  expect(names.filter((name) => !all.includes(name))).toEqual([]);
  expect(all.length).toBe(new Set(all).size);
  for (const words of [secret, passing, derived, ours].flatMap(Object.values))
    expect(words.length).toBeGreaterThan(15);
  const paths = new Set(
    [...files.keys()].map((path) => path.replace('.ndjson', '').replace(/[^/]+\.pdf$/, '*.pdf')),
  );
  expect(
    Object.values(exported)
      .flat()
      .filter((name) => !paths.has(name)),
  ).toEqual([]);
  // No file is there that no table is in.
  // Customers of a reseller are organizations of their own: only what they are called is in its export.
  const further = ['README.txt', 'manifest.json', 'plan', 'limits', 'reseller_children'];
  const known = new Set([...Object.values(exported).flat(), ...further]);
  expect([...paths].filter((name) => !known.has(name))).toEqual([]);
});

test('what was put in is found in the file where it belongs, with as many rows as the database has', async () => {
  const expected: Record<string, string> = {
    projects: 'project',
    invitations: 'invitation',
    webhooks: 'webhook',
    webhook_deliveries: 'webhook_delivery',
    provider_keys: 'byok_key',
    tickets: 'ticket',
    privacy_requests: 'data_subject_request',
    policies: 'policy',
    policy_versions: 'policy_version',
    topups: 'topup',
    refunds: 'refund',
    mandates: 'mandate',
    gifts: 'gift',
    invoices: 'invoice',
    eval_suites: 'eval_suite',
    eval_runs: 'eval_run',
    requests: 'request_row',
    keys: 'api_key',
    members: 'org_member',
    single_sign_on: 'sso_connection',
    exports: 'org_export',
  };
  for (const [file, table] of Object.entries(expected)) {
    const [row] = await rows<{ n: number }>(`select count(*)::int as n from ${table} where org_id = $1`, [
      a.org.id,
    ]);
    expect([file, linesOf(files, file).length]).toEqual([file, row?.n]);
    expect(row?.n).toBeGreaterThan(0);
  }
  for (const name of ['keys', 'projects', 'provider_keys', 'invitations', 'webhooks', 'tickets', 'policies'])
    expect([name, files.get(`${name}.ndjson`)?.includes('planted')]).toEqual([name, true]);
  expect(linesOf(files, 'tickets')).toMatchObject([{ body: { text: 'planted text' }, messages: [] }]);
  expect(linesOf(files, 'projects').map(({ status }) => status)).toContain('archived');
  expect(linesOf(files, 'eval_cases')).toMatchObject([{ revision: 1, id: 'fr' }]);
  expect([...files.keys()].filter((path) => path.endsWith('.pdf')).length).toBe(1);
  // A call of each environment says which, and has everything that was measured.
  const calls = linesOf(files, 'requests');
  expect(calls.filter(({ environment }) => environment === 'test').length).toBe(230);
  expect(calls[0]).toMatchObject({
    environment: 'live',
    tags: { team: 'planted' },
    attempt_rows: [{ attempt: 1 }],
  });
});

test('a line has the fields that the route answers with', async () => {
  const answer = await call('GET', `/v1/tickets/${linesOf(files, 'tickets')[0]?.['id']}`, {
    key: planted.owner,
  });
  expect(linesOf(files, 'tickets')[0]).toEqual(answer.json());
  const [live] = linesOf(files, 'requests');
  const detail = await call('GET', `/v1/requests/${live?.['request_id']}`, { key: planted.owner });
  expect(live).toEqual({ environment: 'live', ...(detail.json() as object) });
  const org = await call('GET', `/v1/orgs/${a.org.id}`, { key: planted.owner });
  expect(linesOf(files, 'organization')).toEqual([org.json()]);
});

test('the manifest is last and recomputes: lines, sizes and SHA-256 of every other file', () => {
  const paths = [...files.keys()];
  expect([paths[0], paths.at(-1)]).toEqual(['README.txt', 'manifest.json']);
  const manifest = JSON.parse(files.get('manifest.json')?.toString() ?? '') as {
    org: object;
    format_version: number;
    files: { path: string; rows: number | null; bytes: number; sha256: string }[];
  };
  expect(manifest).toMatchObject({
    format: 'svc-organization-export',
    format_version: 1,
    org: { id: a.org.id },
  });
  expect(manifest.files.map(({ path }) => path)).toEqual(paths.slice(0, -1));
  for (const { path, rows: lines, bytes, sha256 } of manifest.files) {
    const file = files.get(path) as Buffer;
    const counted = path.endsWith('.ndjson') ? file.toString().split('\n').length - 1 : null;
    expect([path, lines, bytes, sha256]).toEqual([
      ...[path, counted, file.length],
      createHash('sha256').update(file).digest('hex'),
    ]);
  }
  const readme = files.get('README.txt')?.toString() ?? '';
  for (const path of paths.filter((path) => path.endsWith('.ndjson'))) expect(readme).toContain(path);
});

/** Every value of bytes in rows of an organization, by where it is. */
async function bytesOf(org_id: string): Promise<{ place: string; value: Buffer }[]> {
  const columns = await rows<{ table: string; column: string }>(
    `select x.table_name as table, x.column_name as column from information_schema.columns x
      where x.table_schema = 'public' and x.udt_name = 'bytea'
        and (x.table_name = 'org' or exists (
          select from information_schema.columns o
           where o.table_schema = 'public' and o.table_name = x.table_name and o.column_name = 'org_id'))
        and not x.table_name ~ '_\\d{8}$'`,
  );
  const found: { place: string; value: Buffer }[] = [];
  for (const { table, column } of columns)
    for (const { value } of await rows<{ value: Buffer }>(
      `select ${column} as value from ${table} where ${table === 'org' ? 'id' : 'org_id'} = $1 and length(${column}) >= 7`,
      [org_id],
    ))
      found.push({ place: `${table}.${column}`, value });
  return found;
}
/** SHA-256 of texts that everybody may read. */
const PUBLIC = ['legal_acceptance.text_sha256'];

test('nothing that opens anything is in a file: no secret, no hash of one, no sealed column', async () => {
  const text = Buffer.concat([...files.values()]).toString('latin1');
  expect(planted.secrets.length).toBeGreaterThan(7);
  for (const one of planted.secrets) expect([one, text.includes(one)]).toEqual([one, false]);
  const values = await bytesOf(a.org.id);
  const places = new Set(values.map(({ place }) => place));
  for (const place of ['api_key.hash', 'byok_key.secret_sealed', 'webhook.secret_sealed', 'org.pepper'])
    expect(places).toContain(place);
  const shown = values.filter(
    ({ place, value }) =>
      !PUBLIC.includes(place) &&
      (['hex', 'base64', 'base64url', 'latin1'] as const).some((form) => text.includes(value.toString(form))),
  );
  expect(shown.map(({ place }) => place)).toEqual([]);
  expect(files.get('keys.ndjson')?.includes('"hint"')).toBe(true);
});

test('nothing of another organization is in a file', async () => {
  const text = Buffer.concat([...files.values()]).toString();
  expect(text).not.toContain('foreign');
  expect(text).not.toContain(b.org.id);
  const tables = await rows<{ table: string; column: string }>(
    `select i.table_name as table, i.column_name as column from information_schema.columns i join information_schema.columns o
         on o.table_name = i.table_name and o.table_schema = i.table_schema
      where i.table_schema = 'public' and i.column_name in ('id', 'request_id') and o.column_name = 'org_id'
        and i.data_type = 'text' and i.table_name <> 'audit_entry' and not i.table_name ~ '_\\d{8}$'`,
  );
  // What fills both organizations here does so under one request id, which is in both logs.
  let looked = 0;
  for (const { table, column } of tables) {
    for (const { id } of await rows<{ id: string }>(
      `select ${column} as id from ${table} where org_id = $1 and ${column} is not null`,
      [b.org.id],
    )) {
      looked++;
      expect([table, id, text.includes(id)]).toEqual([table, id, false]);
    }
  }
  expect(looked).toBeGreaterThan(450);
  const foreign = await exportOf(world, b, theirs.owner);
  expect(foreign.get('keys.ndjson')?.includes('foreign')).toBe(true);
});

test('every operation whose rows are exported is one that an owner may run', () => {
  const routes = [...(files.get('README.txt')?.toString() ?? '').matchAll(/Fields: GET (\S+)/g)].map(
    ([, path]) => path,
  );
  expect(routes.length).toBeGreaterThan(30);
  for (const path of routes.filter((path) => path?.startsWith('/v1/'))) {
    const route = path?.replace(',', '').replaceAll(/\{(\w+)\}/g, ':$1');
    const operation = operations.find((one) => one.method === 'GET' && one.path === route);
    const { audience } = operation as (typeof operations)[number];
    const roles = admittingRoles(audience);
    expect([path, roles === 'any' || roles.includes('owner')]).toEqual([path, true]);
  }
});
