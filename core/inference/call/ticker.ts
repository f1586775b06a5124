// Deadlines of all running calls, looked at ten times a second by one timer. A timer per call and wait (first
// event, idle, total, keep-alive) would cost more than the relay of a chunk.
import type { Clock } from './clock.ts';

const EVERY_MS = 100;

export interface Watched {
  /** Its place among the watched; the ticker's own. */
  slot: number;
  /** Called about ten times a second with the monotonic time. */
  tick(now: number): void;
  /** The process is going down: end now. */
  shutDown(): void;
}

export interface Ticker {
  add(item: Watched): void;
  delete(item: Watched): void;
  readonly size: number;
  /** Tells every running call to end now. */
  shutDown(): void;
  stop(): void;
}

/**
 * Starts the timer of a process; it does not keep the process alive. An array and not a Set: each table that a Set has
 * outgrown points to the next, so that once one is in V8's old space, calls that have ended survive every scavenge
 * from table to table.
 */
export function createTicker(clock: Clock): Ticker {
  const items: Watched[] = [];
  const remove = (item: Watched) => {
    if (items[item.slot] !== item) return;
    const last = items.pop();
    if (last === undefined || last === item) return;
    items[item.slot] = last;
    last.slot = item.slot;
  };
  const timer = setInterval(() => {
    if (items.length === 0) return;
    const now = clock.monotonicMs();
    // Some end at their tick and leave their place to another.
    for (const item of items.slice()) item.tick(now);
  }, EVERY_MS);
  timer.unref();
  return {
    add(item) {
      item.slot = items.length;
      items.push(item);
    },
    delete: remove,
    get size() {
      return items.length;
    },
    shutDown() {
      for (const item of items.slice()) item.shutDown();
    },
    stop: () => clearInterval(timer),
  };
}
