// What workflows are about, encrypted at Temporal: nothing readable in the server's own database, runs from before it was
// turned on go on, keys rotate under runs, and who turns it off again reads what was encrypted.
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addRootKey, loadRootKey, promoteRootKey, removeRootKey, rootKeys } from '@svc/core/kernel/index.ts';
import type { Topup } from '@svc/core/topups/index.ts';
import { readPayloadKey } from '@svc/core/workflow-starts/index.ts';
import { converterOf } from '@svc/workflows/codec/codec.ts';
import { failureConverter } from '@svc/workflows/codec/failures.ts';
import { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { beforeAll, expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startTemporal, type TestTemporal } from '../support/temporal.ts';
import { events } from '../topups/world.ts';
import { connect, startWorkflowWorld, until, type WorkerProcess } from '../workflows/world.ts';

const world = await startWorkflowWorld();
const dir = mkdtempSync(join(tmpdir(), 'svc-encrypted-'));
atFileEnd(async () => rmSync(dir, { recursive: true, force: true }));
const ON = { SVC_TEMPORAL_ENCRYPT: '1' };
const FORMER_LAG_MS = 150_000;
/** What a history holds in the clear: of arguments, results, summaries, and of a stack trace. */
const WORDS = [
  '"topup_id":',
  'age_ms',
  'fee_known',
  'Top-up from checkout',
  'where it stands',
  'workflow.ts',
];
const NOBODY = 'tup_01KB2ZV0S9D7XQ5T3M8N4P6R1A';
let temporal: TestTemporal;
/** Reads what is encrypted. */
let client: Client;
let bare: Client;
let ring = '';
let serial = 0;

/** `of`, reading what is encrypted. */
function readerOf(of: Client): Client {
  const dataConverter = converterOf({ root_key: loadRootKey(ring), encrypt: true });
  const { connection, options } = of;
  return new Client({ connection, namespace: options.namespace, dataConverter });
}

beforeAll(async () => {
  temporal = await startTemporal({ db_file: join(dir, 'encrypted.db') });
  atFileEnd(() => temporal.stop());
  ring = join(world.env(temporal.address)['SVC_DATA_DIR'] as string, 'keyring.json');
  bare = await connect(temporal);
  client = readerOf(bare);
});

const fresh = async () => world.topup(await world.org(`encrypted-${++serial}`));
const running = (topup: Topup) =>
  until('it waits', async () => {
    const history = await bare.workflow
      .getHandle(`topup-${topup.id}`)
      .fetchHistory()
      .catch(() => null);
    return history?.events?.some(({ timerStartedEventAttributes: timer }) => timer) ? true : null;
  });
const completed = (topup: Topup) =>
  // Temporal waits longer and longer before it tries a task again that failed.
  until(
    'it ended',
    async () => (await world.workflow(client, topup.id)).status.name === 'COMPLETED',
    120_000,
  );

async function pay(topup: Topup): Promise<void> {
  const payment = world.pay(topup);
  await world.deliver(events.completed(topup, { payment }));
}

/** The files of the server's database in which `word` stands. */
function filesWith(word: string, name: string): string[] {
  const files = readdirSync(dir).filter((file) => file.startsWith(name));
  return files.filter((file) => readFileSync(join(dir, file)).includes(word));
}

/** Ids of the root keys under which payloads of a history are, in the order of its events; 'none' for one in the clear. */
async function keysOf(topup: Topup): Promise<string[]> {
  const history = await bare.workflow.getHandle(`topup-${topup.id}`).fetchHistory();
  const found = new Set<string>();
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
    const { metadata } = value as { metadata?: Record<string, Uint8Array> };
    const encoding = metadata?.['encoding'];
    if (encoding !== undefined) found.add(Buffer.from(metadata?.['encryption-key-id'] ?? 'none').toString());
    for (const part of Object.values(value)) walk(part);
  };
  walk(history.events);
  return [...found];
}

const idNow = () => (rootKeys(loadRootKey(ring))[0].id as Buffer).toString('hex');

test('messages and stack traces of failures are payloads, which go through the codec', () => {
  const failure = failureConverter.errorToFailure(new Error('who'), defaultPayloadConverter);
  expect([failure.message, failure.stackTrace]).toEqual(['Encoded failure', '']);
  expect(Buffer.from(failure.encodedAttributes?.data ?? []).toString()).toContain('who');
});

test("the server's database has none of the words of a history, and who has the key ring reads them", async () => {
  const worker = await world.worker(temporal.address, ON);
  const topup = await fresh();
  await running(topup);
  const handle = client.workflow.getHandle(`topup-${topup.id}`);
  expect(await handle.query('state')).toMatchObject({ topup_id: topup.id, status: 'pending' });
  expect((await handle.describe()).memo).toEqual({ topup_id: topup.id });
  await pay(topup);
  await completed(topup);
  expect(await handle.result()).toMatchObject({ status: 'paid', receipt: 'sent' });
  await expect(bare.workflow.getHandle(`topup-${topup.id}`).result()).rejects.toThrow();
  expect(await keysOf(topup)).toEqual([idNow()]);
  // One that fails: its message and its stack trace would say where.
  const failing = await client.workflow.start('topUp', {
    ...{ workflowId: `topup-${NOBODY}`, taskQueue: 'money', args: [{ topup_id: NOBODY }] },
  });
  await expect(failing.result()).rejects.toMatchObject({ cause: { message: 'Activity task failed' } });
  const last = (await failing.fetchHistory()).events?.at(-1)?.workflowExecutionFailedEventAttributes;
  expect(last?.failure).toMatchObject({ message: 'Encoded failure', stackTrace: '' });
  await worker.stop();
  // Whoever has not got the words would not have this either, were the file another one.
  expect(filesWith(`topup-${topup.id}`, 'encrypted')).not.toEqual([]);
  for (const word of WORDS) expect([word, filesWith(word, 'encrypted')]).toEqual([word, []]);
}, 180_000);

test('turned on under runs, and off again: each run goes on with what it began with', async () => {
  const plain = await startTemporal({ db_file: join(dir, 'plain.db') });
  atFileEnd(() => plain.stop());
  const [reads, read] = [bare, client];
  bare = await connect(plain);
  client = readerOf(bare);
  let worker = await world.worker(plain.address);
  const before = await fresh();
  await running(before);
  for (const word of WORDS.slice(0, 5)) expect(filesWith(word, 'plain')).not.toEqual([]);
  // While programs are replaced one has the setting and the other has not.
  const other = await world.worker(plain.address, ON);
  await worker.stop();
  const between = await fresh();
  await running(between);
  expect(await keysOf(between)).toEqual([idNow()]);
  await pay(before);
  await completed(before);
  expect(await keysOf(before)).toEqual(['none', idNow()]);
  worker = await world.worker(plain.address);
  await other.stop();
  await pay(between);
  await completed(between);
  expect((await keysOf(between)).sort()).toEqual([idNow(), 'none'].sort());
  expect((await world.read(between.id)).status).toBe('paid');
  await worker.stop();
  [bare, client] = [reads, read];
}, 180_000);

/** Makes a new key current; until every worker seals under it. */
async function rotate(): Promise<{ former: string; name: string; current: string }> {
  const [{ id, name }] = rootKeys(loadRootKey(ring));
  promoteRootKey(ring, addRootKey(ring, { leaked: false }));
  return { former: id.toString('hex'), name, current: idNow() };
}

async function restart(worker: WorkerProcess): Promise<WorkerProcess> {
  await worker.stop();
  return world.worker(temporal.address, ON);
}

test('keys rotate under running workflows; a former key is needed until those that began under it have ended', async () => {
  let worker = await world.worker(temporal.address, ON);
  const old = await fresh();
  await running(old);
  const { former, name, current } = await rotate();
  expect(current).not.toBe(former);
  const young = await until('one under the new key', async () => {
    const topup = await fresh();
    await running(topup);
    // One that began while the worker changed over has payloads under both, and would need the former key too.
    return (await keysOf(topup)).every((key) => key === current) ? topup : null;
  });
  const { startTime } = await world.workflow(client, old.id);
  // As after days: what was sealed under the former key was so until `old` began.
  const sealed_at = new Date(startTime.getTime() + 10 - FORMER_LAG_MS).toISOString();
  await world.rows('update settings set value = $2 where name = $1', [
    ...[`workflows.payload_key.${former}`, JSON.stringify({ sealed_at, open: null, counted_at: null })],
  ]);
  const counted = (open: number) =>
    until(`${open} counted`, async () => (await readPayloadKey(world.pool, former))?.open === open, 60_000);
  await counted(1);

  // Who removes it all the same stops `old` and loses nothing: it goes on when the key is back.
  copyFileSync(ring, join(dir, 'keyring.json'));
  removeRootKey(ring, name);
  worker = await restart(worker);
  await pay(young);
  await completed(young);
  await pay(old);
  await until('its task fails', () => worker.output().includes(`no key of the ring opens`), 60_000);
  expect(worker.output()).toContain(former);
  copyFileSync(join(dir, 'keyring.json'), ring);
  await completed(old);
  expect((await keysOf(old)).sort()).toEqual([former, current].sort());
  await counted(0);
  await worker.stop();
  await world.expectRight();
}, 300_000);
