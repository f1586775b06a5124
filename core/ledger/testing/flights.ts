// Batchers whose batches are answered by the test: it stands where the statement is. Connections are real; clocks are the test's.
import type pg from 'pg';
import { afterEach, beforeEach, vi } from 'vitest';
import { Batcher, type BatcherOptions } from '../batch/batcher.ts';

/** A batch that the ledger has not answered. */
interface Flight {
  readonly db: pg.Client;
  readonly items: readonly number[];
  land(): void;
  fail(error: Error): void;
}

type Options = BatcherOptions<number, string>;
const opened: Batcher<number, string>[] = [];

/** A batcher on the ledger at `url` whose flights land when the test says so, closed at the end of the test. */
export function openBatcher(url: string, more: Partial<Options> = {}) {
  const flights: Flight[] = [];
  /** What the batcher told, in order. */
  const reported: unknown[] = [];
  const batcher = new Batcher<number, string>({
    ...{ url: () => url, config: {}, max_batch: 4, late_after_ms: 1_000, drops_late: false },
    follow: async () => false,
    compare: (a, b) => a - b,
    run: (db, items) =>
      new Promise((resolve, fail) => {
        const land = () => resolve(items.map((item) => `did ${item}`));
        flights.push({ db, items: [...items], land, fail });
      }),
    onAnswer: ({ item, late }, result) => reported.push(late ? `${result}, late` : result, item),
    onLate: (waiting) => reported.push(['late', ...waiting.map(({ item }) => item)]),
    onDefect: (item, error) => {
      reported.push(`${item}: ${error.message}`);
      return 'refused';
    },
    onHealth: (healthy, error) => reported.push(healthy ? 'up' : `down: ${error?.message}`),
    onLapsed: async () => {
      reported.push('lapsed');
    },
    ...more,
  });
  opened.push(batcher);
  return { batcher, flights, reported };
}

/** Waits without clocks, which are the test's. */
export async function untilNow(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((done) => setImmediate(done));
}

/** Everything that does not wait for anybody has happened. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((done) => setImmediate(done));
}

/** What a statement fails with. */
export const failed = (code: string | null, message = 'no') => Object.assign(new Error(message), { code });
export const at = <T>(list: readonly T[], index: number) => list[index] as T;

/** Time stands still in each test of the file that calls this, and what it opened is closed. */
export function stopClocks(): void {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  });
  afterEach(async () => {
    vi.useRealTimers();
    await Promise.all(opened.splice(0).map((batcher) => batcher.close()));
  });
}
