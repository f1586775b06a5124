// The queue under a clock that the tests move: one worker a key, nothing lost, failures later and later.
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Again, backoffMs, startQueue } from './queue.ts';

const options = { workers: 2, backoff_first_ms: 1_000, backoff_max_ms: 300_000, random: () => 1 };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Work that ends when the test says so. */
function gated() {
  const open: { key: string; end(again: Again): void }[] = [];
  const begun: string[] = [];
  const work = (key: string) =>
    new Promise<Again>((done) => {
      begun.push(key);
      open.push({ key, end: done });
    });
  const end = async (again: Again = 'never') => {
    open.shift()?.end(again);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { work, begun, end };
}

test('a key is never worked on twice at once, and one added meanwhile comes once more', async () => {
  const { work, begun, end } = gated();
  const queue = startQueue(work, options);
  for (let i = 0; i < 5; i++) queue.add('a');
  await vi.advanceTimersByTimeAsync(0);
  for (let i = 0; i < 5; i++) queue.add('a');
  expect(begun).toEqual(['a']);
  await end();
  expect(begun).toEqual(['a', 'a']);
  await end();
  expect([begun, queue.depth()]).toEqual([['a', 'a'], 0]);
});

test('no more keys are worked on at once than there are workers', async () => {
  const { work, begun, end } = gated();
  const queue = startQueue(work, options);
  for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
  await vi.advanceTimersByTimeAsync(0);
  expect([begun, queue.depth()]).toEqual([['a', 'b'], 2]);
  await end();
  expect([begun, queue.depth()]).toEqual([['a', 'b', 'c'], 1]);
});

test('failures, thrown or said, come back later and later; a success begins anew; an added key comes at once', async () => {
  let again: Again | 'throw' = 'throw';
  const at: number[] = [];
  const queue = startQueue(async () => {
    at.push(Date.now());
    if (again === 'throw') throw new Error('no');
    return again;
  }, options);
  const began = Date.now();
  queue.add('a');
  await vi.advanceTimersByTimeAsync(1_000);
  again = 'backoff';
  await vi.advanceTimersByTimeAsync(6_000);
  expect(at.map((one) => one - began)).toEqual([0, 1_000, 3_000, 7_000]);
  again = { after_ms: 500 };
  queue.add('a');
  await vi.advanceTimersByTimeAsync(600);
  expect(at.slice(4).map((one) => one - began)).toEqual([7_000, 7_500]);
  again = 'backoff';
  await vi.advanceTimersByTimeAsync(1_400);
  expect(at.slice(6).map((one) => one - began)).toEqual([8_000, 9_000]);
});

test('the wait never passes its longest nor falls under half of its first', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (n, unit) => {
        const wait = backoffMs(n, { ...options, random: () => unit });
        expect(wait).toBeGreaterThanOrEqual(500);
        expect(wait).toBeLessThanOrEqual(300_000);
      },
    ),
  );
});

test('a queue that stops waits for what runs and starts nothing more', async () => {
  const { work, begun, end } = gated();
  const queue = startQueue(work, options);
  for (const key of ['a', 'b', 'c']) queue.add(key);
  await vi.advanceTimersByTimeAsync(0);
  let stopped = false;
  const stop = queue.stop().then(() => {
    stopped = true;
  });
  queue.add('d');
  await end({ after_ms: 1 });
  expect(stopped).toBe(false);
  await end('backoff');
  await stop;
  await vi.advanceTimersByTimeAsync(600_000);
  expect(begun).toEqual(['a', 'b']);
});
