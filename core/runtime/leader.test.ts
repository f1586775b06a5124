import { expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { atFileEnd } from '../../test/support/ends.ts';
import { createPool } from '../db/index.ts';
import { nowMs, shiftClock, silentLog } from '../kernel/index.ts';
import { lead } from './leader.ts';

const url = await createTestDatabase();
const pool = createPool(url, { max: 1 });
atFileEnd(() => pool.end());

/** The connections that lead or ask to, the oldest first: their process, and when each was asked last. */
async function connections(): Promise<{ pid: number; asked: string }[]> {
  const { rows } = await pool.query<{ pid: number; asked: string }>({
    name: 'test.leaders',
    text: `select pid, query_start::text as asked from pg_stat_activity
            where datname = current_database() and application_name = 'svc-leader' order by backend_start`,
  });
  return rows;
}

test('who does not lead asks again on the connection that it has, and takes over on that one', async () => {
  const first = lead({ url, log: silentLog, jobs: [] });
  await expect.poll(() => first.leading).toBe(true);
  const second = lead({ url, log: silentLog, jobs: [] });
  atFileEnd(() => second.stop());
  await expect.poll(async () => (await connections()).length).toBe(2);
  const [, before] = await connections();
  const hasAsked = async () => (await connections())[1]?.asked !== before?.asked;
  await expect.poll(hasAsked, { timeout: 15_000 }).toBe(true);
  expect((await connections())[1]?.pid).toBe(before?.pid);
  expect(second.leading).toBe(false);

  await first.stop();
  await expect.poll(() => second.leading, { timeout: 15_000 }).toBe(true);
  expect((await connections()).map(({ pid }) => pid)).toEqual([before?.pid]);
});

test('a leader whose connection the server ends leads no more until it has the lock again', async () => {
  const database = await createTestDatabase();
  const alone = lead({ url: database, log: silentLog, jobs: [] });
  const operator = createPool(database, { max: 1 });
  atFileEnd(async () => {
    await alone.stop();
    await operator.end();
  });
  await expect.poll(() => alone.leading).toBe(true);
  await operator.query({
    name: 'test.end_leader',
    text: `select pg_terminate_backend(pid, 10000) from pg_stat_activity
            where datname = current_database() and application_name = 'svc-leader'`,
  });
  await expect.poll(() => alone.leading, { interval: 1 }).toBe(false);
  await expect.poll(() => alone.leading, { timeout: 15_000 }).toBe(true);
});

test('a job of every hour has its turn at once when the development clock has moved, and one behind the turn under way', async () => {
  const database = await createTestDatabase();
  const turns: number[] = [];
  let end = () => {};
  const run = () => {
    turns.push(nowMs());
    return new Promise<number>((done) => {
      end = () => done(0);
    });
  };
  const alone = lead({ url: database, log: silentLog, jobs: [{ name: 'hourly', every_ms: 3_600_000, run }] });
  atFileEnd(async () => {
    shiftClock(0);
    end();
    await alone.stop();
  });
  await expect.poll(() => turns.length).toBe(1);
  end();
  const began = nowMs();
  shiftClock(86_400_000);
  await expect.poll(() => turns.length).toBe(2);
  expect((turns[1] as number) - began).toBeGreaterThanOrEqual(86_400_000);
  shiftClock(2 * 86_400_000);
  await expect.poll(() => alone.counts.get('hourly')?.runs).toBe(2);
  const later = setInterval(end, 50);
  await expect.poll(() => turns.length).toBe(3);
  clearInterval(later);
  expect((turns[2] as number) - began).toBeGreaterThanOrEqual(2 * 86_400_000);
});

test('a job counts the turns that failed in a row, until one succeeds or another process leads', async () => {
  const database = await createTestDatabase();
  let fails = true;
  const run = async () => {
    if (fails) throw new Error('as told');
    return 0;
  };
  const alone = lead({ url: database, log: silentLog, jobs: [{ name: 'often', every_ms: 20, run }] });
  const misses = () => alone.counts.get('often')?.misses ?? 0;
  await expect.poll(misses).toBeGreaterThanOrEqual(2);
  fails = false;
  await expect.poll(misses).toBe(0);
  expect(alone.counts.get('often')?.failures).toBeGreaterThanOrEqual(2);
  fails = true;
  await expect.poll(misses).toBeGreaterThan(0);
  await alone.stop();
  expect(misses()).toBe(0);
});
