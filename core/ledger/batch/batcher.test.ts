// When batches go, and what becomes of what is in them: the test stands where the statement is, and answers it. Connections are
// real; clocks are the test's.
import type pg from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createTestLedger } from '../../../test/support/shards.ts';
import { Batcher, type BatcherOptions, patient } from './batcher.ts';

const url = await createTestLedger();

/** A batch that the ledger has not answered. */
interface Flight {
  readonly db: pg.Client;
  readonly items: readonly number[];
  land(): void;
  fail(error: Error): void;
}

type Options = BatcherOptions<number, string>;
const opened: Batcher<number, string>[] = [];

function open(more: Partial<Options> = {}) {
  const flights: Flight[] = [];
  /** What the batcher told, in order. */
  const told: unknown[] = [];
  const batcher = new Batcher<number, string>({
    ...{ url: () => url, config: {}, max_batch: 4, late_after_ms: 1_000, drops_late: false },
    follow: async () => false,
    compare: (a, b) => a - b,
    run: (db, items) =>
      new Promise((resolve, fail) => {
        const land = () => resolve(items.map((item) => `did ${item}`));
        flights.push({ db, items: [...items], land, fail });
      }),
    onAnswer: ({ item, late }, result) => told.push(late ? `${result}, late` : result, item),
    onLate: (waiting) => told.push(['late', ...waiting.map(({ item }) => item)]),
    onDefect: (item, error) => {
      told.push(`${item}: ${error.message}`);
      return 'refused';
    },
    onHealth: (healthy, error) => told.push(healthy ? 'up' : `down: ${error?.message}`),
    onLapsed: async () => {
      told.push('lapsed');
    },
    ...more,
  });
  opened.push(batcher);
  return { batcher, flights, told };
}

/** Waits without clocks, which are the test's. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((done) => setImmediate(done));
}

/** Everything that does not wait for anybody has happened. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((done) => setImmediate(done));
}

const failed = (code: string | null, message = 'no') => Object.assign(new Error(message), { code });
const at = <T>(list: readonly T[], index: number) => list[index] as T;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(opened.splice(0).map((batcher) => batcher.close()));
});

test('what comes in one turn goes at once, and what comes while a batch is in the air goes with the next', async () => {
  const { batcher, flights } = open();
  const first = [2, 1].map((item) => batcher.add(item));
  await until(() => flights.length === 1);
  expect(at(flights, 0).items).toEqual([1, 2]);
  const rest = [4, 3].map((item) => batcher.add(item));
  await settled();
  expect(flights).toHaveLength(1);
  expect(batcher).toMatchObject({ size: 4, flying: true, flushes: 1, sent: 2 });
  at(flights, 0).land();
  expect(await Promise.all(first)).toEqual(['did 2', 'did 1']);
  await until(() => flights.length === 2);
  expect(at(flights, 1).items).toEqual([3, 4]);
  at(flights, 1).land();
  expect(await Promise.all(rest)).toEqual(['did 4', 'did 3']);
  await until(() => !batcher.flying);
  expect(batcher).toMatchObject({ size: 0, flushes: 2, sent: 4 });
  expect(at(flights, 1).db).toBe(at(flights, 0).db);
});

test('a batch has so many at most, those that came first', async () => {
  const { batcher, flights } = open();
  for (const item of [9, 8, 7, 6, 5, 4]) void batcher.add(item);
  await until(() => flights.length === 1);
  expect(at(flights, 0).items).toEqual([6, 7, 8, 9]);
  at(flights, 0).land();
  await until(() => flights.length === 2);
  expect(at(flights, 1).items).toEqual([4, 5]);
  for (const item of [3, 2, 1, 0]) void batcher.add(item);
  at(flights, 1).land();
  await until(() => flights.length === 3);
  expect(at(flights, 2).items).toEqual([0, 1, 2, 3]);
  at(flights, 2).land();
  await until(() => batcher.size === 0);
});

test('what has waited too long is told once, the rest not', async () => {
  const { batcher, flights, told } = open();
  void batcher.add(1);
  await until(() => flights.length === 1);
  void batcher.add(2);
  batcher.put(3, () => {}, true);
  vi.advanceTimersByTime(1_000);
  void batcher.add(4);
  batcher.tick();
  expect(told).toEqual([]);
  vi.advanceTimersByTime(1);
  batcher.tick();
  batcher.tick();
  expect(told).toEqual([['late', 1, 2]]);
  expect(batcher.size).toBe(4);
  at(flights, 0).land();
  await until(() => flights.length === 2);
  expect(told.slice(1)).toEqual(['did 1, late', 1, 'up']);
  expect(at(flights, 1).items).toEqual([2, 3, 4]);
  at(flights, 1).land();
  await until(() => batcher.size === 0);
  expect(told.slice(4)).toEqual(['did 2, late', 2, 'did 3, late', 3, 'did 4', 4, 'up']);
});

test('where what is late is given up, it is not sent any more, and what is in the air is answered late', async () => {
  const { batcher, flights, told } = open({ drops_late: true });
  void batcher.add(1);
  await until(() => flights.length === 1);
  void batcher.add(2);
  vi.advanceTimersByTime(1_001);
  void batcher.add(3);
  batcher.tick();
  expect(told).toEqual([['late', 1, 2]]);
  expect(batcher.size).toBe(2);
  at(flights, 0).land();
  await until(() => flights.length === 2);
  expect(at(flights, 1).items).toEqual([3]);
  expect(told.slice(1)).toEqual(['did 1, late', 1, 'up']);
  at(flights, 1).land();
});

test('a batch that fails goes again on a new connection, without what was given up meanwhile', async () => {
  const { batcher, flights, told } = open({ drops_late: true });
  void batcher.add(1);
  vi.advanceTimersByTime(1);
  void batcher.add(2);
  await until(() => flights.length === 1);
  vi.advanceTimersByTime(1_000);
  batcher.tick();
  at(flights, 0).fail(failed('57P01', 'shut down'));
  await until(() => flights.length === 2);
  expect(told).toEqual([['late', 1], 'down: shut down']);
  expect(at(flights, 1).items).toEqual([2]);
  expect(at(flights, 1).db).not.toBe(at(flights, 0).db);
  await expect(at(flights, 0).db.query('select 1')).rejects.toThrow();
  at(flights, 1).land();
  await until(() => batcher.size === 0);
  expect(told.slice(2)).toEqual(['did 2', 2, 'up']);
});

test('a batch of which all was given up is not sent again, and the next one goes', async () => {
  const { batcher, flights, told } = open({ drops_late: true });
  void batcher.add(1);
  await until(() => flights.length === 1);
  vi.advanceTimersByTime(1_001);
  batcher.tick();
  at(flights, 0).fail(failed(null));
  await until(() => !batcher.flying);
  expect(batcher.size).toBe(0);
  void batcher.add(2);
  await until(() => flights.length === 2);
  expect(told).toEqual([['late', 1], 'down: no']);
  at(flights, 1).land();
});

test('what may be repeated goes again as it was where nothing is given up', async () => {
  const { batcher, flights } = open();
  const answers = [2, 1].map((item) => batcher.add(item));
  await until(() => flights.length === 1);
  vi.advanceTimersByTime(1_001);
  batcher.tick();
  for (const [n, code] of ['40001', '57014', '08006', 'x22003', '22003x', null].entries()) {
    at(flights, n).fail(failed(code));
    await until(() => flights.length === n + 2);
    expect(at(flights, n + 1).items).toEqual([1, 2]);
  }
  at(flights, flights.length - 1).land();
  expect(await Promise.all(answers)).toEqual(['did 2', 'did 1']);
});

test('after a lease that lapsed the same batch goes on the same connection, once there is one again', async () => {
  let renewed = () => {};
  const onLapsed = () => new Promise<void>((done) => (renewed = done));
  const { batcher, flights, told } = open({ onLapsed });
  const answer = batcher.add(1);
  await until(() => flights.length === 1);
  at(flights, 0).fail(failed('55L01'));
  await settled();
  expect(flights).toHaveLength(1);
  renewed();
  await until(() => flights.length === 2);
  expect(at(flights, 1).db).toBe(at(flights, 0).db);
  at(flights, 1).land();
  expect(await answer).toBe('did 1');
  expect(told).toEqual(['did 1', 1, 'up']);
});

test('where the lease cannot be renewed the batch goes again a little later', async () => {
  const { batcher, flights } = open({ onLapsed: () => Promise.reject(new Error('away')) });
  void batcher.add(1);
  await until(() => flights.length === 1);
  at(flights, 0).fail(failed('55L01'));
  await until(() => flights.length === 2);
  at(flights, 1).land();
  await until(() => batcher.size === 0);
});

test.each([
  failed('22003'),
  failed('23505'),
  failed('21000'),
  failed('XX000'),
  failed('P0001'),
  failed('0A000'),
  new RangeError('no'),
  new TypeError('no'),
])('a batch with one item that is at fault (%o) is halved until that fails alone', async (error) => {
  const { batcher, flights, told } = open();
  const answers = [1, 2, 3].map((item) => batcher.add(item));
  for (let n = 0; batcher.size > 0; n++) {
    await until(() => flights.length > n || batcher.size === 0);
    const flight = flights[n];
    if (flight?.items.includes(2)) flight.fail(error);
    else flight?.land();
    await settled();
  }
  expect(flights.map(({ items }) => items)).toEqual([[1, 2, 3], [1], [2, 3], [2], [3]]);
  expect(new Set(flights.map(({ db }) => db)).size).toBe(1);
  expect(await Promise.all(answers)).toEqual(['did 1', 'refused', 'did 3']);
  expect(told).toEqual(['did 1', 1, 'up', '2: no', 'refused', 2, 'did 3', 3, 'up']);
});

test('an item that is at fault and cannot be refused is kept, and tried again every five seconds beside others', async () => {
  const { batcher, flights, told } = open({ onDefect: () => null });
  void batcher.add(1);
  await until(() => flights.length === 1);
  at(flights, 0).fail(failed('22003'));
  await until(() => !batcher.flying);
  expect(batcher.size).toBe(1);
  void batcher.add(2);
  await until(() => flights.length === 2);
  expect(at(flights, 1).items).toEqual([2]);
  vi.advanceTimersByTime(1_001);
  void batcher.add(3);
  batcher.tick();
  expect(told).toEqual([['late', 1, 2]]);
  at(flights, 1).land();
  await until(() => flights.length === 3);
  at(flights, 2).land();
  await until(() => !batcher.flying);
  vi.advanceTimersByTime(3_998);
  await settled();
  expect(flights).toHaveLength(3);
  vi.advanceTimersByTime(1);
  await until(() => flights.length === 4);
  expect(batcher.size).toBe(1);
  expect(at(flights, 3).items).toEqual([1]);
  at(flights, 3).land();
  await until(() => batcher.size === 0);
});

test('a batch that is not answered for more than fifteen seconds is on a dead connection', async () => {
  const { batcher, flights } = open();
  void batcher.add(1);
  await until(() => flights.length === 1);
  const { db } = at(flights, 0);
  const sleeping = db.query('select pg_sleep(60)').catch((error: Error) => at(flights, 0).fail(error));
  vi.advanceTimersByTime(15_000);
  batcher.tick();
  await settled();
  expect(flights).toHaveLength(1);
  vi.advanceTimersByTime(1);
  batcher.tick();
  await until(() => flights.length === 2);
  await sleeping;
  expect(at(flights, 1).db).not.toBe(db);
  vi.advanceTimersByTime(14_000);
  batcher.tick();
  at(flights, 1).land();
  await until(() => !batcher.flying);
  // Nothing is in the air: the connection may stand as long as it will.
  vi.advanceTimersByTime(60_000);
  batcher.tick();
  void batcher.add(2);
  await until(() => flights.length === 3);
  expect(at(flights, 2).db).toBe(at(flights, 1).db);
  expect(await at(flights, 2).db.query('select 1 as n')).toMatchObject({ rows: [{ n: 1 }] });
  at(flights, 2).land();
});

test('a connection that is lost while nobody uses it is found by the next batch', async () => {
  const { batcher, flights } = open();
  void batcher.add(1);
  await until(() => flights.length === 1);
  at(flights, 0).land();
  await until(() => !batcher.flying);
  const { db } = at(flights, 0);
  const { connection } = db as unknown as { connection: { stream: { destroy(error: Error): void } } };
  connection.stream.destroy(new Error('reset'));
  await settled();
  void batcher.add(2);
  await until(() => flights.length === 2);
  at(flights, 1).fail(failed(null, 'Connection terminated'));
  await until(() => flights.length === 3);
  expect(at(flights, 2).db).not.toBe(db);
  at(flights, 2).land();
});

test('where nobody listens it is tried until somebody does', async () => {
  const urls = ['postgres://svc@127.0.0.1:1/none', url];
  const { batcher, flights, told } = open({
    url: () => (urls.length > 1 ? urls.shift() : urls[0]) as string,
  });
  void batcher.add(1);
  await until(() => flights.length === 1);
  expect(told).toEqual([expect.stringMatching(/^down: .*ECONNREFUSED/)]);
  expect(batcher).toMatchObject({ flushes: 1, sent: 1 });
  at(flights, 0).land();
});

test('a ledger that has moved is followed at once, with nothing said of its health', async () => {
  const asked: unknown[] = [];
  let place = url;
  const follow = async (tried: string, refused: boolean) => {
    asked.push([tried, refused]);
    place = `${url}#new`;
    return true;
  };
  const { batcher, flights, told } = open({ follow, url: () => place });
  void batcher.add(1);
  await until(() => flights.length === 1);
  at(flights, 0).fail(failed('55L02'));
  await until(() => flights.length === 2);
  expect(asked).toEqual([[url, true]]);
  expect(told).toEqual([]);
  at(flights, 1).fail(failed('42501'));
  await until(() => flights.length === 3);
  expect(asked.slice(1)).toEqual([[`${url}#new`, true]]);
  at(flights, 2).land();
});

test('a place that refuses and that the ledger has not left, and one that does not answer, is asked again later', async () => {
  const asked: boolean[] = [];
  const answers = [false, true];
  const follow = async (_: string, refused: boolean) => {
    asked.push(refused);
    return answers.shift() as boolean;
  };
  const { batcher, flights, told } = open({ follow });
  void batcher.add(1);
  await until(() => flights.length === 1);
  at(flights, 0).fail(failed('55L02', 'refused'));
  await until(() => flights.length === 2);
  at(flights, 1).fail(failed('ECONNRESET', 'reset'));
  await until(() => flights.length === 3);
  expect(asked).toEqual([true, false]);
  expect(told).toEqual(['down: refused', 'down: reset']);
  at(flights, 2).land();
});

test('under load a small batch waits for the one that it takes turns with, ten milliseconds at most', async () => {
  const [one, two] = [open({ max_batch: 100 }), open()];
  one.batcher.takeTurnsWith(two.batcher);
  two.batcher.takeTurnsWith(one.batcher);
  const send = async ({ batcher, flights }: typeof one, count: number) => {
    const before = flights.length;
    for (let item = 0; item < count; item++) void batcher.add(item);
    await settled();
    return flights.length > before;
  };
  // Three are no load, four are.
  await until(() => one.flights.length + two.flights.length === 0);
  void two.batcher.add(0);
  await until(() => two.flights.length === 1);
  void one.batcher.add(0);
  await until(() => one.flights.length === 1);
  at(one.flights, 0).land();
  expect(await send(one, 3)).toBe(true);
  at(one.flights, 1).land();
  await settled();
  expect(await send(one, 4)).toBe(true);
  at(one.flights, 2).land();
  await settled();
  expect(await send(one, 63)).toBe(false);
  // A full one does not wait.
  expect(await send(one, 1)).toBe(true);
  at(one.flights, 3).land();
  await settled();
  // The other one has landed: it is this one's turn.
  expect(await send(one, 5)).toBe(false);
  at(two.flights, 0).land();
  await until(() => one.flights.length === 5);
  expect(at(one.flights, 4).items).toHaveLength(5);
  void two.batcher.add(0);
  await until(() => two.flights.length === 2);
  at(one.flights, 4).land();
  await settled();
  // The other one does not land.
  expect(await send(one, 2)).toBe(false);
  vi.advanceTimersByTime(9);
  expect(await send(one, 1)).toBe(false);
  vi.advanceTimersByTime(1);
  await until(() => one.flights.length === 6);
  expect(at(one.flights, 5).items).toHaveLength(3);
  at(one.flights, 5).land();
  at(two.flights, 1).land();
  await until(() => one.batcher.size + two.batcher.size === 0);
  vi.advanceTimersByTime(10);
  await settled();
  expect(one.flights).toHaveLength(6);
});

test('a batcher that is closed at rest says farewell, and one in the air drops its connection and tries no more', async () => {
  const { batcher, flights, told } = open();
  void batcher.add(1);
  await until(() => flights.length === 1);
  at(flights, 0).land();
  await until(() => !batcher.flying);
  const ended = new Promise((done) => at(flights, 0).db.once('end', done));
  await batcher.close();
  await ended;
  await batcher.close();

  const other = open({ follow: () => Promise.reject(new Error('asked')) });
  void other.batcher.add(1);
  await until(() => other.flights.length === 1);
  const { db, fail } = at(other.flights, 0);
  const sleeping = db.query('select pg_sleep(60)').catch((error: Error) => fail(error));
  await other.batcher.close();
  await sleeping;
  await until(() => !other.batcher.flying);
  expect(other.told).toEqual([expect.stringMatching(/^down: /)]);
  expect(other.flights).toHaveLength(1);
  expect(told).toEqual(['did 1', 1, 'up']);
});

test('what is given up is answered with that, and a defect too', () => {
  const answers: string[] = [];
  const options = patient<number, string>('unavailable', 70);
  expect(options).toMatchObject({ late_after_ms: 70, drops_late: true });
  expect(options.onDefect(1, new Error('no'))).toBe('unavailable');
  const waiting = {
    at: 0,
    late: true,
    acknowledged: false,
    resolve: (answer: string) => answers.push(answer),
  };
  options.onLate([1, 2].map((item) => ({ ...waiting, item })));
  expect(answers).toEqual(['unavailable', 'unavailable']);
});
