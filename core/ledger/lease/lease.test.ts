// What a process knows of its own lease: when it cannot have run out, and when a sweep may have come.
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createTestLedger } from '../../../test/support/shards.ts';
import { createPool, type Pool } from '../../db/index.ts';
import { AWAY, keptLog } from '../testing/testing.ts';
import { Lease } from './lease.ts';

const SECONDS = 10;
const url = await createTestLedger();
const db = createPool(url);
const { log, lines } = keptLog();

beforeEach(() => {
  lines.length = 0;
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});
afterAll(() => db.end());

const open = (pool: Pool = db) =>
  new Lease({ db: pool, process: 'lease-test', seconds: SECONDS, places: ['main', 'other'], log });

async function rows(lease_id?: number) {
  const { rows } = await db.query<{ process: string; seconds: number; places: string[]; left_s: number }>({
    name: 'test.leases',
    text: `select process, seconds::int as seconds, places,
                  round(extract(epoch from expires_at - clock_timestamp()))::int as left_s
             from ledger.lease where lease_id = coalesce($1, lease_id) and process = 'lease-test' order by lease_id`,
    values: [lease_id ?? null],
  });
  return rows;
}

const forget = (lease: Lease) =>
  db.query({ name: 'test.forget', text: 'delete from ledger.lease where lease_id = $1', values: [lease.id] });

test('a process has no lease before the first renewal, which takes one under its name with the places that it knows', async () => {
  const lease = open();
  expect(lease).toMatchObject({ id: 0, life: 0, seconds: SECONDS });
  await lease.renew();
  expect(lease.life).toBe(1);
  expect(await rows(lease.id)).toEqual([
    { process: 'lease-test', seconds: SECONDS, places: ['main', 'other'], left_s: SECONDS },
  ]);
  expect(lines).toEqual([]);
});

test('renewed in time it is the same lease and the same life', async () => {
  const lease = open();
  await lease.renew();
  const { id } = lease;
  vi.advanceTimersByTime(SECONDS * 1_000 - 1);
  expect(lease.lasts(1)).toBe(true);
  await lease.renew();
  expect(lease).toMatchObject({ id, life: 1 });
  vi.advanceTimersByTime(SECONDS * 1_000 - 1);
  expect(lease.lasts(1)).toBe(true);
  vi.advanceTimersByTime(1);
  expect(lease.lasts(1)).toBe(false);
});

test('renewed after its time, though nobody swept, it is another life: what was held in the one before may be gone', async () => {
  const lease = open();
  await lease.renew();
  const { id } = lease;
  vi.advanceTimersByTime(SECONDS * 1_000);
  await lease.renew();
  expect(lease).toMatchObject({ id, life: 2 });
  expect([lease.lasts(1), lease.lasts(2)]).toEqual([false, true]);
  expect(lines).toEqual([]);
});

test('a lease that is gone is followed by another one, which the log says', async () => {
  const lease = open();
  await lease.renew();
  const { id } = lease;
  await forget(lease);
  await lease.renew();
  expect(lease.id).not.toBe(id);
  expect([lease.lasts(1), lease.lasts(2)]).toEqual([false, true]);
  expect(lines).toMatchObject([
    { level: 'warn', msg: 'ledger: the lease was gone, a new one was taken', lease_id: lease.id },
  ]);
});

test('the time of a lease runs from when its renewal was sent, not from when it was answered', async () => {
  const slow = {
    query: async (...args: Parameters<Pool['query']>) => {
      const answer = await db.query(...args);
      vi.advanceTimersByTime(SECONDS * 500);
      return answer;
    },
  } as Pool;
  const lease = open(slow);
  await lease.renew();
  vi.advanceTimersByTime(SECONDS * 500 - 1);
  expect(lease.lasts(1)).toBe(true);
  vi.advanceTimersByTime(1);
  expect(lease.lasts(1)).toBe(false);
  // A new one runs from when it was asked for, which is after the old one was not found.
  await forget(lease);
  await lease.renew();
  vi.advanceTimersByTime(SECONDS * 500 - 1);
  expect(lease.lasts(2)).toBe(true);
});

test('one renewal is under way at a time, and after one that failed the next one asks again', async () => {
  const before = (await rows()).length;
  const lease = open();
  await Promise.all([lease.renew(), lease.renew()]);
  expect((await rows()).length).toBe(before + 1);
  expect(lease.life).toBe(1);
  const away = createPool(AWAY);
  const lost = open(away);
  await expect(lost.renew()).rejects.toThrow('ECONNREFUSED');
  await expect(lost.renew()).rejects.toThrow('ECONNREFUSED');
  expect(lost).toMatchObject({ id: 0, life: 0 });
  await away.end();
});

test('a lease that is ended holds nothing any more', async () => {
  const lease = open();
  await lease.renew();
  await lease.end();
  const [left] = await rows(lease.id);
  expect(left?.left_s ?? 0).toBeLessThanOrEqual(0);
});
