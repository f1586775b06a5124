import { expect, test } from 'vitest';
import { MOVED_MAX, remember, withMoved } from './moved.ts';

type Row = Parameters<typeof withMoved>[0][number];
const row = (id: number, status: Row['status'], attempts = 0, event = 'topup.completed'): Row => ({
  ...{ id, event, status, attempts },
  createdAt: `2026-11-21T10:00:${String(id).padStart(2, '0')}.000Z`,
});
const all = { matches: () => true, whole: true };
const moved = (...rows: Row[]) => rows.reduce(remember<Row>, new Map<Row['id'], Row>());
const states = (rows: readonly Row[]) =>
  rows.map(({ id, status, attempts }) => `${id} ${status} ${attempts}`);

test('of two states of a delivery the later one is shown, whichever came last', () => {
  const read = [row(3, 'DELIVERED', 1), row(2, 'QUEUED', 0), row(1, 'QUEUED', 2)];
  const news = moved(row(3, 'QUEUED', 1), row(2, 'DELIVERING', 0), row(1, 'DELIVERING', 1));
  expect(states(withMoved(read, news, all))).toEqual(['3 DELIVERED 1', '2 DELIVERING 0', '1 QUEUED 2']);
});

test('what came since stands first; what is older than the page that was read waits for its own page', () => {
  const read = [row(6, 'DELIVERED', 1), row(5, 'DELIVERED', 1)];
  const news = moved(row(8, 'QUEUED'), row(7, 'FAILED', 10), row(2, 'DELIVERED', 9));
  expect(states(withMoved(read, news, { ...all, whole: false }))).toEqual([
    '8 QUEUED 0',
    '7 FAILED 10',
    '6 DELIVERED 1',
    '5 DELIVERED 1',
  ]);
  expect(withMoved(read, news, all).map(({ id }) => id)).toEqual([8, 7, 6, 5, 2]);
});

test('what moved out of the filter goes, what moved into it comes', () => {
  const read = [row(2, 'QUEUED'), row(1, 'QUEUED')];
  const news = moved(row(2, 'DELIVERED', 1), row(3, 'QUEUED', 0, 'key.created'), row(4, 'QUEUED'));
  const matches = ({ status, event }: Row) => status === 'QUEUED' && event === 'topup.completed';
  expect(withMoved(read, news, { matches, whole: true }).map(({ id }) => id)).toEqual([4, 1]);
});

test('movements are remembered up to a bound, the newest of them', () => {
  let news = moved();
  for (let id = 0; id < MOVED_MAX + 50; id++) news = remember(news, row(id, 'QUEUED'));
  news = remember(news, row(60, 'DELIVERED', 1));
  expect(news.size).toBe(MOVED_MAX);
  expect([...news.keys()].slice(0, 2)).toEqual([50, 51]);
  expect([...news.keys()].at(-1)).toBe(60);
});
