// Gateways over a fail-over of two real servers (docs/operate/availability.md#fail-over-of-postgresql). That no settle is
// lost under load is in test/crash/fail-over.test.ts.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPool, migrate, type Pool } from '@svc/core/db/index.ts';
import { sweepOnce, verifyLedger } from '@svc/core/ledger/index.ts';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { aCall, allAtOnce, countSeen, EXACT_MICRO, type Money, startMoney } from '../concurrency/money.ts';
import type { Seen } from '../crash/caller.ts';
import { readBook, untilBook, withClient } from '../support/books.ts';
import { until } from '../support/programs/until.ts';
import { provision } from '../support/provision.ts';
import { type Servers, startServers } from './servers.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const BALANCE = 1_000_000;
const LEASE_SECONDS = 2;
let servers: Servers;
let money: Money;
let pool: Pool;

beforeAll(async () => {
  servers = await startServers(mkdtempSync(join(tmpdir(), 'svc-standby-')));
  await withClient(servers.primary.url, (client) => client.query('create database money'));
  const at = new URL(servers.address.url);
  at.pathname = 'money';
  await migrate(at.href);
  money = await startMoney({
    ...{ balance: BALANCE, processes: 2, database_url: at.href },
    env: { SVC_LEDGER_LEASE_SECONDS: String(LEASE_SECONDS) },
  });
  pool = createPool(at.href, { max: 1, role: 'svc_runtime' });
});
beforeEach(() => servers.addStandby('synchronous'));
afterAll(async () => {
  await pool?.end();
  await money?.close();
  await servers.close();
});

const spent = () =>
  readBook(money.database_url, money.live_book_id).then(({ available }) => BALANCE - available);

/** Resolves when both gateways serve calls again; what callers saw who were refused until then. */
async function untilServed(): Promise<Seen[]> {
  const refused: Seen[] = [];
  await Promise.all(
    money.gateways.map(({ base_url }) =>
      until(`${base_url} serves`, async () => {
        const { seen } = await money.callers.send(base_url, aCall(money.live_key));
        if (seen.kind !== 'final') refused.push(seen);
        return seen.kind === 'final';
      }),
    ),
  );
  return refused;
}

/** Every call whose caller has its answer is charged, once, and the books are right. */
async function expectCharged(seen: readonly Seen[]): Promise<void> {
  const answered = seen.filter(({ kind }) => kind === 'final').map((one) => one.request_id as string);
  const book = await untilBook(money.database_url, money.live_book_id, ({ held, charges }) => {
    const charged = new Set(charges.map(({ request_id }) => request_id));
    return held === 0 && answered.every((id) => charged.has(id));
  });
  const ids = book.charges.map(({ request_id }) => request_id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(book.charges.every(({ amount }) => amount === -EXACT_MICRO)).toBe(true);
  expect((await verifyLedger({ url: money.database_url })).findings).toEqual([]);
}

test('an address that leads to the standby for a moment is a database that is away: 503, and nothing is read there', async () => {
  const fresh = await provision({ database_url: money.database_url, slug: 'fresh', live_micro_usd: 1_000 });
  const standby = servers.standby?.urlOf('money') as string;
  servers.address.moveTo(standby);
  servers.address.cut();
  expect(countSeen(await allAtOnce(money, 10))).toEqual({ '503 service_unavailable': 10 });
  const origin = money.gateways[0]?.base_url as string;
  // Of a key that is not in memory a standby may know what is no longer so.
  const { seen } = await money.callers.send(origin, aCall(fresh.live_key));
  expect(seen).toMatchObject({ kind: 'refused', status: 503, code: 'service_unavailable' });
  const reply = await fetch(`${origin}/readyz`);
  expect(reply.status).toBe(503);
  // A connection that was just opened has asked nothing yet.
  const { rows } = await withClient(standby, (client) =>
    client.query(`select application_name, query from pg_stat_activity
                   where datname = 'money' and pid <> pg_backend_pid() and query <> ''
                     and query not like '%pg_is_in_recovery()%'`),
  );
  expect(rows).toEqual([]);
  await servers.killPrimary();
  await servers.failOver();
  await untilServed();
  await expectCharged([]);
});

test('a primary that does not know that it was replaced acknowledges nothing; what it was given is booked at the new one', async () => {
  const before = await spent();
  // Gateways are still connected to it, and the network to its standby is cut.
  servers.cutStream();
  await servers.promote();
  const alone = await allAtOnce(money, 10);
  const kinds = countSeen(alone);
  expect((kinds['final'] ?? 0) + (kinds['503 service_unavailable'] ?? 0)).toBe(10);
  servers.address.moveTo(servers.primary.url);
  servers.address.cut();
  await untilServed();
  await expectCharged(alone);
  // And when it comes back by itself, and the address leads to it again by mistake.
  const old = await servers.startOld();
  servers.address.moveTo(old.url);
  servers.address.cut();
  const again = await allAtOnce(money, 10);
  servers.address.moveTo(servers.primary.url);
  servers.address.cut();
  await untilServed();
  await expectCharged([...alone, ...again]);
  expect(await spent()).toBeGreaterThan(before);
  await old.kill();
});

test('connections to a primary that vanished in silence are given up, and calls are served by the new one', async () => {
  const running = allAtOnce(money, 6, { chunk_ms: 100 });
  await untilBook(money.database_url, money.live_book_id, ({ held }) => held === 6 * EXACT_MICRO);
  servers.address.forget();
  await servers.failOver();
  const seen = await running;
  expect(countSeen(seen)).toEqual({ final: 6 });
  for (const one of await untilServed()) expect(one).toMatchObject({ status: 503 });
  await expectCharged(seen);
});

// Last, because a gateway dies in it.
test('a fail-over that takes longer than a lease leaves calls that run their holds, and those of a dead gateway go', async () => {
  const before = await spent();
  expect(await sweepOnce(pool)).toEqual([]);
  const running = (gateway: 0 | 1, count: number) => {
    const call = () => aCall(money.live_key, { chunks: 10, chunk_ms: 1_200 });
    const origin = money.gateways[gateway]?.base_url as string;
    return Promise.all(Array.from({ length: count }, () => money.callers.send(origin, call())));
  };
  const living = running(0, 8);
  const dying = running(1, 5);
  await untilBook(money.database_url, money.live_book_id, ({ held }) => held === 13 * EXACT_MICRO);
  // Commits synchronously, and with it the holds before it: now the standby has them.
  await sweepOnce(pool);
  await Promise.all([servers.killPrimary(), money.gateways[1]?.kill()]);
  const standby = servers.standby?.urlOf('money') as string;
  await until('every lease has lapsed', async () => {
    const text = 'select max(expires_at) < clock_timestamp() as lapsed from ledger.lease';
    return withClient(standby, async (client) => (await client.query(text)).rows[0].lapsed);
  });
  await servers.failOver();
  const swept: string[] = [];
  await until('the holds of the dead gateway are swept', async () => {
    swept.push(...(await sweepOnce(pool)).map(({ request_id }) => request_id));
    return swept.length >= 5;
  });
  const seen = (await living).map((sent) => sent.seen);
  expect(countSeen(seen)).toEqual({ final: 8 });
  expect((await dying).map(({ seen }) => seen.kind)).toEqual(Array(5).fill('lost'));
  expect(swept).toHaveLength(5);
  await expectCharged(seen);
  expect(await spent()).toBe(before + 8 * EXACT_MICRO);
});
