// Backups of a server under load, and what comes back of them: everything up to a moment and nothing after it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { createPool, migrate, type Pool } from '@svc/core/db/index.ts';
import { microUsd } from '@svc/core/kernel/index.ts';
import { credit } from '@svc/core/ledger/index.ts';
import { withClient } from '@svc/test/support/books.ts';
import { atFileEnd } from '@svc/test/support/ends.ts';
import { startTestPostgres } from '@svc/test/support/postgres.ts';
import { until } from '@svc/test/support/programs/until.ts';
import { provision } from '@svc/test/support/provision.ts';
import { beforeAll, expect, test, vi } from 'vitest';
import { root } from '../installation.ts';
import { freePort, type Postgres } from '../tools/postgres.ts';
import { ARCHIVE, type Backup, baseFolder, listBackups, listWal } from './folder.ts';
import { follow } from './follow.ts';
import { positionOf } from './replication.ts';
import { restoreBackup } from './restore.ts';
import { takeBackup } from './take.ts';

vi.setConfig({ testTimeout: 120_000 });

/** Where PostgreSQL can work, also for root, as whom it runs as another user. */
const dir = mkdtempSync('/var/tmp/svc-backup-test-');
chmodSync(dir, 0o755);
const backups = join(dir, 'backups');
atFileEnd(async () => rmSync(dir, { recursive: true, force: true }));
const quiet = () => {};

interface Write {
  readonly ref: string;
  readonly begun: number;
  readonly done: number;
}

/** Writers that credit a book each, one credit after the other, until stopped. */
class Load {
  readonly writes: Write[] = [];
  readonly #running: Promise<void>[];
  #stopped = false;

  constructor(pool: Pool, books: readonly number[]) {
    this.#running = books.map((book_id) => this.#write(pool, book_id));
  }

  async #write(pool: Pool, book_id: number): Promise<void> {
    for (let number = 1; !this.#stopped; number++) {
      const ref = `${book_id}-${number}`;
      const begun = Date.now();
      const what = { kind: 'grant', granted: true, expires_at: null, ref_type: 'staff' } as const;
      await credit(pool, { ...what, book_id, amount_micro_usd: microUsd(1), ref_id: ref });
      this.writes.push({ ref, begun, done: Date.now() });
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
  }
}

async function refsIn(cluster: string): Promise<Set<string>> {
  const server = await startTestPostgres({ dir: cluster });
  try {
    return await withClient(server.url, async (client) => {
      const { rows } = await client.query<{ ref_id: string }>(
        `select ref_id from ledger.entry where ref_id like '%-%'`,
      );
      return new Set(rows.map(({ ref_id }) => ref_id));
    });
  } finally {
    await server.stop();
  }
}

let backup: Backup;
let writes: readonly Write[];
/** A moment while the writers worked, after the backup was taken. */
let moment: Date;
let server: Postgres;

beforeAll(async () => {
  server = await startTestPostgres({ dir: join(dir, 'server'), port: await freePort() });
  await migrate(server.url);
  const orgs = [];
  for (const slug of ['one', 'two', 'three'])
    orgs.push(await provision({ database_url: server.url, slug, live_micro_usd: 1_000_000, shards: [] }));
  const pool = createPool(server.url, { max: 4, application: 'svc-test' });
  const load = new Load(
    pool,
    orgs.map(({ live_book_id }) => live_book_id),
  );
  const following = await follow({ url: server.url, dir: backups });
  const more = (count: number) => {
    const aim = load.writes.length + count;
    return until(`${count} writes more`, () => load.writes.length >= aim, 60_000);
  };
  await more(100);
  backup = await takeBackup({ url: server.url, dir: backups, name: 'first' }, quiet);
  await more(200);
  moment = new Date();
  await more(200);
  await load.stop();
  const { rows } = await pool.query<{ at: string }>({
    name: 'test.wal',
    text: 'select pg_current_wal_flush_lsn()::text as at',
    values: [],
  });
  const due = positionOf(rows[0]?.at ?? '');
  await until('the folder has every change', () => positionOf(following.at()) >= due, 30_000);
  await following.stop();
  await pool.end();
  ({ writes } = load);
}, 120_000);

test('back to a moment under load: what was confirmed before is there, what began after is not, the ledger is right', async () => {
  const cluster = join(dir, 'to-a-moment');
  const restored = await restoreBackup({ from: backups, cluster, at: moment }, quiet);
  expect(restored).toMatchObject({ backup: 'first', ledger: { ok: true, findings: [] } });
  expect(new Date(restored.last_change_at ?? 0).getTime()).toBeLessThanOrEqual(moment.getTime());
  const found = await refsIn(cluster);
  const before = writes.filter(({ done }) => done < moment.getTime());
  const after = writes.filter(({ begun }) => begun > moment.getTime());
  expect(before.length).toBeGreaterThan(200);
  expect(before.filter(({ ref }) => !found.has(ref))).toEqual([]);
  expect(after.length).toBeGreaterThan(100);
  expect(after.filter(({ ref }) => found.has(ref))).toEqual([]);
});

test('without a moment everything that was confirmed comes back, the last second too', async () => {
  const cluster = join(dir, 'all');
  const restored = await restoreBackup({ from: backups, cluster, at: null }, quiet);
  expect(restored.ledger.ok).toBe(true);
  const found = await refsIn(cluster);
  expect(writes.filter(({ ref }) => !found.has(ref))).toEqual([]);
});

test('a restored server is followed on, and can be restored again', async () => {
  const again = await startTestPostgres({ dir: join(dir, 'all') });
  try {
    const following = await follow({ url: again.url, dir: backups });
    await withClient(again.url, (client) => client.query('create table marker (); select pg_switch_wal()'));
    await until('a segment of the new timeline', () =>
      listWal(backups).whole.some((name) => name.startsWith('00000002')),
    );
    await following.stop();
  } finally {
    await again.stop();
  }
  const cluster = join(dir, 'all-again');
  await restoreBackup({ from: backups, cluster, at: null }, quiet);
  const restored = await startTestPostgres({ dir: cluster });
  const { rows } = await withClient(restored.url, (client) =>
    client.query(`select to_regclass('marker') as marker`),
  );
  await restored.stop();
  expect(rows).toEqual([{ marker: 'marker' }]);
});

const CAUGHT_UP = `select flush_lsn >= pg_current_wal_flush_lsn() as caught_up from pg_stat_replication
                    where application_name = 'svcctl backup' and state = 'streaming'`;

/** `svcctl` on the server of `url`. */
function svcctl(url: string, ...args: string[]): ChildProcess {
  const env = { ...process.env, SVC_DATABASE_URL: url, SVC_DATA_DIR: join(dir, 'no-installation') };
  return spawn(process.execPath, [`${root}cli/main.ts`, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

test('svcctl follows until it is ended, also over a restart of the server', async () => {
  const own = join(dir, 'followed');
  const following = svcctl(server.url, 'backup', 'follow', own);
  let words = '';
  following.stderr?.on('data', (chunk) => {
    words += chunk;
  });
  const ended = once(following, 'exit');
  await until('it follows', () => words.includes('following from'));
  await takeBackup({ url: server.url, dir: own, name: 'followed' }, quiet);
  await server.kill();
  await until('it notices', () => words.includes('interrupted'));
  server = await startTestPostgres({ dir: join(dir, 'server'), port: server.port });
  await withClient(server.url, (client) => client.query('create table after_restart ()'));
  await until('it follows again and has everything', async () => {
    const { rows } = await withClient(server.url, (client) => client.query(CAUGHT_UP));
    return rows[0]?.caught_up;
  });
  following.kill('SIGTERM');
  expect((await ended)[0]).toBe(0);
  const cluster = join(dir, 'of-followed');
  await restoreBackup({ from: own, cluster, at: null }, quiet);
  const restored = await startTestPostgres({ dir: cluster });
  const { rows } = await withClient(restored.url, (client) =>
    client.query(`select to_regclass('after_restart') as found`),
  );
  await restored.stop();
  expect(rows).toEqual([{ found: 'after_restart' }]);
});

test('when the server could not keep what comes next, svcctl ends and says what to do', async () => {
  const settings = { max_slot_wal_keep_size: '1MB', max_wal_size: '32MB' };
  const tight = await startTestPostgres({ dir: join(dir, 'tight'), settings });
  try {
    const own = join(dir, 'gap');
    await (await follow({ url: tight.url, dir: own })).stop();
    await withClient(tight.url, async (client) => {
      for (let segment = 0; segment < 4; segment++)
        await client.query(`select pg_logical_emit_message(false, 'x', 'x'), pg_switch_wal()`);
      await client.query('checkpoint');
    });
    const following = svcctl(tight.url, 'backup', 'follow', own);
    let words = '';
    following.stderr?.on('data', (chunk) => {
      words += chunk;
    });
    expect((await once(following, 'close'))[0]).toBe(1);
    expect(words).toContain('Drop the slot svc_backup, and begin anew in a new folder.');
  } finally {
    await tight.stop();
  }
});

const restoreTo = (name: string, at: Date | null, from = backups) =>
  restoreBackup({ from, cluster: join(dir, name), at }, quiet);

test('a moment that cannot be reached is refused with what can', async () => {
  const early = restoreTo('early', new Date(new Date(backup.ended_at).getTime() - 60_000));
  await expect(early).rejects.toThrow(`The oldest backup is whole from ${backup.ended_at} on`);
  const late = restoreTo('late', new Date(Date.now() + 3_600_000));
  await expect(late).rejects.toThrow('The changes that are kept end before');
});

test('a database is never written over', async () => {
  await expect(restoreTo('all', null)).rejects.toThrow('has a database already');
});

test('a damaged backup is not restored', async () => {
  const damaged = join(dir, 'damaged');
  cpSync(backups, damaged, { recursive: true });
  truncateSync(join(baseFolder(damaged, 'first'), ARCHIVE), 100_000);
  await expect(restoreTo('of-damaged', null, damaged)).rejects.toThrow('The backup cannot be unpacked');
});

test('the folder of one server takes nothing of another one', async () => {
  const other = await startTestPostgres({ dir: join(dir, 'other') });
  try {
    const taken = takeBackup({ url: other.url, dir: backups, name: 'other' }, quiet);
    await expect(taken).rejects.toThrow('has the backups of another server');
    await expect(follow({ url: other.url, dir: backups })).rejects.toThrow(
      'has the backups of another server',
    );
  } finally {
    await other.stop();
  }
  expect(listBackups(backups).map(({ name }) => name)).toEqual(['first']);
});

test('a backup that breaks off leaves nothing behind', async () => {
  const own = join(dir, 'broken');
  let killed: Promise<void> | undefined;
  const broken = takeBackup({ url: server.url, dir: own, name: 'broken' }, () => {
    // It is told several times how far it has come.
    killed ??= server.kill();
  });
  await expect(broken).rejects.toThrow();
  await killed;
  expect(readdirSync(join(own, 'bases'))).toEqual([]);
});
