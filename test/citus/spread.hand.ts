// A ledger at a server of a Citus cluster: how it comes there with what is in it, and that its functions run there as a whole. Run
// by `make citus`.
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  createPool,
  listMigrations,
  meetLedger,
  migrateLedger,
  queryAlone,
  serverOfLedger,
  spreadLedger,
  withLedgerSchema,
} from '@svc/core/db/index.ts';
import { sweepOnce, verifyLedger } from '@svc/core/ledger/index.ts';
import {
  holdOf,
  journalDirectory,
  makeBook,
  openTestLedger,
  PATIENT,
  settleOf,
  subjectOf,
} from '@svc/core/ledger/testing/testing.ts';
import type pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { cluster, furtherLedgers, withClient } from '../support/books.ts';
import { createTestDatabase } from '../support/database.ts';
import { runSvcctl } from '../support/programs/svcctl.ts';

const database_url = await createTestDatabase();
const [{ url }] = furtherLedgers(database_url);
const journal = journalDirectory();
const old = mkdtempSync(join(tmpdir(), 'svc-migrations-'));
afterAll(() => {
  journal.remove();
  rmSync(old, { recursive: true });
});

/** Calls with a hold that is raised and settled, and one that stays. */
async function makeCalls(at: string, book: number): Promise<void> {
  const ledger = await openTestLedger(at, journal.dir, PATIENT);
  const hold = holdOf(subjectOf(book), 100);
  expect(await ledger.hold(hold)).toEqual({ status: 'ok' });
  expect(await ledger.extend(subjectOf(book), hold.request_id, 150 as never)).toBe('ok');
  expect(await ledger.settle(settleOf(subjectOf(book), hold.request_id, 60))).toMatchObject({
    status: 'settled',
  });
  expect(await ledger.hold(holdOf(subjectOf(book), 10))).toEqual({ status: 'ok' });
  await ledger.close();
}

test('functions that programs call run at the server of the ledger, however often, under a clock of its own', async () => {
  const notices: string[] = [];
  const calls = [
    [`select ledger_a.take_lease($1, $2, $3)`, ['test', 60, ['a']]],
    ['select ledger_a.renew_lease($1)', [1]],
    ['select request_id from ledger_a.sweep($1)', [10]],
    ['select release from ledger_a.release($1::bigint[], $2::uuid[])', [[], []]],
    ['select extend from ledger_a.extend($1::bigint[], $2::uuid[], $3::bigint[])', [[], [], []]],
  ] as const;
  await withClient(url, async (client) => {
    client.on('notice', ({ message }) => notices.push(message ?? ''));
    await meetLedger(client, 'ledger_a');
    await client.query('set client_min_messages = debug1');
    for (const [text, values] of calls) {
      for (let i = 0; i < 8; i++) await queryAlone(client, { name: text, text, values: [...values] });
    }
  });
  expect(notices.filter((message) => message === 'pushing down the function call')).toHaveLength(
    8 * calls.length,
  );
  const ledger = await openTestLedger(url, journal.dir, PATIENT);
  // Numbers of servers begin with that of the server: the client's lease was written there.
  expect(ledger.lease_id).toBeGreaterThan(2 ** 48);
  await ledger.close();
});

test('a hold is raised also where the function runs at the coordinator: a form of it ended the server of Citus 14.0.1', async () => {
  const db = createPool(url);
  const book = await makeBook(db, { amount: 1_000, book_id: 71 });
  const ledger = await openTestLedger(url, journal.dir, PATIENT);
  const hold = holdOf(subjectOf(book), 100);
  await ledger.hold(hold);
  const { rows: holds } = await db.query<{ hold_id: string }>({
    name: 'test.hold',
    text: 'select hold_id from ledger.hold where book_id = $1',
    values: [book],
  });
  const { rows } = await db.transaction((tx) =>
    tx.query<{ extend: string }>({
      name: 'test.extend',
      text: 'select ledger.extend($1, $2, $3) as extend',
      values: [[book], holds.map(({ hold_id }) => hold_id), [120]],
    }),
  );
  expect(rows).toEqual([{ extend: 'o' }]);
  ledger.release(subjectOf(book), hold.request_id);
  await ledger.close();
  await db.end();
});

test('a ledger in use comes to a server with all that is in it, and later migrations come to it there', async () => {
  const folder = new URL('../../core/db/migrations/', import.meta.url);
  cpSync(folder, old, { recursive: true });
  for (const file of readdirSync(join(old, 'ledger'))) if (file > '0018') rmSync(join(old, 'ledger', file));
  const later = (await listMigrations()).ledger.slice(17).map(({ name }) => name);
  const at = withLedgerSchema(database_url, 'ledger_used');
  await migrateLedger(at, { folder: pathToFileURL(`${old}/`) });
  const db = createPool(at);
  const book = await makeBook(db, { amount: 1_000, book_id: 72 });
  const server = await spreadLedger(at, { folder: pathToFileURL(`${old}/`) });
  expect(server).toMatch(/:\d+$/);
  expect((await migrateLedger(at)).applied).toEqual(later);
  expect(await spreadLedger(at)).toBeNull();
  await makeCalls(at, book);
  await db.end();
  const again = createPool(at);
  expect(await sweepOnce(again)).toHaveLength(1);
  await again.end();
  expect(await verifyLedger({ url: at })).toMatchObject({ ok: true, books: 1 });
});

test('a ledger that programs use is not put at a server, and is once they have ended', async () => {
  const at = withLedgerSchema(database_url, 'ledger_live');
  await migrateLedger(at);
  const db = createPool(at);
  const book = await makeBook(db, { amount: 1_000, book_id: 73 });
  const ledger = await openTestLedger(at, journal.dir, { ...PATIENT, process_name: 'gateway-7' });
  await expect(spreadLedger(at)).rejects.toThrow('programs use it, stop them first');
  await ledger.close();
  expect(await spreadLedger(at)).not.toBeNull();
  await db.end();
  await makeCalls(at, book);
  expect((await verifyLedger({ url: at })).findings).toEqual([]);
});

test('a ledger is put at no server that confirms commits before they are on disk', async () => {
  const [, ...servers] = cluster.map((address) => new URL(new URL(database_url).pathname, address).href);
  const name = new URL(database_url).pathname.slice(1);
  const loosen = (how: string) =>
    Promise.all(
      servers.map((server) =>
        withClient(server, async (client) => {
          // Else Citus would have the coordinator do it, and for all of them.
          await client.query('set citus.enable_ddl_propagation = off');
          await client.query(`alter database ${name} ${how}`);
        }),
      ),
    );
  const at = withLedgerSchema(database_url, 'ledger_loose');
  await loosen('set synchronous_commit = off');
  await expect(spreadLedger(at)).rejects.toThrow('a charge that was confirmed could be lost there');
  await loosen('reset synchronous_commit');
  expect(await spreadLedger(at)).not.toBeNull();
});

test('svcctl shard move leaves a ledger that is in a cluster to its engine', async () => {
  const further = `a=${url} a.2=${withLedgerSchema(database_url, 'ledger_other')}`;
  const env = { SVC_DATABASE_URL: database_url, SVC_DATA_DIR: '/nonexistent', SVC_LEDGER_SHARDS: further };
  const { code, err } = await runSvcctl(['shard', 'move', 'a', '--to', 'a.2'], env);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('citus_schema_move') });
});

/** Has the engine move ledger `a` to its other server; a lock that is not to be had for three seconds ends it. */
async function moveAway(client: pg.Client): Promise<void> {
  await client.query(`set lock_timeout = '3s'`);
  await client.query(
    `select citus_schema_move('ledger_a', n.nodename, n.nodeport, 'force_logical') from pg_dist_node n
      where n.shouldhaveshards and n.groupid <> 0 and n.groupid <> (
        select p.groupid from pg_dist_placement p join pg_dist_shard s using (shardid)
         where s.logicalrelid = 'ledger_a.book'::regclass) limit 1`,
  );
}

/** What becomes of a move when a transaction that `locks` books begins after the copy has, and does not end. */
async function moveWhile(locks: string, book: number): Promise<string> {
  const server = await serverOfLedger(url);
  const source = new URL(url);
  source.host = server as string;
  return withClient(url, (holder) =>
    withClient(url, async (mover) => {
      // Of a move that was ended slots stay for a while.
      await mover.query('call citus_cleanup_orphaned_resources()');
      let ended: string | null = null;
      const moved = moveAway(mover)
        .then(
          () => 'moved',
          (error: Error) => error.message,
        )
        .finally(() => {
          ended = 'before its copy was seen';
        });
      const slots = `select from pg_replication_slots where active and database = current_database()`;
      await withClient(source.href, async (client) => {
        const begun = async () => ended ?? (await client.query(slots)).rowCount;
        await expect.poll(begun, { timeout: 90_000 }).toBeTruthy();
      });
      if (ended !== null) return `${await moved}: ${ended}`;
      await holder.query('begin');
      await holder.query(locks, [[book]]);
      const end = await moved;
      await holder.query('rollback');
      expect((await serverOfLedger(url)) === server).toBe(end !== 'moved');
      return end;
    }),
  );
}

// Slow beside others: a copy begins when every transaction of the server has ended.
test('the engine moves no ledger away from a call that has locked its books and written nothing yet', async () => {
  const db = createPool(url);
  const book = await makeBook(db, { amount: 1_000, book_id: 74 });
  await db.end();
  const bare = 'select from ledger_a.book where book_id = any ($1) for no key update';
  // Where this one fails the engine has learned to wait, and functions need not call stay() any more.
  expect(await moveWhile(bare, book)).toBe('moved');
  expect(await moveWhile(`select ledger_a.extend($1, '{}', '{}')`, book)).toContain('lock timeout');
  await makeCalls(url, book);
  expect((await verifyLedger({ url })).findings).toEqual([]);
}, 300_000);
