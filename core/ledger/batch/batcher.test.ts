// When batches go, and who waits for whom.
import { expect, test, vi } from 'vitest';
import { createTestLedger } from '../../../test/support/shards.ts';
import { at, openBatcher, settled, stopClocks, untilNow } from '../testing/flights.ts';
import { patient } from './batcher.ts';

const url = await createTestLedger();
stopClocks();

test('what comes in one turn goes at once, and what comes while a batch is in the air goes with the next', async () => {
  const { batcher, flights } = openBatcher(url);
  const first = [2, 1].map((item) => batcher.add(item));
  await untilNow(() => flights.length === 1);
  expect(at(flights, 0).items).toEqual([1, 2]);
  const rest = [4, 3].map((item) => batcher.add(item));
  await settled();
  expect(flights).toHaveLength(1);
  expect(batcher).toMatchObject({ size: 4, flying: true, flushes: 1, sent: 2 });
  at(flights, 0).land();
  expect(await Promise.all(first)).toEqual(['did 2', 'did 1']);
  await untilNow(() => flights.length === 2);
  expect(at(flights, 1).items).toEqual([3, 4]);
  at(flights, 1).land();
  expect(await Promise.all(rest)).toEqual(['did 4', 'did 3']);
  await untilNow(() => !batcher.flying);
  expect(batcher).toMatchObject({ size: 0, flushes: 2, sent: 4 });
  expect(at(flights, 1).db).toBe(at(flights, 0).db);
});

test('a batch has so many at most, those that came first', async () => {
  const { batcher, flights } = openBatcher(url);
  for (const item of [9, 8, 7, 6, 5, 4]) void batcher.add(item);
  await untilNow(() => flights.length === 1);
  expect(at(flights, 0).items).toEqual([6, 7, 8, 9]);
  at(flights, 0).land();
  await untilNow(() => flights.length === 2);
  expect(at(flights, 1).items).toEqual([4, 5]);
  for (const item of [3, 2, 1, 0]) void batcher.add(item);
  at(flights, 1).land();
  await untilNow(() => flights.length === 3);
  expect(at(flights, 2).items).toEqual([0, 1, 2, 3]);
  at(flights, 2).land();
  await untilNow(() => batcher.size === 0);
});

test('what has waited too long is told once, the rest not', async () => {
  const { batcher, flights, reported } = openBatcher(url);
  void batcher.add(1);
  await untilNow(() => flights.length === 1);
  void batcher.add(2);
  batcher.put(3, () => {}, true);
  vi.advanceTimersByTime(1_000);
  void batcher.add(4);
  batcher.tick();
  expect(reported).toEqual([]);
  vi.advanceTimersByTime(1);
  batcher.tick();
  batcher.tick();
  expect(reported).toEqual([['late', 1, 2]]);
  expect(batcher.size).toBe(4);
  at(flights, 0).land();
  await untilNow(() => flights.length === 2);
  expect(reported.slice(1)).toEqual(['did 1, late', 1, 'up']);
  expect(at(flights, 1).items).toEqual([2, 3, 4]);
  at(flights, 1).land();
  await untilNow(() => batcher.size === 0);
  expect(reported.slice(4)).toEqual(['did 2, late', 2, 'did 3, late', 3, 'did 4', 4, 'up']);
});

test('where what is late is given up, it is not sent any more, and what is in the air is answered late', async () => {
  const { batcher, flights, reported } = openBatcher(url, { drops_late: true });
  void batcher.add(1);
  await untilNow(() => flights.length === 1);
  void batcher.add(2);
  vi.advanceTimersByTime(1_001);
  void batcher.add(3);
  batcher.tick();
  expect(reported).toEqual([['late', 1, 2]]);
  expect(batcher.size).toBe(2);
  at(flights, 0).land();
  await untilNow(() => flights.length === 2);
  expect(at(flights, 1).items).toEqual([3]);
  expect(reported.slice(1)).toEqual(['did 1, late', 1, 'up']);
  at(flights, 1).land();
});

test('under load a small batch waits for the one that it takes turns with, ten milliseconds at most', async () => {
  const [one, two] = [openBatcher(url, { max_batch: 100 }), openBatcher(url)];
  one.batcher.takeTurnsWith(two.batcher);
  two.batcher.takeTurnsWith(one.batcher);
  const send = async ({ batcher, flights }: typeof one, count: number) => {
    const before = flights.length;
    for (let item = 0; item < count; item++) void batcher.add(item);
    await settled();
    return flights.length > before;
  };
  // Three are no load, four are.
  await untilNow(() => one.flights.length + two.flights.length === 0);
  void two.batcher.add(0);
  await untilNow(() => two.flights.length === 1);
  void one.batcher.add(0);
  await untilNow(() => one.flights.length === 1);
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
  await untilNow(() => one.flights.length === 5);
  expect(at(one.flights, 4).items).toHaveLength(5);
  void two.batcher.add(0);
  await untilNow(() => two.flights.length === 2);
  at(one.flights, 4).land();
  await settled();
  // The other one does not land.
  expect(await send(one, 2)).toBe(false);
  vi.advanceTimersByTime(9);
  expect(await send(one, 1)).toBe(false);
  vi.advanceTimersByTime(1);
  await untilNow(() => one.flights.length === 6);
  expect(at(one.flights, 5).items).toHaveLength(3);
  at(one.flights, 5).land();
  at(two.flights, 1).land();
  await untilNow(() => one.batcher.size + two.batcher.size === 0);
  vi.advanceTimersByTime(10);
  await settled();
  expect(one.flights).toHaveLength(6);
});

test('a batcher that is closed at rest says farewell, and one in the air drops its connection and tries no more', async () => {
  const { batcher, flights, reported } = openBatcher(url);
  void batcher.add(1);
  await untilNow(() => flights.length === 1);
  at(flights, 0).land();
  await untilNow(() => !batcher.flying);
  const ended = new Promise((done) => at(flights, 0).db.once('end', done));
  await batcher.close();
  await ended;
  await batcher.close();

  const other = openBatcher(url, { follow: () => Promise.reject(new Error('asked')) });
  void other.batcher.add(1);
  await untilNow(() => other.flights.length === 1);
  const { db, fail } = at(other.flights, 0);
  const sleeping = db.query('select pg_sleep(60)').catch((error: Error) => fail(error));
  await other.batcher.close();
  await sleeping;
  await untilNow(() => !other.batcher.flying);
  expect(other.reported).toEqual([expect.stringMatching(/^down: /)]);
  expect(other.flights).toHaveLength(1);
  expect(reported).toEqual(['did 1', 1, 'up']);
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
