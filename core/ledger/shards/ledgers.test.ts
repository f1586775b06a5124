// The ledgers of an installation in one process: each by its name, one that is away beside those that answer, what is told of
// all of them together, and how many calls each takes.
import { existsSync } from 'node:fs';
import { afterAll, afterEach, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/support/database.ts';
import {
  createPool,
  fixedPlacement,
  migrateLedger,
  type Placement,
  withLedgerSchema,
} from '../../db/index.ts';
import { newRequestId, now, shiftClock, silentLog } from '../../kernel/index.ts';
import { measureLoad } from '../index.ts';
import { startProxy } from '../testing/proxy.ts';
import {
  AWAY,
  holdOf,
  journalDirectory,
  keptLog,
  makeBook,
  settleOf,
  subjectOf,
  until,
} from '../testing/testing.ts';
import { followWith } from './follow.ts';
import { openLedgers } from './ledgers.ts';
import { readLoad } from './load-store.ts';

const HOUR_MS = 3_600_000;
const url = await createTestDatabase();
const far_url = withLedgerSchema(await createTestDatabase(), 'ledger_far');
await migrateLedger(far_url);
const far = createPool(far_url);
const pool = createPool(url, {
  shards: [
    { name: 'far', url: far_url },
    { name: 'away', url: AWAY },
  ],
});
const journal = journalDirectory();
const placed = (shard: string, url: string): Placement => ({ ...fixedPlacement(url), shard });
const MAIN = placed('main', url);
const FAR = placed('far', far_url);

afterEach(() => shiftClock(0));
afterAll(async () => {
  await Promise.all([far.end(), pool.end()]);
  journal.remove();
});

const open = (placements: readonly Placement[], name: string, journal_dir = `${journal.dir}/${name}`) =>
  openLedgers(placements, {
    ...{ process_name: name, journal_dir, log: silentLog, patience: { hold_ms: 300, settle_ms: 100 } },
  });

const leases = async (process: string) => {
  const { rows } = await far.query<{ n: number }>({
    name: 'test.leases',
    text: 'select count(*)::int as n from ledger.lease where process = $1 and expires_at > now()',
    values: [process],
  });
  return rows[0]?.n;
};

test('each ledger is found by its name, and another name is an error', async () => {
  const ledgers = await open([MAIN, FAR], 'named');
  const book = await makeBook(far, { amount: 100 });
  expect(await ledgers.at('far').balance(book)).toMatchObject({ available_micro_usd: 100 });
  expect(() => ledgers.at('farther')).toThrow('no shard of the ledger is called farther');
  expect([...ledgers.figures.keys()]).toEqual(['main', 'far']);
  expect(ledgers.figures.get('far')).toEqual(ledgers.at('far').figures);
  expect(ledgers).toMatchObject({ away: [], healthy: true, pending: 0 });
  expect(await leases('named')).toBe(1);
  await ledgers.close();
  expect(await leases('named')).toBe(0);
});

test('a ledger that is away keeps none of the others from their calls, and is named', async () => {
  const ledgers = await open([MAIN, placed('away', AWAY), FAR], 'beside');
  const book = await makeBook(far, { amount: 100 });
  const hold = holdOf(subjectOf(book), 10);
  expect(await ledgers.at('far').hold(hold)).toEqual({ status: 'ok' });
  expect(await ledgers.at('away').hold(holdOf(subjectOf(1), 10))).toEqual({ status: 'unavailable' });
  expect(ledgers).toMatchObject({ away: ['away'], healthy: true });
  const settles = [1, 2].map((n) => ledgers.at('away').settle(settleOf(subjectOf(n), newRequestId(), 5)));
  expect(await Promise.all(settles)).toEqual([
    { status: 'journaled', charged_micro_usd: null },
    { status: 'journaled', charged_micro_usd: null },
  ]);
  expect(ledgers.pending).toBe(2);
  ledgers.at('far').release(subjectOf(book), hold.request_id);
  await ledgers.close();
});

test('a settle that cannot be booked is in the journal of its ledger; those of the main ledger are in the directory itself', async () => {
  const proxy = await startProxy(url);
  const ledgers = await open([placed('main', proxy.url), placed('away', AWAY), FAR], 'journals');
  proxy.freeze();
  for (const shard of ['main', 'away']) {
    const settled = await ledgers.at(shard).settle(settleOf(subjectOf(1), newRequestId(), 5));
    expect(settled).toMatchObject({ status: 'journaled' });
  }
  const made = ['', '-main', '-away', '-far'].filter((end) => existsSync(`${journal.dir}/journals${end}`));
  expect(made).toEqual(['', '-away']);
  proxy.thaw();
  await ledgers.close();
  proxy.close();
});

test('with all of them away none is healthy', async () => {
  const ledgers = await open([placed('away', AWAY)], 'alone');
  expect(ledgers).toMatchObject({ away: ['away'], healthy: false });
  await ledgers.close();
});

test('where the main ledger cannot be reached none is left open', async () => {
  await expect(open([FAR, placed('main', AWAY)], 'unopened')).rejects.toThrow('ECONNREFUSED');
  expect(await leases('unopened')).toBe(0);
});

test('a ledger that has moved is told in the log, and so is one that moved to where nobody can follow', async () => {
  const { log, lines } = keptLog();
  const asked: unknown[] = [];
  const answers = [async () => true, async () => false, () => Promise.reject(new Error('unlisted'))];
  const placement = {
    ...FAR,
    follow: (...args: unknown[]) => {
      asked.push(args);
      return (answers.shift() as () => Promise<boolean>)();
    },
  };
  const follow = followWith(placement, log);
  expect(await follow('there', true)).toBe(true);
  expect(await follow('there', false)).toBe(false);
  expect(await follow('here', true)).toBe(false);
  expect(asked).toEqual([
    ['there', true],
    ['there', false],
    ['here', true],
  ]);
  expect(lines).toMatchObject([
    { level: 'info', msg: 'ledger: it has moved, calls follow', shard: 'far' },
    {
      ...{ level: 'error', msg: 'ledger: it has moved to where this process cannot follow', shard: 'far' },
      error: { message: 'unlisted' },
    },
  ]);
});

const readings = async () => {
  const { rows } = await pool.query<{ shard: string; place: string }>({
    name: 'test.readings',
    text: 'select distinct shard, place from ledger_load order by shard',
  });
  return rows;
};

test('the calls of each ledger are counted from reading to reading and kept for a day, whoever is away', async () => {
  const ledgers = await open([MAIN, FAR], 'counting');
  const from = now();
  const book = await makeBook(far, { amount: 1_000 });
  const measure = () => expect(measureLoad(pool)).rejects.toThrow('ECONNREFUSED');
  await measure();
  for (let call = 0; call < 3; call++) {
    const hold = holdOf(subjectOf(book), 10);
    await ledgers.at('far').hold(hold);
    await ledgers.at('far').settle(settleOf(subjectOf(book), hold.request_id, 5));
  }
  await ledgers.close();
  await until(async () => {
    await measure();
    return (await readLoad(pool, new Date(from.getTime() - 1))).get('far') === 3;
  });
  expect(await readings()).toEqual([
    { shard: 'far', place: 'far' },
    { shard: 'main', place: 'main' },
  ]);
  shiftClock(24 * HOUR_MS);
  await measure();
  expect((await readLoad(pool, new Date(from.getTime() - 1))).get('far')).toBe(3);
  shiftClock(26 * HOUR_MS);
  await measure();
  expect((await readLoad(pool, new Date(from.getTime() - 1))).get('far')).toBe(0);
});

test('a reading names the place where the ledger is, of those that it can be in', async () => {
  const shards = [
    { name: 'far', url: AWAY },
    { name: 'far.2', url: far_url },
  ];
  const moved = createPool(url, { shards });
  const record = (text: string) => pool.query({ name: `test.${text.slice(0, 6)}`, text });
  await record(`insert into ledger_shard (name, place, is_open) values ('far', 'far.2', true)`);
  expect(await measureLoad(moved)).toBe(2);
  expect((await readings()).filter(({ place }) => place !== 'main' && place !== 'far')).toEqual([
    { shard: 'far', place: 'far.2' },
  ]);
  await record(`delete from ledger_shard where name = 'far'`);
  await moved.end();
});

test('with all ledgers there, a turn says how many it measured', async () => {
  const two = createPool(url, { shards: [{ name: 'far', url: far_url }] });
  expect(await measureLoad(two)).toBe(2);
  await two.end();
});
