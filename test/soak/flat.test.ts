import { expect, test } from 'vitest';
import { flat } from './flat.ts';
import type { Figures } from './look.ts';

/** Hours in which a program has so much memory of its own, besides one that stays as it is. */
const hours = (own: readonly number[], more: Partial<Figures> = {}, pid = 7): Figures[] =>
  own.map((own_mb) => ({
    memory: { worker: { rss_mb: own_mb + 60, own_mb, pid }, loader: { rss_mb: 160, own_mb: 100, pid: 8 } },
    leader: null,
    ...more,
    ...{ connections: 30, partitions: 18, holds: 0, workflows: 0, outbox_s: 0 },
  }));

test('memory that grows from hour to hour is named, and what collections give back is not', () => {
  expect(flat(hours([200, 300, 340, 380, 420, 460, 500, 540, 580]))).toEqual([
    'memory of worker (7) grew from 360 to 520 MB',
  ]);
  expect(flat(hours([200, 430, 330, 410, 300, 440, 320, 400, 310]))).toEqual([]);
});

test('the first hour, little growth and few hours say nothing', () => {
  expect(flat(hours([900, 300, 301, 302, 303, 304, 305]))).toEqual([]);
  expect(flat(hours([100, 101, 110, 115, 120, 130, 135]))).toEqual([]);
  expect(flat(hours([100, 200, 300, 400, 500, 600]))).toEqual([]);
});

test('hours as another process, or with the jobs, are compared with their like', () => {
  const low = [200, 201, 202, 203, 204, 205, 206, 207];
  const high = low.map((own) => own + 200);
  expect(flat([...hours(low), ...hours(high, { leader: 'worker' })])).toEqual([]);
  expect(flat([...hours(low), ...hours(high, {}, 9)])).toEqual([]);
  const grows = high.map((own, hour) => own + 40 * hour);
  expect(flat([...hours(low), ...hours(grows, { leader: 'worker' })])).toEqual([
    'memory of worker (7), which does the jobs, grew from 482 to 626 MB',
  ]);
});
