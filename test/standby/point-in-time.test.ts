// A backup that is followed over a fail-over while calls run, and what comes back of it: everything that callers had answers
// to before a moment, nothing that began after it (docs/operate/backup.md).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { restoreBackup } from '@svc/cli/backup/restore.ts';
import { takeBackup } from '@svc/cli/backup/take.ts';
import { root } from '@svc/cli/installation.ts';
import { migrate } from '@svc/core/db/index.ts';
import { ulidMs } from '@svc/core/kernel/index.ts';
import { beforeAll, expect, test, vi } from 'vitest';
import { aCall, type Money, startMoney } from '../concurrency/money.ts';
import { crashProviders } from '../crash/provider.ts';
import { readBook, withClient } from '../support/books.ts';
import { atFileEnd } from '../support/ends.ts';
import { startGatewayProcess } from '../support/gateway.ts';
import { startTestPostgres } from '../support/postgres.ts';
import { until } from '../support/programs/until.ts';
import { provision } from '../support/provision.ts';
import { type Servers, startServers } from './servers.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 });

const dir = mkdtempSync('/var/tmp/svc-point-in-time-');
chmodSync(dir, 0o755);
const backups = join(dir, 'backups');
const quiet = () => {};

/** Callers that send one call after the other until they are stopped. */
class Load {
  /** Request ids of calls whose answer came with its cost. */
  readonly answered: string[] = [];
  readonly #running: Promise<void>[];
  #stopped = false;

  constructor(money: Money, callers: number) {
    this.#running = Array.from({ length: callers }, () => this.#call(money));
  }

  async #call({ callers, gateways, live_key }: Money): Promise<void> {
    while (!this.#stopped) {
      const { seen } = await callers.send(gateways[0]?.base_url as string, aCall(live_key));
      if (seen.kind === 'final') this.answered.push(seen.request_id);
    }
  }

  more(count: number): Promise<boolean> {
    const aim = this.answered.length + count;
    return until(`${count} answers more`, () => this.answered.length >= aim, 60_000);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
  }
}

let servers: Servers;
let money: Money;
let moment: Date;
/** Charged before the moment; and all that were answered, before and after. */
let before: readonly string[];
let answered: readonly string[];
/** Made after the moment. */
let late_key: string;
const charged = async () =>
  new Set(
    (await readBook(money.database_url, money.live_book_id)).charges.map(({ request_id }) => request_id),
  );

async function untilFollowed(words: () => string): Promise<void> {
  // A fixed place: gateways write a little all the time.
  const { rows } = await withClient(servers.primary.url, (client) =>
    client.query('select pg_current_wal_flush_lsn()::text as due'),
  );
  const text = `select flush_lsn >= $1::pg_lsn as caught_up from pg_stat_replication
                 where application_name = 'svcctl backup' and state = 'streaming'`;
  const caughtUp = async () => {
    const { rows: seen } = await withClient(servers.primary.url, (client) =>
      client.query(text, [rows[0].due]),
    );
    return seen[0]?.caught_up;
  };
  await until('the folder has every change', caughtUp, 20_000).catch((error: Error) => {
    throw new Error(`${error.message}: ${words()}`);
  });
}

beforeAll(async () => {
  servers = await startServers(dir);
  await withClient(servers.primary.url, (client) => client.query('create database money'));
  const at = new URL(servers.address.url);
  at.pathname = 'money';
  await migrate(at.href);
  money = await startMoney({ balance: 10_000_000, processes: 1, database_url: at.href });
  atFileEnd(async () => {
    await money.close();
    await servers.close();
    rmSync(dir, { recursive: true, force: true });
  });
  await servers.addStandby('synchronous');
  const env = { ...process.env, SVC_DATABASE_URL: at.href, SVC_DATA_DIR: join(dir, 'no-installation') };
  const following = spawn(process.execPath, [`${root}cli/main.ts`, 'backup', 'follow', backups], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(following, 'exit');
  let words = '';
  following.stderr.on('data', (chunk) => {
    words += chunk;
  });
  await until('it follows', () => words.includes('following from'));
  await takeBackup({ url: at.href, dir: backups, name: 'first' }, quiet);
  const load = new Load(money, 6);
  await load.more(100);
  before = [...load.answered];
  await until('their settles are booked', async () => new Set(before).isSubsetOf(await charged()));
  moment = new Date();
  await load.more(100);
  late_key = (await provision({ database_url: at.href, slug: 'late', live_micro_usd: 1_000 })).live_key;
  // What follows is two segments behind when the primary dies: they are on a timeline that ended then.
  following.kill('SIGSTOP');
  for (let segment = 0; segment < 2; segment++) {
    const text = `select pg_logical_emit_message(true, 'test', 'segment'), pg_switch_wal()`;
    await withClient(servers.primary.url, (client) => client.query(text));
  }
  await load.more(20);
  await servers.killPrimary();
  await servers.failOver();
  following.kill('SIGCONT');
  await load.more(100);
  await load.stop();
  answered = load.answered;
  await until('all are booked', async () => new Set(answered).isSubsetOf(await charged()));
  await until('it follows the new primary', () => words.split('following from').length > 2);
  await untilFollowed(() => words);
  following.kill('SIGTERM');
  expect((await ended)[0], words).toBe(0);
});

async function restoreTo(name: string, at: Date | null) {
  const cluster = join(dir, name);
  const restored = await restoreBackup({ from: backups, cluster, at }, quiet);
  expect(restored.ledger).toMatchObject({ ok: true, findings: [] });
  const server = await startTestPostgres({ dir: cluster });
  atFileEnd(() => server.stop());
  const url = server.urlOf('money');
  const book = await readBook(url, money.live_book_id);
  return { url, ids: new Set(book.charges.map(({ request_id }) => request_id)) };
}

test('back to a second under load: answered calls of before are charged, later ones are not, later keys are unknown', async () => {
  const { url, ids } = await restoreTo('to-a-moment', moment);
  expect(before.filter((id) => !ids.has(id))).toEqual([]);
  const later = answered.filter((id) => ulidMs(id) > moment.getTime());
  expect(later.length).toBeGreaterThan(150);
  expect(later.filter((id) => ids.has(id))).toEqual([]);
  const gateway = await startGatewayProcess({
    database_url: url,
    providers: crashProviders(money.provider),
    env: { CRASH_API_KEY: 'sk-crash' },
  });
  try {
    const ask = async (key: string) => (await money.callers.send(gateway.base_url, aCall(key))).seen;
    expect(await ask(late_key)).toMatchObject({ kind: 'refused', status: 401 });
    expect(await ask(money.live_key)).toMatchObject({ kind: 'final' });
  } finally {
    await gateway.stop();
  }
});

test('without a moment everything that was answered comes back, from before and after the fail-over', async () => {
  const { ids } = await restoreTo('all', null);
  expect(answered.filter((id) => !ids.has(id))).toEqual([]);
});
