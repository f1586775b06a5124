// Who reads encrypted histories: Temporal's own command line over the staff listener, pages of Temporal's UI with a session of
// staff, and nobody else.
import { execFile } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { verifyAudit } from '@svc/core/identity/index.ts';
import { sealPayload } from '@svc/core/workflow-starts/index.ts';
import { converterOf } from '@svc/workflows/codec/codec.ts';
import { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import { startWorld } from '../graphql/world.ts';
import { toolPath } from '../support/engine.ts';
import { sharedTemporal } from '../support/temporal.ts';
import { connect } from '../workflows/world.ts';

const UI = 'https://temporal.example';
const world = await startWorld({ decoder: { ui_origins: [UI] } });
const { harness, staff } = world;
const { root_key } = harness;
const support = await world.signInStaff(['support']);
const catalog = await world.signInStaff(['catalog']);
const base64 = (text: string) => Buffer.from(text).toString('base64');
const plain = { metadata: { encoding: base64('json/plain') }, data: base64('"tup_1"') };

function decode(body: object | string, headers: Readonly<Record<string, string>> = {}) {
  return staff.inject({
    ...{ method: 'POST', url: '/temporal/decode' },
    headers: { 'content-type': 'application/json', 'x-namespace': 'svc', ...headers },
    payload: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test("Temporal's command line shows an encrypted history to staff, and hides it from everybody else", async () => {
  const temporal = await sharedTemporal();
  const { connection } = await connect(temporal);
  const dataConverter = converterOf({ root_key, encrypt: true });
  const { address, namespace } = temporal;
  const client = new Client({ connection, namespace, dataConverter });
  await client.workflow.start('nothing', {
    ...{ workflowId: 'decoded-1', taskQueue: 'decoder', args: [{ topup_id: 'tup_marked' }] },
    ...{ memo: { of: 'memo_marked' }, staticSummary: 'summary_marked' },
  });
  await staff.listen({ host: '127.0.0.1', port: 0 });
  const { port } = staff.server.address() as AddressInfo;
  const program = await toolPath('temporal');
  const show = (...more: string[]) =>
    promisify(execFile)(program, [
      ...['workflow', 'show', '--workflow-id', 'decoded-1', '--address', address, '--namespace', namespace],
      ...['--output', 'json', ...more],
    ]);
  const words = [{ topup_id: 'tup_marked' }, 'memo_marked', 'summary_marked'].map((word) =>
    base64(JSON.stringify(word)),
  );
  const at = ['--codec-endpoint', `http://127.0.0.1:${port}/temporal`];
  const { stdout: hidden } = await show();
  for (const word of words) expect(hidden).not.toContain(word);
  const { stdout: shown } = await show(...at, '--codec-auth', `Bearer ${support}`);
  for (const word of words) expect(shown).toContain(word);
  // The command line asks again for a while.
  const refused = [show(...at, '--codec-auth', `Bearer ${catalog}`), show(...at)];
  for (const end of await Promise.allSettled(refused)) expect(end.status).toBe('rejected');
}, 60_000);

test('a look needs a role, is written down, and gives back what it cannot open', async () => {
  const sealed = sealPayload(root_key, plain);
  const foreign = sealPayload(new Uint8Array(32).fill(9), plain);
  const cut = { ...sealed, data: sealed.data?.slice(0, 20) ?? '' };
  const other_key = { ...sealed, metadata: { ...sealed.metadata, 'encryption-key-id': base64('ff') } };
  const payloads = [sealed, plain, foreign, cut, other_key, {}];
  const answer = await decode({ payloads }, bearer(support));
  expect([answer.statusCode, answer.json()]).toEqual([
    ...[200, { payloads: [plain, plain, foreign, cut, other_key, {}] }],
  ]);
  const rows = await harness.pool.query<{ after: object }>({
    ...{ name: 'test.looks', text: `select after from audit_entry where action = 'staff.workflows.decode'` },
  });
  expect(rows.rows).toContainEqual({ after: { payloads: 6 } });
  expect(await verifyAudit(harness.pool)).toMatchObject({ faults: [] });
  for (const [body, headers, status] of [
    [{ payloads }, {}, 401],
    [{ payloads }, bearer(catalog), 403],
    [{ payloads }, bearer('svc-live-nobody'), 401],
    [{ payloads: [{ data: 7 }] }, bearer(support), 400],
    [{ payloads: Array.from({ length: 10_001 }, () => ({})) }, bearer(support), 400],
    ['{"payloads":', bearer(support), 400],
    ['[]', bearer(support), 400],
  ] as const)
    expect([status, (await decode(body, headers)).statusCode]).toEqual([status, status]);
  expect((await decode({}, bearer(support))).json()).toEqual({ payloads: [] });
  const encode = await staff.inject({ method: 'POST', url: '/temporal/encode', headers: bearer(support) });
  expect(encode.statusCode).toBe(404);
});

test('a page of the UI reads with the cookie of a session; a page of another origin does not', async () => {
  const cookie = { cookie: `svc_staff=${support}` };
  const body = { payloads: [sealPayload(root_key, plain)] };
  const read = await decode(body, { ...cookie, origin: UI });
  expect([read.statusCode, read.json()]).toEqual([200, { payloads: [plain] }]);
  expect(read.headers).toMatchObject({
    ...{ 'access-control-allow-origin': UI, 'access-control-allow-credentials': 'true' },
  });
  for (const headers of [{ ...cookie, origin: 'https://elsewhere.example' }, cookie]) {
    const refused = await decode(body, headers);
    expect(refused.statusCode).toBe(403);
    expect(refused.headers['access-control-allow-origin']).toBeUndefined();
  }
  const asks = (origin: string) =>
    staff.inject({
      ...{ method: 'OPTIONS', url: '/temporal/decode' },
      headers: { origin, 'access-control-request-method': 'POST' },
    });
  expect((await asks(UI)).headers).toMatchObject({
    ...{ 'access-control-allow-origin': UI, 'access-control-allow-methods': 'POST' },
    'access-control-allow-headers': 'authorization, content-type, x-namespace',
  });
  expect((await asks('https://elsewhere.example')).headers['access-control-allow-origin']).toBeUndefined();
  // Elsewhere the cookie counts from the console alone, as before.
  const write = await staff.inject({
    ...{ method: 'POST', url: '/graphql', payload: '{"query":"{ workflows { complete } }"}' },
    headers: { ...cookie, origin: UI, 'content-type': 'application/json' },
  });
  expect(write.statusCode).toBe(403);
});

test('where it is not turned on there is no such path', async () => {
  const { staff: off, signInStaff } = await startWorld();
  const answer = await off.inject({
    ...{ method: 'POST', url: '/temporal/decode', payload: '{}' },
    headers: { 'content-type': 'application/json', ...bearer(await signInStaff(['support'])) },
  });
  expect(answer.statusCode).toBe(404);
});
