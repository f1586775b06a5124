// What becomes of a batch that is not carried out: it goes again, is halved, or follows the ledger.
import { expect, test, vi } from 'vitest';
import { createTestLedger } from '../../../test/support/shards.ts';
import { at, failed, openBatcher, settled, stopClocks, untilNow } from '../testing/flights.ts';
import { AWAY } from '../testing/testing.ts';

const url = await createTestLedger();
stopClocks();

test('a batch that fails goes again on a new connection, without what was given up meanwhile', async () => {
  const { batcher, flights, reported } = openBatcher(url, { drops_late: true });
  void batcher.add(1);
  vi.advanceTimersByTime(1);
  void batcher.add(2);
  await untilNow(() => flights.length === 1);
  vi.advanceTimersByTime(1_000);
  batcher.tick();
  at(flights, 0).fail(failed('57P01', 'shut down'));
  await untilNow(() => flights.length === 2);
  expect(reported).toEqual([['late', 1], 'down: shut down']);
  expect(at(flights, 1).items).toEqual([2]);
  expect(at(flights, 1).db).not.toBe(at(flights, 0).db);
  await expect(at(flights, 0).db.query('select 1')).rejects.toThrow();
  at(flights, 1).land();
  await untilNow(() => batcher.size === 0);
  expect(reported.slice(2)).toEqual(['did 2', 2, 'up']);
});

test('a batch of which all was given up is not sent again, and the next one goes', async () => {
  const { batcher, flights, reported } = openBatcher(url, { drops_late: true });
  void batcher.add(1);
  await untilNow(() => flights.length === 1);
  vi.advanceTimersByTime(1_001);
  batcher.tick();
  at(flights, 0).fail(failed(null));
  await untilNow(() => !batcher.flying);
  expect(batcher.size).toBe(0);
  void batcher.add(2);
  await untilNow(() => flights.length === 2);
  expect(reported).toEqual([['late', 1], 'down: no']);
  at(flights, 1).land();
});

test('what may be repeated goes again as it was where nothing is given up', async () => {
  const { batcher, flights } = openBatcher(url);
  const answers = [2, 1].map((item) => batcher.add(item));
  await untilNow(() => flights.length === 1);
  vi.advanceTimersByTime(1_001);
  batcher.tick();
  for (const [n, code] of ['40001', '57014', '08006', 'x22003', '22003x', null].entries()) {
    at(flights, n).fail(failed(code));
    await untilNow(() => flights.length === n + 2);
    expect(at(flights, n + 1).items).toEqual([1, 2]);
  }
  at(flights, flights.length - 1).land();
  expect(await Promise.all(answers)).toEqual(['did 2', 'did 1']);
});

test('after a lease that lapsed the same batch goes on the same connection, once there is one again', async () => {
  let renewed = () => {};
  const onLapsed = () => new Promise<void>((done) => (renewed = done));
  const { batcher, flights, reported } = openBatcher(url, { onLapsed });
  const answer = batcher.add(1);
  await untilNow(() => flights.length === 1);
  at(flights, 0).fail(failed('55L01'));
  await settled();
  expect(flights).toHaveLength(1);
  renewed();
  await untilNow(() => flights.length === 2);
  expect(at(flights, 1).db).toBe(at(flights, 0).db);
  at(flights, 1).land();
  expect(await answer).toBe('did 1');
  expect(reported).toEqual(['did 1', 1, 'up']);
});

test('where the lease cannot be renewed the batch goes again a little later', async () => {
  const { batcher, flights } = openBatcher(url, { onLapsed: () => Promise.reject(new Error('away')) });
  void batcher.add(1);
  await untilNow(() => flights.length === 1);
  at(flights, 0).fail(failed('55L01'));
  await untilNow(() => flights.length === 2);
  at(flights, 1).land();
  await untilNow(() => batcher.size === 0);
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
  const { batcher, flights, reported } = openBatcher(url);
  const answers = [1, 2, 3].map((item) => batcher.add(item));
  for (let n = 0; batcher.size > 0; n++) {
    await untilNow(() => flights.length > n || batcher.size === 0);
    const flight = flights[n];
    if (flight?.items.includes(2)) flight.fail(error);
    else flight?.land();
    await settled();
  }
  expect(flights.map(({ items }) => items)).toEqual([[1, 2, 3], [1], [2, 3], [2], [3]]);
  expect(new Set(flights.map(({ db }) => db)).size).toBe(1);
  expect(await Promise.all(answers)).toEqual(['did 1', 'refused', 'did 3']);
  expect(reported).toEqual(['did 1', 1, 'up', '2: no', 'refused', 2, 'did 3', 3, 'up']);
});

test('an item that is at fault and cannot be refused is kept, and tried again every five seconds beside others', async () => {
  const { batcher, flights, reported } = openBatcher(url, { onDefect: () => null });
  void batcher.add(1);
  await untilNow(() => flights.length === 1);
  at(flights, 0).fail(failed('22003'));
  await untilNow(() => !batcher.flying);
  expect(batcher.size).toBe(1);
  void batcher.add(2);
  await untilNow(() => flights.length === 2);
  expect(at(flights, 1).items).toEqual([2]);
  vi.advanceTimersByTime(1_001);
  void batcher.add(3);
  batcher.tick();
  expect(reported).toEqual([['late', 1, 2]]);
  at(flights, 1).land();
  await untilNow(() => flights.length === 3);
  at(flights, 2).land();
  await untilNow(() => !batcher.flying);
  vi.advanceTimersByTime(3_998);
  await settled();
  expect(flights).toHaveLength(3);
  vi.advanceTimersByTime(1);
  await untilNow(() => flights.length === 4);
  expect(batcher.size).toBe(1);
  expect(at(flights, 3).items).toEqual([1]);
  at(flights, 3).land();
  await untilNow(() => batcher.size === 0);
});

test('a batch that is not answered for more than fifteen seconds is on a dead connection', async () => {
  const { batcher, flights } = openBatcher(url);
  void batcher.add(1);
  await untilNow(() => flights.length === 1);
  const { db } = at(flights, 0);
  const sleeping = db.query('select pg_sleep(60)').catch((error: Error) => at(flights, 0).fail(error));
  vi.advanceTimersByTime(15_000);
  batcher.tick();
  await settled();
  expect(flights).toHaveLength(1);
  vi.advanceTimersByTime(1);
  batcher.tick();
  await untilNow(() => flights.length === 2);
  await sleeping;
  expect(at(flights, 1).db).not.toBe(db);
  vi.advanceTimersByTime(14_000);
  batcher.tick();
  at(flights, 1).land();
  await untilNow(() => !batcher.flying);
  // Nothing is in the air: the connection may stand as long as it will.
  vi.advanceTimersByTime(60_000);
  batcher.tick();
  void batcher.add(2);
  await untilNow(() => flights.length === 3);
  expect(at(flights, 2).db).toBe(at(flights, 1).db);
  expect(await at(flights, 2).db.query('select 1 as n')).toMatchObject({ rows: [{ n: 1 }] });
  at(flights, 2).land();
});

test('a connection that is lost while nobody uses it is found by the next batch', async () => {
  const { batcher, flights } = openBatcher(url);
  void batcher.add(1);
  await untilNow(() => flights.length === 1);
  at(flights, 0).land();
  await untilNow(() => !batcher.flying);
  const { db } = at(flights, 0);
  const { connection } = db as unknown as { connection: { stream: { destroy(error: Error): void } } };
  connection.stream.destroy(new Error('reset'));
  await settled();
  void batcher.add(2);
  await untilNow(() => flights.length === 2);
  at(flights, 1).fail(failed(null, 'Connection terminated'));
  await untilNow(() => flights.length === 3);
  expect(at(flights, 2).db).not.toBe(db);
  at(flights, 2).land();
});

test('where nobody listens it is tried until somebody does', async () => {
  const urls = [AWAY, url];
  const { batcher, flights, reported } = openBatcher(url, {
    url: () => (urls.length > 1 ? urls.shift() : urls[0]) as string,
  });
  void batcher.add(1);
  await untilNow(() => flights.length === 1);
  expect(reported).toEqual([expect.stringMatching(/^down: .*ECONNREFUSED/)]);
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
  const { batcher, flights, reported } = openBatcher(url, { follow, url: () => place });
  void batcher.add(1);
  await untilNow(() => flights.length === 1);
  at(flights, 0).fail(failed('55L02'));
  await untilNow(() => flights.length === 2);
  expect(asked).toEqual([[url, true]]);
  expect(reported).toEqual([]);
  at(flights, 1).fail(failed('42501'));
  await untilNow(() => flights.length === 3);
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
  const { batcher, flights, reported } = openBatcher(url, { follow });
  void batcher.add(1);
  await untilNow(() => flights.length === 1);
  at(flights, 0).fail(failed('55L02', 'refused'));
  await untilNow(() => flights.length === 2);
  at(flights, 1).fail(failed('ECONNRESET', 'reset'));
  await untilNow(() => flights.length === 3);
  expect(asked).toEqual([true, false]);
  expect(reported).toEqual(['down: refused', 'down: reset']);
  at(flights, 2).land();
});
