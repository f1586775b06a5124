// An organization that made calls, was written to and wrote, and is then erased by the worker: found in no table, file, log or history
// but in what the law keeps. And what arrives after that.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createPool, type Pool } from '@svc/core/db/index.ts';
import { createPerson } from '@svc/core/identity/index.ts';
import { kept, sweepErasedOrgs } from '@svc/core/org-erasure/index.ts';
import { Client, Connection } from '@temporalio/client';
import { beforeAll, expect, test, vi } from 'vitest';
import type { Json, Reply } from '../calls/caller.ts';
import { bodyOf, eventually, useWorld } from '../calls/world.ts';
import { atFileEnd } from '../support/ends.ts';
import { startWorkerProgram } from '../support/programs/worker.ts';
import { staffContext } from '../support/provision.ts';
import { sharedTemporal } from '../support/temporal.ts';
import { detailOf, manage, type Tenant, tenantUnder } from './policy.ts';

vi.setConfig({ testTimeout: 180_000 });
const world = useWorld({ gateway: 'alone', models: { chat: 16 }, env: { SVC_LOG_LEVEL: 'debug' } });
const PLANTED = /planted/i;
const OWNER = 'planted-owner@mail.example';

let admin: Pool;
beforeAll(() => {
  admin = createPool(world().database_url, { max: 2 });
  atFileEnd(() => admin.end());
});
const run = async <Row>(text: string, values: readonly unknown[] = []) =>
  (await admin.query<Row>({ name: '', text, values })).rows;

/** Everything that every table of the database holds, a row a line, after the name of its table. */
async function allRows(): Promise<string[]> {
  const tables = await run<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and not c.relispartition and n.nspname in ('public', 'ledger')`,
  );
  const lines: string[] = [];
  for (const { name } of tables)
    for (const { line } of await run<{ line: string }>(`select t::text as line from ${name} t`))
      lines.push(`${name} ${line}`);
  return lines;
}
const tablesOf = (lines: readonly string[]) =>
  [...new Set(lines.map((line) => line.split(' ')[0] as string))].sort();

/** Files below a directory with such words. Mails are not looked at: without a mail server they are what people got. */
function filesWith(dir: string, words: RegExp): string[] {
  return readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !relative(dir, path).startsWith('mail/'))
    .filter((path) => words.test(readFileSync(path, 'latin1')));
}

async function call(org: Tenant): Promise<string> {
  const headers = { 'x-svc-metadata': JSON.stringify({ team: 'planted-tag' }) };
  const body = bodyOf(world().model('chat').id, 'planted-content', { user: 'planted-user' });
  const reply: Reply = await world().chat(org.key, body, { headers }).reply;
  expect(reply.status, reply.text).toBe(200);
  return reply.headers['x-svc-request-id'] as string;
}

/** Names, people, texts and calls in every corner that one can fill over the API. */
async function plant(org: Tenant, post: (path: string, body: object) => Promise<Json>): Promise<void> {
  const patched = await manage(world(), org, {
    ...{ method: 'PATCH', path: `/v1/orgs/${org.org_id}` },
    body: { name: 'Planted Name', slug: 'planted-slug', billing_email: 'planted@bill.example' },
  });
  expect(patched.status, JSON.stringify(patched.body)).toBe(200);
  const pool = createPool(world().database_url, { max: 2, role: 'svc_runtime' });
  atFileEnd(() => pool.end());
  await createPerson(staffContext(pool), { email: OWNER, org_id: org.org_id, role: 'owner' });
  await post('/v1/tickets', { subject: 'planted subject', body: 'planted text' });
  await post('/v1/projects', { slug: 'planted-project', name: 'Planted' });
  await post('/v1/privacy/export', { user_id: 'planted-user' });
  await post('/v1/webhooks', { url: 'https://planted.example/hook', events: ['*'] });
  await post('/v1/keys', { name: 'planted key', project_id: org.project_id, scopes: ['inference'] });
  await post('/v1/evals/suites', {
    name: 'planted suite',
    cases: [
      {
        input: { messages: [{ role: 'user', content: 'planted case' }], generation: { max_tokens: 16 } },
        grader: { kind: 'exact', expected: 'planted' },
      },
    ],
  });
  // What is accepted is evidence of the contract, and stays with who accepted it.
  await run(`insert into legal_text (sha256, text) values (sha256('text'), 'text') on conflict do nothing`);
  await run(
    `insert into legal_version (kind, version, title, summary, requires_acceptance, text, effective_at, published_at, published_by)
     values ('tos', '2020-01-01', 'Terms', 'For a test', false, 'text', now(), now(), 'test')`,
  );
  await run(
    `insert into legal_acceptance (org_id, user_email, kind, version, accepted_at, method, text_sha256)
     values ($1, $2, 'tos', '2020-01-01', now(), 'api', sha256('text'))`,
    [org.org_id, OWNER],
  );
  // Mail to these addresses was refused once.
  for (const address of ['planted@bill.example', OWNER])
    await run(
      `insert into mail_address (recipient_key, cause, answer, mail_id, refused_at)
       values ($1, 'refused', '550 no such user', 'mail_01KACZ3V8S6T5R4Q3P2N1M0K9J', now())`,
      [address],
    );
}

/** Lets the time pass in which an erasure is announced, and that in which the closing is waited for. */
async function letTimePass(org: Tenant): Promise<void> {
  const wake = () =>
    run(
      `insert into workflow_signal (workflow_id, name, args, created_at) values ($1, 'asked', '{}', now())`,
      [`orgerase-${org.org_id}`],
    );
  const status = async () =>
    (await run<{ status: string }>('select status from org_erasure where org_id = $1', [org.org_id]))[0]
      ?.status;
  await run(`update org_erasure set due_at = now() - interval '1 second' where org_id = $1`, [org.org_id]);
  await wake();
  await eventually('it is closed', async () => ((await status()) === 'closing' ? true : null), 60_000);
  await run(`update org_erasure set began_at = now() - interval '4 days' where org_id = $1`, [org.org_id]);
  await wake();
  await eventually('it is erased', async () => ((await status()) === 'completed' ? true : null), 60_000);
}

test('erased, and then found in no table, file, log or history but in what the law keeps', async () => {
  const org = await tenantUnder(world(), { logging: 'on' });
  const other = await tenantUnder(world(), { logging: 'on' });
  const post = async (path: string, body: object) => {
    const reply = await manage(world(), org, { method: 'POST', path, body });
    expect([path, reply.status < 300], JSON.stringify(reply.body)).toEqual([path, true]);
    return reply.body;
  };
  const id = await call(org);
  expect((await detailOf(world(), org, id))['payload_state']).toBe('available');
  const abroad = await call(other);
  await detailOf(world(), other, abroad);
  await plant(org, post);
  const before = (await allRows()).filter((line) => line.includes(org.org_id));
  expect(tablesOf(before.filter((line) => PLANTED.test(line)))).toEqual(
    expect.arrayContaining(
      ['audit_entry', 'api_key', 'eval_suite', 'org', 'project', 'request_row', 'ticket', 'webhook'].map(
        (name) => `public.${name}`,
      ),
    ),
  );

  const temporal = await sharedTemporal();
  const worker = await startWorkerProgram({
    SVC_DATABASE_URL: world().database_url,
    SVC_TEMPORAL_ADDRESS: temporal.address,
    SVC_TEMPORAL_NAMESPACE: temporal.namespace,
    SVC_DATA_DIR: world().gateway.data_dir,
    ...{ SVC_METRICS_PORT: '0', SVC_LOG_LEVEL: 'info' },
  });
  await post(`/v1/orgs/${org.org_id}/erasure`, {});
  await letTimePass(org);
  const { gateway } = world();
  expect((await world().chat(org.key, bodyOf(world().model('chat').id, 'Hello')).reply).status).toBe(401);

  // What a worker saw open, its own erasure too, stands until the next look (docs/operate/retention.md).
  await eventually(
    'the workers have looked again',
    async () => {
      const of_org = 'select from workflow_open where workflow_id like $1';
      const { rows } = await world().db.query(of_org, [`%${org.org_id}%`]);
      return rows.length === 0 ? true : null;
    },
    90_000,
  );
  const after = await allRows();
  // The other organization's own call says the same, and stays.
  const named = after.filter((line) => PLANTED.test(line) && !line.includes(other.org_id));
  expect(tablesOf(named)).toEqual(['public.legal_acceptance']);
  // The books keep what it cost, under another form of its id.
  expect(tablesOf(after.filter((line) => line.includes(id)))).toEqual([]);
  const lawful = Object.keys(kept).map((name) => (name === 'book' ? 'ledger.book' : `public.${name}`));
  const ids = [
    'public.org',
    'public.workflow_start',
    'public.workflow_signal',
    'public.audit_entry',
    'public.ledger_task',
  ];
  const strange = tablesOf(after.filter((line) => line.includes(org.org_id))).filter(
    (name) => ![...lawful, ...ids].includes(name) && !/_change$|^ledger\./.test(name),
  );
  expect(strange).toEqual([]);
  expect(await detailOf(world(), other, abroad)).toMatchObject({ payload_state: 'available' });

  expect(filesWith(gateway.data_dir, PLANTED)).toEqual([]);
  expect(gateway.output()).not.toMatch(PLANTED);
  expect(worker.output()).not.toMatch(PLANTED);
  const connection = await Connection.connect({ address: temporal.address });
  atFileEnd(() => connection.close());
  const client = new Client({ connection, namespace: temporal.namespace });
  for (const workflow_id of [`orgerase-${org.org_id}`, `close-${org.org_id}`]) {
    const handle = client.workflow.getHandle(workflow_id);
    await handle.result();
    const history = JSON.stringify(await handle.fetchHistory(), (_, value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString() : value,
    );
    expect(history).toContain(org.org_id);
    expect(history).not.toMatch(PLANTED);
  }
  expect(await worker.stop()).toBe(0);

  // A row comes late, out of the spool of a gateway, with content and a sum.
  await run(
    `insert into request_row select (jsonb_populate_record(r, jsonb_build_object('org_id', $1::text, 'request_id', $2::text))).*
       from request_row r where request_id = $3`,
    [org.org_id, id, abroad],
  );
  await run(
    `insert into request_payload (request_id, ts, org_id, sealed) select request_id, ts, org_id, '\\x00' from request_row where request_id = $1`,
    [id],
  );
  // And a day of its app was summed while the rows went.
  await run(
    `insert into app_day (day, org_id, app_id, model, requests, tokens, first_at)
     values (current_date, $1, 'planted-app', 'acme/fast-1', 1, 1, now())`,
    [org.org_id],
  );
  await run(
    `insert into app (slug, org_id, name, first_seen_at, updated_at) values ('planted-app', $1, 'planted-app', now(), now())`,
    [org.org_id],
  );
  const pool = createPool(world().database_url, { max: 2, role: 'svc_runtime' });
  atFileEnd(() => pool.end());
  expect(await sweepErasedOrgs(pool, new Date())).toBe(4);
  expect((await allRows()).filter((line) => line.includes('planted-app'))).toEqual([]);
  expect(tablesOf((await allRows()).filter((line) => line.includes(id)))).toEqual([]);
  expect(await detailOf(world(), other, abroad)).toMatchObject({ payload_state: 'available' });
});
