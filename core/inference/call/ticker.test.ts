import { afterEach, expect, test } from 'vitest';
import { createTicker, type Ticker, type Watched } from './ticker.ts';

let ticker: Ticker | null = null;
afterEach(() => ticker?.stop());

/** The first `count` times that an item is told, by a clock that gives `times` one after another. */
function reported(times: readonly number[], count: number): Promise<number[]> {
  const left = [...times];
  const seen: number[] = [];
  return new Promise((done) => {
    const made = createTicker({ nowMs: () => 0, monotonicMs: () => left.shift() ?? Number.NaN });
    const item: Watched = {
      slot: 0,
      tick: (now) => {
        if (seen.push(now) === count) done(seen);
      },
      shutDown: () => {},
    };
    ticker = made;
    made.add(item);
  });
}

test('a tick long after the one before it waits a turn, so that what has arrived meanwhile is read first', async () => {
  expect(await reported([0, 100, 200, 25_200, 25_300, 25_400], 4)).toEqual([100, 200, 25_300, 25_400]);
});

test('a process that is always late is told all the same', async () => {
  expect(await reported([0, 2_000, 4_000, 6_000, 8_000], 2)).toEqual([4_000, 8_000]);
});
