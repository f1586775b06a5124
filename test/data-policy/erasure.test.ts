// An end user who is erased is found nowhere: not in a table, a file, a log or a history. And what an export shows before.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPool } from '@svc/core/db/index.ts';
import type { Id } from '@svc/core/kernel/index.ts';
import { digestOfIds, eraseBatch, sweepErased } from '@svc/core/privacy/index.ts';
import { Client, Connection } from '@temporalio/client';
import { expect, test, vi } from 'vitest';
import type { Json, Reply } from '../calls/caller.ts';
import { bodyOf, eventually, useWorld } from '../calls/world.ts';
import { atFileEnd } from '../support/ends.ts';
import { startWorkerProgram } from '../support/programs/worker.ts';
import { staffContext } from '../support/provision.ts';
import { sharedTemporal } from '../support/temporal.ts';
import { detailOf, manage, type Tenant, tenantUnder } from './policy.ts';

vi.setConfig({ testTimeout: 120_000 });
const world = useWorld({ gateway: 'alone', models: { chat: 16 }, env: { SVC_LOG_LEVEL: 'debug' } });
const USER = 'planted-user-4711';
const CONTENT = 'planted-content-of-the-user';
const TAG = 'planted-tag';
const SESSION = 'planted-session-of-the-user';
const PLANTED = /planted/;
const idOf = (reply: Reply) => reply.headers['x-svc-request-id'] as string;
const post = (org: Tenant, path: string, body: object) =>
  manage(world(), org, { method: 'POST', path, body });

async function call(org: Tenant, user: string, text = CONTENT): Promise<string> {
  const headers = { 'x-svc-metadata': JSON.stringify({ team: TAG }), 'x-svc-session': SESSION };
  const reply = await world().chat(org.key, bodyOf(world().model('chat').id, text, { user }), { headers })
    .reply;
  expect(reply.status, reply.text).toBe(200);
  return idOf(reply);
}

/** The detail of a call as it is now, whatever is known of its content. */
async function seen(org: Tenant, id: string): Promise<Json> {
  return (await manage(world(), org, { method: 'GET', path: `/v1/requests/${id}` })).body;
}

/** Everything that every table of the database holds, as text. */
async function allRows(): Promise<string> {
  const { rows } = await world().db.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and not c.relispartition and n.nspname in ('public', 'ledger')`,
  );
  const texts: string[] = [];
  for (const { name } of rows) {
    const found = await world().db.query<{ line: string }>(`select t::text as line from ${name} t`);
    texts.push(...found.rows.map(({ line }) => `${name} ${line}`));
  }
  return texts.join('\n');
}

/** Every file below a directory, as text. */
function allFiles(dir: string): string {
  return readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

test('exported, erased, and then found in no table, file, log or history', async () => {
  const org = await tenantUnder(world(), { logging: 'on' });
  const stranger = await tenantUnder(world(), { logging: 'on' });
  const ids = [await call(org, USER), await call(org, USER), await call(org, USER)];
  const other = await call(org, 'another-user', 'plain words');
  const abroad = await call(stranger, USER, 'plain words');
  for (const id of [...ids, other])
    expect((await detailOf(world(), org, id))['payload_state']).toBe('available');
  await detailOf(world(), stranger, abroad);

  const { status, body: shown } = await post(org, '/v1/privacy/export', { user_id: USER });
  expect([status, shown['object'], shown['count']]).toEqual([200, 'dsar_export', 3]);
  const records = shown['records'] as Json[];
  expect(records.map((record) => record['request_id'])).toEqual([...ids].reverse());
  expect(JSON.stringify(records[0]?.['request'])).toContain(CONTENT);
  expect(records[0]).toMatchObject({ tokens: expect.any(Number), cost_micro: expect.any(Number) });
  const hash = shown['subject_hash'] as string;
  const before = await manage(world(), org, { method: 'GET', path: '/v1/credits' });

  const temporal = await sharedTemporal();
  const worker = await startWorkerProgram({
    SVC_DATABASE_URL: world().database_url,
    SVC_TEMPORAL_ADDRESS: temporal.address,
    SVC_TEMPORAL_NAMESPACE: temporal.namespace,
    SVC_DATA_DIR: world().gateway.data_dir,
    ...{ SVC_METRICS_PORT: '0', SVC_LOG_LEVEL: 'debug' },
  });
  const asked = await post(org, '/v1/privacy/erasure', { user_id: USER });
  expect(asked.status).toBe(201);
  const request_id = asked.body['id'] as string;
  const request = await eventually(
    'the erasure is completed',
    async () => {
      const path = `/v1/privacy/requests/${request_id}`;
      const { body } = await manage(world(), org, { method: 'GET', path });
      return body['status'] === 'completed' ? body : null;
    },
    60_000,
  );
  expect(request).toMatchObject({ kind: 'erasure', records: 3, subject_hash: hash });
  expect(request['receipt']).toMatchObject({
    ...{ records: 3, payloads_deleted: 3, method: 'unlink_and_delete_content', digest: digestOfIds(ids) },
  });

  // Rows stay, with what they cost, and name nobody; those of others are as they were.
  for (const id of ids) {
    const detail = await seen(org, id);
    expect(detail).toMatchObject({ user_hash: '', session_id: '', tags: {} });
    // In its first minute content counts as on its way.
    expect(['erased', 'pending']).toContain(detail['payload_state']);
    expect(detail['cost_micro']).toBeGreaterThan(0);
  }
  expect(await detailOf(world(), org, other)).toMatchObject({
    ...{
      payload_state: 'available',
      tags: { team: TAG },
      session_id: SESSION,
      user_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  });
  expect(await detailOf(world(), stranger, abroad)).toMatchObject({ payload_state: 'available' });
  expect(await manage(world(), org, { method: 'GET', path: '/v1/credits' })).toEqual(before);
  const again = await post(org, '/v1/privacy/export', { user_id: USER });
  expect([again.status, again.body['count']]).toEqual([200, 0]);

  const rows = await allRows();
  const withHash = rows
    .split('\n')
    .filter((line) => line.includes(hash))
    .map((line) => line.split(' ')[0]);
  expect([...new Set(withHash)].sort()).toEqual(['public.data_subject_request', 'public.erasure_tombstone']);
  expect(rows).not.toContain(USER);
  expect(rows).not.toContain(CONTENT);
  // Which calls it was is in nobody's hands any more: neither request nor receipt leads to them.
  expect(rows).not.toContain('public.erased_call');
  expect(allFiles(world().gateway.data_dir)).not.toMatch(PLANTED);
  expect(world().gateway.output()).not.toMatch(PLANTED);
  expect(worker.output()).not.toMatch(PLANTED);
  const connection = await Connection.connect({ address: temporal.address });
  atFileEnd(() => connection.close());
  const client = new Client({ connection, namespace: temporal.namespace });
  const handle = client.workflow.getHandle(`erasure-${request_id}`);
  await handle.result();
  const history = JSON.stringify(await handle.fetchHistory(), (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString() : value,
  );
  expect(history).toContain(request_id);
  for (const word of [USER, CONTENT, hash, ...ids]) expect(history).not.toContain(word);
  expect(await worker.stop()).toBe(0);
});

test('a row and content that arrive after the erasure are unlinked and deleted; a later call is not', async () => {
  const org = await tenantUnder(world(), { logging: 'on' });
  const early = await call(org, USER);
  const detail = await detailOf(world(), org, early);
  const hash = detail['user_hash'] as string;
  const asked = await post(org, '/v1/privacy/erasure', { user_id: USER });
  const pool = createPool(world().database_url, { max: 2, role: 'svc_runtime' });
  atFileEnd(() => pool.end());
  const finish = async (id: string) => {
    const context = staffContext(pool);
    const args = { dsr_id: id as Id<'data_subject_request'> };
    for (let status = 'running'; status === 'running'; ) status = (await eraseBatch(context, args)).status;
  };
  await finish(asked.body['id'] as string);
  // The row comes once more, as out of the spool of a gateway, and its content with it.
  const admin = createPool(world().database_url, { max: 1 });
  atFileEnd(() => admin.end());
  const run = (text: string, values: unknown[]) => admin.query({ name: '', text, values });
  await run('update request_row set user_hash = $2 where request_id = $1', [early, hash]);
  await run(
    `insert into request_payload (request_id, ts, org_id, sealed)
     select request_id, ts, org_id, '\\x00' from request_row where request_id = $1`,
    [early],
  );
  const later = await call(org, USER);
  await detailOf(world(), org, later);
  // The gateway's job may be sweeping too, and not have committed yet.
  const untilSwept = () =>
    eventually('what arrived late is unlinked and deleted', async () => {
      await sweepErased(pool, new Date());
      const { rowCount } = await run('select 1 from request_payload where request_id = $1', [early]);
      return rowCount === 0 && (await seen(org, early))['user_hash'] === '';
    });
  await untilSwept();
  expect(await seen(org, early)).toMatchObject({ user_hash: '', session_id: '', tags: {} });
  expect(await detailOf(world(), org, later)).toMatchObject({ user_hash: hash, payload_state: 'available' });
  // Content may come after its row.
  await run(
    `insert into request_payload (request_id, ts, org_id, sealed)
     select request_id, ts, org_id, '\\x00' from request_row where request_id = $1`,
    [early],
  );
  await untilSwept();
  // A day later nothing of it is kept.
  await sweepErased(pool, new Date(Date.now() + 25 * 3_600_000));
  const kept = await run(
    `select (select count(*) from erasure_tombstone where subject_hash = $1)
          + (select count(*) from erased_content where request_id = $2)
          + (select count(*) from erased_call) as n`,
    [hash, early],
  );
  expect(Number((kept.rows[0] as { n: number }).n)).toBe(0);
});

test('an export of any number of calls is a line each, and no more than that', async () => {
  const org = await tenantUnder(world(), { logging: 'on' });
  const ids = [await call(org, 'one'), await call(org, 'one')];
  for (const id of ids) await detailOf(world(), org, id);
  const reply = await fetch(`${world().gateway.base_url}/v1/privacy/export`, {
    method: 'POST',
    headers: { authorization: `Bearer ${org.live_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ user_id: 'one', format: 'ndjson' }),
  });
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
  const lines = (await reply.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Json);
  expect(lines.map((line) => line['request_id'])).toEqual([...ids].reverse());
  expect(JSON.stringify(lines[0]?.['request'])).toContain(CONTENT);
  const { body } = await manage(world(), org, { method: 'GET', path: '/v1/privacy/requests' });
  expect(body['data']).toMatchObject([{ kind: 'export', status: 'completed', records: 2, receipt: null }]);
});

test('who may ask, and for whom', async () => {
  const org = await tenantUnder(world(), {});
  const wrong: [object, number][] = [
    [{}, 400],
    [{ user_id: '' }, 400],
    [{ user_id: 7 }, 400],
    [{ user_id: 'x'.repeat(1_025) }, 400],
    [{ user_id: 'a', more: 1 }, 400],
  ];
  for (const path of ['/v1/privacy/erasure', '/v1/privacy/export'])
    for (const [body, status] of wrong)
      expect([path, (await post(org, path, body)).status]).toEqual([path, status]);
  const missing = await manage(world(), org, {
    method: 'GET',
    path: '/v1/privacy/requests/dsr_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  });
  expect(missing.status).toBe(404);
});
