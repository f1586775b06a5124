// Downloads over real connections: a reader who is slow, one who goes away, and two at once.
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { newId, newRequestId, now, secureBytes, silentLog } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { callFiles } from '@svc/core/org-export/files/calls.ts';
import { sourceOf } from '@svc/core/org-export/walk.ts';
import { beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from '../registry/harness.ts';
import { rowOf } from '../registry/rows.ts';
import { unpack } from '../support/programs/unpack.ts';
import { tappedPool } from '../support/watched-pool.ts';

/** With content that does not compress: more than the buffers of a connection hold. */
const CALLS = 12_000;
const harness: Harness = await startHarness();
const { a, call, makePerson, pool, signIn } = harness;
/** How many statements the pages of these calls take. */
const STATEMENTS = (4 * CALLS) / 200;
/** Statements that downloads have made for pages of calls. */
let read = 0;
const counted = tappedPool({ ...pool }, ({ name }) => {
  if (name.startsWith('analytics.')) read++;
});
Object.assign(pool, { within: counted.within });
let owner: string;
let port: number;

beforeAll(async () => {
  owner = await signIn(await makePerson(a, 'owner'));
  for (let n = 0; n < CALLS; n++) {
    harness.request_log.write(rowOf(a, { tags: { text: secureBytes(1_024).toString('base64') } }));
    if (n % 1_000 === 0) await harness.request_log.flush();
  }
  await harness.request_log.flush();
  await harness.app.listen({ host: '127.0.0.1', port: 0 });
  port = (harness.app.server.address() as AddressInfo).port;
}, 120_000);

/** Begins a download; nothing of its body is read before somebody asks. */
async function begin(): Promise<IncomingMessage> {
  const made = await call('POST', `/v1/orgs/${a.org.id}/export`, { key: owner });
  const { path } = made.json() as { path: string };
  return new Promise((resolve, reject) => {
    const asked = get({ port, path, headers: { authorization: `Bearer ${owner}` } }, (answer) => {
      answer.pause();
      resolve(answer);
    });
    asked.on('error', reject);
  });
}
async function bodyOf(answer: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of answer) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}
/** Connections of the gateway that are at work or in a transaction. */
async function busy(): Promise<number> {
  const { rows } = await pool.query<{ busy: number }>({
    name: '',
    text: `select count(*) filter (where state <> 'idle')::int as busy from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
  });
  return rows[0]?.busy ?? -1;
}
/** Waits until downloads read no further. */
async function untilStill(): Promise<void> {
  let before = -1;
  await expect
    .poll(
      async () => {
        for (let round = 0; round < 200; round++) await turn();
        const same = read === before && (await busy()) === 0;
        before = read;
        return same;
      },
      { interval: 100, timeout: 20_000 },
    )
    .toBe(true);
}

test('a reader who is slow holds no connection of the database, and gets everything all the same', async () => {
  const answer = await begin();
  expect(answer.statusCode).toBe(200);
  await untilStill();
  const still = read;
  expect(answer.complete).toBe(false);
  const files = await unpack(await bodyOf(answer));
  expect(files.get('requests.ndjson')?.toString().split('\n').length).toBe(CALLS + 1);
  // It had waited in the middle, and went on.
  expect(still).toBeGreaterThan(0);
  expect(read).toBeGreaterThan(still);
});

test('when a reader goes away, reading ends, and the connection is free', async () => {
  const start = read;
  const answer = await begin();
  await untilStill();
  const gone = new Promise((resolve) => answer.once('close', resolve));
  answer.destroy();
  await gone;
  await untilStill();
  const ended = read;
  expect(ended - start).toBeLessThan(STATEMENTS);
  for (let round = 0; round < 500; round++) await turn();
  expect(read).toBe(ended);
  const open = () =>
    new Promise((resolve) => harness.app.server.getConnections((_, count) => resolve(count)));
  await expect.poll(open, { timeout: 10_000 }).toBe(0);
  expect(harness.defects).toEqual([]);
});

test('two at once are each whole', async () => {
  const [one, two] = [await begin(), await begin()];
  const [first, second] = await Promise.all([bodyOf(one).then(unpack), bodyOf(two).then(unpack)]);
  const hashes = (files: Map<string, Buffer>) =>
    (
      JSON.parse(files.get('manifest.json')?.toString() ?? '') as {
        files: { path: string; sha256: string }[];
      }
    ).files
      .filter(({ path }) => path === 'requests.ndjson')
      .map(({ sha256 }) => sha256);
  expect(hashes(first)).toEqual(hashes(second));
  expect(hashes(first)[0]).toMatch(/^[0-9a-f]{64}$/);
});

test('a download that is under way when the erasure begins is cut off, and is not whole', async () => {
  const answer = await begin();
  await untilStill();
  const erasing = (text: string) => pool.query({ name: '', text, values: [a.org.id] });
  await erasing(
    `insert into org_erasure (org_id, status, refund_requested, requested_at, due_at, began_at)
     values ($1, 'closing', false, now(), now(), now())`,
  );
  await expect(bodyOf(answer)).rejects.toThrow('aborted');
  await erasing('delete from org_erasure where org_id = $1');
});

test('a page of calls takes four statements, however many pages there are', async () => {
  const names: string[] = [];
  const { org } = a;
  const reader = createContext({
    request_id: newRequestId(),
    caller: {
      ...{
        kind: 'session',
        session_id: newId('session'),
        token_hash: secureBytes(32),
        user_id: newId('user'),
      },
      ...{ email: 'owner@acme.example', org_id: org.id, role: 'owner', environment: 'live' },
      ...{ two_factor: false, proved_at: now() },
    },
    pool: tappedPool(pool, ({ name }) => void names.push(name)),
    log: silentLog,
    services: {
      ...harness.context.services,
      ...{ root_key: harness.root_key, request_log: harness.request_log },
    },
  });
  const requests = callFiles.find(({ name }) => name === 'requests');
  let rows = 0;
  let largest = 0;
  for await (const page of requests?.pages(sourceOf(reader)) ?? []) {
    rows += page.length;
    largest = Math.max(largest, page.length);
  }
  expect([rows, largest]).toEqual([CALLS, 200]);
  const pages = CALLS / 200;
  // The other environment has no calls: its one page is asked for.
  expect(names.filter((name) => name !== 'analytics.list_rows').length).toBe(3 * pages);
  expect(names.filter((name) => name === 'analytics.list_rows').length).toBe(pages + 1);
});
