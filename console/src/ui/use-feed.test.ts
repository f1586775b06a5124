import { expect, test } from 'vitest';
import type { FeedRowFragment } from '../api/gen/graphql.ts';
import { enqueue, mergeRows } from './use-feed.ts';

const rowsOf = (from: number, to: number, model = 'a') =>
  Array.from(
    { length: to - from },
    (_, i) => ({ id: String(from + i).padStart(6, '0'), model }) as unknown as FeedRowFragment,
  );

test('older calls that were asked for are all shown, however many pages', () => {
  const shown = mergeRows(rowsOf(1_000, 1_400), rowsOf(0, 1_000));
  expect(shown).toHaveLength(1_400);
  expect([shown[0]?.id, shown.at(-1)?.id]).toEqual(['001399', '000000']);
});

test('a call that was read and arrives again stands there once, as it arrived', () => {
  const shown = mergeRows(rowsOf(5, 6, 'later'), rowsOf(0, 10));
  expect(shown).toHaveLength(10);
  expect(shown.filter(({ id }) => id === '000005').map(({ model }) => model)).toEqual(['later']);
});

test('of what arrives while the feed is held for long, the newest is kept', () => {
  const queue: FeedRowFragment[] = [];
  for (const row of rowsOf(0, 600)) enqueue(queue, row);
  expect([queue.length, queue[0]?.id, queue.at(-1)?.id]).toEqual([500, '000100', '000599']);
});
