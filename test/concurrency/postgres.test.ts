// PostgreSQL gone, and PostgreSQL full: a database fault is a 503, never a 401, never a free call.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, type Postgres } from '@svc/cli/tools/postgres.ts';
import { migrate } from '@svc/core/db/index.ts';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { untilBook, withClient } from '../support/books.ts';
import { untilReady } from '../support/gateway.ts';
import { startTestPostgres } from '../support/postgres.ts';
import { allAtOnce, countSeen, EXACT_MICRO, type Money, startMoney } from './money.ts';

const BALANCE = 1_000_000;
const CONNECTIONS = 60;
const dir = mkdtempSync(join(tmpdir(), 'svc-pg-'));
let port = 0;
let postgres: Postgres;
let money: Money;

const start = () => startTestPostgres({ dir, port, settings: { max_connections: String(CONNECTIONS) } });

beforeAll(async () => {
  port = await freePort();
  postgres = await start();
  await withClient(postgres.url, (client) => client.query('create database money'));
  const database_url = postgres.urlOf('money');
  await migrate(database_url);
  money = await startMoney({
    balance: BALANCE,
    processes: 2,
    database_url,
    env: { SVC_LEDGER_LEASE_SECONDS: '2' },
  });
});
afterAll(async () => {
  await money?.close();
  await postgres.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function untilServing(): Promise<void> {
  for (const gateway of money.gateways) await untilReady(`${gateway.base_url}/readyz`, () => null);
}

test('PostgreSQL killed under load: running answers are charged once, new calls get 503, nobody a 401', {
  timeout: 90_000,
}, async () => {
  const running = allAtOnce(money, 60, { chunk_ms: 400 });
  await untilBook(money.database_url, money.live_book_id, (book) => book.held === 60 * EXACT_MICRO);
  await postgres.kill();
  const during = await allAtOnce(money, 20);
  expect(countSeen(during)).toEqual({ '503 service_unavailable': 20 });
  const seen = await running;
  expect(countSeen(seen)).toEqual({ final: 60 });
  postgres = await start();
  await untilServing();
  const book = await untilBook(
    money.database_url,
    money.live_book_id,
    (b) => b.held === 0 && b.charges.length >= 60,
    30_000,
  );
  expect(book.charges).toHaveLength(60);
  expect(book.available).toBe(BALANCE - 60 * EXACT_MICRO);
});

test('a server without free connections: 503, and service as soon as there are some', {
  timeout: 90_000,
}, async () => {
  const taken: pg.Client[] = [];
  const killer = new pg.Client({ connectionString: money.database_url });
  await killer.connect();
  const cut = `select pg_terminate_backend(pid) from pg_stat_activity
                where datname = current_database() and application_name like 'svc%'`;
  const theirs = `select 1 from pg_stat_activity
                   where datname = current_database() and application_name like 'svc%'`;
  const takeAll = async () => {
    for (;;) {
      const client = new pg.Client({ connectionString: money.database_url, application_name: 'taken' });
      client.on('error', () => {});
      try {
        await client.connect();
      } catch {
        return;
      }
      taken.push(client);
    }
  };
  try {
    await takeAll();
    // What the gateways give up is taken at once, until they have none left.
    const left = async () => (await killer.query(theirs)).rowCount ?? 0;
    for (let i = 0; i < 5 || (i < 100 && (await left()) > 0); i++) {
      await killer.query(cut);
      await takeAll();
    }
    expect(await left()).toBe(0);
    const before = money.provider.calls.length;
    const seen = await allAtOnce(money, 10);
    expect(countSeen(seen)).toEqual({ '503 service_unavailable': 10 });
    expect(money.provider.calls.length).toBe(before);
  } finally {
    await Promise.all(taken.map((client) => client.end()));
    await killer.end();
  }
  await untilServing();
  expect(countSeen(await allAtOnce(money, 10))).toEqual({ final: 10 });
});
