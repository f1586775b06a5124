// A ledger moves to another server while gateways serve calls: no caller sees anything of it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { root } from '@svc/cli/installation.ts';
import { createPool, withLedgerSchema } from '@svc/core/db/index.ts';
import { newId, now } from '@svc/core/kernel/index.ts';
import { measureLoad, moveLedger, readLoad, verifyLedger } from '@svc/core/ledger/index.ts';
import { journalDirectory, openTestLedger, topUp } from '@svc/core/ledger/testing/testing.ts';
import { chooseShard } from '@svc/core/orgs/place.ts';
import { beforeAll, expect, test, vi } from 'vitest';
import { shardsVariable, withClient } from '../support/books.ts';
import { startGatewayProcess } from '../support/gateway.ts';
import { until } from '../support/programs/until.ts';
import { startWorld, type World } from './world.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let world: World;
beforeAll(async () => {
  world = await startWorld({ gateways: 2, on: [[0, 1]] });
});

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly words: string;
}

/** Runs `svcctl shard …`; what it printed and how it ended. */
const svcctl = (...words: string[]) => svcctlWith({}, 'shard', ...words);

async function svcctlWith(env: Readonly<Record<string, string>>, ...words: string[]): Promise<Ended> {
  const child = spawn(process.execPath, [`${root}cli/main.ts`, ...words], {
    env: {
      ...process.env,
      SVC_DATABASE_URL: world.database_url,
      SVC_LEDGER_SHARDS: world.shards_variable,
      SVC_DATA_DIR: '/var/tmp/svc-shards-no-installation',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, said] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, out, words: said };
}

test('a place that a gateway does not know, one that is not empty or has other names is refused before anything is done', async () => {
  const [here, there] = world.places as [string, string];
  const unaware = `insert into ledger_a.lease (process, seconds, expires_at) values ('gateway-9', 60, now() + interval '1 hour')`;
  await withClient(here, (client) => client.query(unaware));
  const move = () => svcctl('move', 'a', '--to', 'a.2', '--json');
  expect(await move()).toMatchObject({ code: 1, out: expect.stringContaining('restart them: gateway-9') });
  await withClient(here, (client) => client.query(`delete from ledger_a.lease where process = 'gateway-9'`));
  const book = `insert into ledger_a.book (book_id, org_id, environment) values (7, 'org_x', 1)`;
  await withClient(there, (client) => client.query(book));
  expect(await move()).toMatchObject({ code: 1, out: expect.stringContaining('a.2 is not empty (book)') });
  await withClient(there, (client) => client.query('delete from ledger_a.book'));
  const { rows } = await withClient(world.database_url, (client) => client.query('select from ledger_shard'));
  expect(rows).toEqual([]);
  expect(await svcctl('move', 'a', '--to', 'a.3')).toMatchObject({ code: 2 });
  expect(await svcctl('move', 'main', '--to', 'a.2')).toMatchObject({ code: 2 });
});

test('a ledger is made where the settings say and nowhere else', async () => {
  const second = world.servers[1]!;
  await withClient(second.url, (client) => client.query('create database shard_c'));
  expect(await svcctl('add', 'c')).toMatchObject({ code: 2 });
  const listed = world.shards_variable;
  const url = withLedgerSchema(second.urlOf('shard_c'), 'ledger_c');
  const added = await svcctlWith({ SVC_LEDGER_SHARDS: `${listed} c=${url}` }, 'shard', 'add', 'c', '--json');
  expect(added.code, added.out).toBe(0);
  expect(JSON.parse(added.out)).toMatchObject({ name: 'c', faults: [] });
  expect((await verifyLedger({ url })).findings).toEqual([]);
});

test('a move that is called off leaves the ledger where it was, and the place as it was made', async () => {
  const db = createPool(world.database_url, { max: 2 });
  const [from, to] = world.places.map((url, i) => ({ name: i === 0 ? 'a' : 'a.2', url }));
  const off = new Error('called off');
  const begun = moveLedger({
    ...{ db, shard: 'a', from: from!, to: to!, source_url: from!.url, freeze_ms_max: 900 },
    async onStep(step) {
      // While one is at it, another one is not let in.
      if (step === 'copied') expect(await svcctl('move', 'a', '--to', 'a.2')).toMatchObject({ code: 1 });
      // Both places keep the tables that they have.
      if (step === 'verified')
        expect(await svcctlWith({}, 'migrate')).toMatchObject({
          code: 2,
          words: expect.stringContaining('a is on its way to a.2'),
        });
      if (step === 'arrived') throw off;
    },
  });
  await expect(begun).rejects.toBe(off);
  await db.end();
  const aborted = await svcctl('move', 'a', '--to', 'a.2', '--abort', '--json');
  expect(aborted.code, aborted.out).toBe(0);
  for (const url of world.places) {
    const left = await withClient(url, async (client) => {
      const text = `select (select count(*) from pg_publication) + (select count(*) from pg_replication_slots
                    where database = current_database()) + (select count(*) from pg_subscription) as left`;
      return Number((await client.query(text)).rows[0].left);
    });
    expect(left).toBe(0);
  }
  const rows = await withClient(to!.url, (client) =>
    client.query(
      'select (select count(*) from ledger_a.meter) as meters, (select count(*) from ledger_a.sweeping) as one',
    ),
  );
  expect(rows.rows).toEqual([{ meters: 0, one: 1 }]);
});

test('a ledger moves under calls: every call is answered and charged once, and none waits for a second', async () => {
  const load = world.load(8);
  await load.more(200);
  const moved = await svcctl('move', 'a', '--to', 'a.2', '--json');
  expect(moved.code, `${moved.out}${moved.words}`).toBe(0);
  await load.more(200);
  await load.stop();
  const found = JSON.parse(moved.out);
  process.stdout.write(
    `frozen ${Math.round(found.frozen_ms)} ms in try ${found.freezes}, longest call ${Math.round(load.longest_ms)} ms of ${load.seen.length}\n`,
  );
  expect(found).toMatchObject({ ok: true, is_compared: true, from: 'a', to: 'a.2', findings: [] });
  expect(found.frozen_ms).toBeLessThan(1_000);
  expect(load.seen.filter(({ kind }) => kind !== 'final')).toEqual([]);
  await world.expectCharged(1, load.seen);
});

test('the place that was left is kept, and nobody can write there, its owner neither', async () => {
  const [left] = world.places as [string];
  const refused = withClient(left, (client) =>
    client.query('update ledger_a.book set available = available'),
  );
  await expect(refused).rejects.toMatchObject({ code: '55L02', message: 'the ledger has moved to a.2' });
  const programs = withClient(left, async (client) => {
    await client.query('set role svc_runtime');
    await client.query('select from ledger_a.book');
  });
  await expect(programs).rejects.toMatchObject({ code: '42501' });
});

test('a program that does not list the place is told where the ledger is, and a gateway does not start', async () => {
  const only = { name: 'a', url: world.places[0] as string };
  const words = /the ledger of a is in a\.2, which SVC_LEDGER_SHARDS does not list/;
  const pool = createPool(world.database_url, { max: 1, role: 'svc_runtime', shards: [only] });
  const question = { name: 'test.books', text: 'select from ledger.book' };
  await expect(pool.shards.at('a').query(question)).rejects.toThrow(words);
  await pool.end();
  const env = { SVC_LEDGER_SHARDS: shardsVariable([only]) };
  await expect(startGatewayProcess({ database_url: world.database_url, env })).rejects.toThrow(words);
});

test('a program finds a ledger that has moved although all its connections are in transactions that wait for it', async () => {
  const shards = world.places.map((url, i) => ({ name: i === 0 ? 'a' : 'a.2', url }));
  const pool = createPool(world.database_url, { max: 1, shards });
  const book = (org_id: string) => ({
    ...{
      name: 'test.book',
      text: 'select book_id from ledger.book where org_id = $1 limit 1',
      values: [org_id],
    },
  });
  const found = await pool.transaction(() => pool.shards.at('a').query(book(world.org.org_id)));
  expect(found.rowCount).toBe(1);
  await pool.end();
});

test('numbers that the old place has given out are not given out again, and svcctl finds the ledger where it is', async () => {
  const [, here] = world.places as [string, string];
  const pool = createPool(here, { max: 1 });
  const before = await pool.query<{ lot: number; lease: number }>({
    name: 'test.numbers',
    text: `select (select max(lot_no) from ledger.lot) as lot, (select max(lease_id) from ledger.lease) as lease`,
  });
  expect(await topUp(pool, world.org.live_book_id, 500)).toMatchObject({ replay: false });
  const journal = journalDirectory();
  const ledger = await openTestLedger(here, journal.dir);
  expect(ledger.lease_id).toBeGreaterThan(before.rows[0]!.lease);
  await ledger.close();
  journal.remove();
  await pool.end();
  const listed = await svcctl('list', '--json');
  expect(listed.code, listed.out).toBe(0);
  const { shards } = JSON.parse(listed.out);
  expect(shards.map((one: { shard: string }) => one.shard)).toEqual(['main', 'a']);
  expect(shards[1]).toMatchObject({ is_open: true, moving_to: null, step: null });
  expect(shards[1].places).toMatchObject([
    { place: 'a', state: 'left', books: 2 },
    { place: 'a.2', state: 'here', books: 2, schema: 'ledger_a' },
  ]);
  expect(listed.out).not.toContain('svc@');
});

test('a drained shard gets no new organizations until it is opened again', async () => {
  const shards = world.places.map((url, i) => ({ name: i === 0 ? 'a' : 'a.2', url }));
  const pool = createPool(world.database_url, { max: 2, shards });
  const placed = async () => {
    const made = [];
    for (let i = 0; i < 12; i++)
      made.push(await chooseShard({ db: pool, shards: pool.shards, now }, newId('org')));
    return [...new Set(made)].sort();
  };
  expect(await placed()).toEqual(['a', 'main']);
  expect(await svcctl('drain', 'a')).toMatchObject({ code: 0 });
  expect(await placed()).toEqual(['main']);
  // Where no shard takes organizations none could be made.
  expect(await svcctl('drain', 'main')).toMatchObject({ code: 2 });
  expect(await svcctl('drain', 'a', '--undo')).toMatchObject({ code: 0 });
  expect(await placed()).toEqual(['a', 'main']);
  await pool.end();
});

test('a reading of the load counts what was called since the one before', async () => {
  const shards = world.places.map((url, i) => ({ name: i === 0 ? 'a' : 'a.2', url }));
  const pool = createPool(world.database_url, { max: 2, shards });
  const from = new Date(now().getTime() - 1_000);
  await measureLoad(pool);
  expect((await readLoad(pool, from)).get('a')).toBe(0);
  const load = world.load(4);
  await load.more(50);
  await load.stop();
  // The server's own counts come a moment after the commits, those of calls before the first reading too.
  const { rows } = await pool.shards.at('a').query<{ meters: number }>({
    name: 'test.meters',
    text: 'select count(*) as meters from ledger.meter',
  });
  await until('the calls are counted', async () => {
    await measureLoad(pool);
    return ((await readLoad(pool, from)).get('a') ?? 0) >= load.seen.length;
  });
  expect((await readLoad(pool, from)).get('a')).toBeLessThanOrEqual(rows[0]!.meters);
  expect((await readLoad(pool, from)).get('main')).toBe(0);
  await pool.end();
});
