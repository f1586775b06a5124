// Checks the deadlines of all running calls ten times a second with one timer. A timer per call and deadline (first
// event, idle, total, keep-alive) would cost more than relaying a chunk.
import type { Clock } from './clock.ts';

const EVERY_MS = 100;
/** A tick so much later than the one before it says that this process stood still. */
const LATE_MS = 1_000;

export interface Watched {
  /** Its index among the watched items; set by the ticker. */
  slot: number;
  /** Called about ten times a second, with the monotonic time in ms. */
  tick(now: number): void;
  /** The process is stopping: end now. */
  shutDown(): void;
}

export interface Ticker {
  add(item: Watched): void;
  delete(item: Watched): void;
  readonly size: number;
  /** Makes every running call end now. */
  shutDown(): void;
  stop(): void;
}

/**
 * Starts the timer of a process; it does not keep the process alive. An array and not a Set: each table that a Set
 * has outgrown points to the next one, so once one of them is in V8's old space, ended calls survive every scavenge.
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
  let last = clock.monotonicMs();
  let was_late = false;
  const timer = setInterval(() => {
    const now = clock.monotonicMs();
    // After standing still timers come before what has arrived meanwhile: a provider whose answer waits to be read would be
    // taken for silent. One turn later it has been read.
    was_late = !was_late && now - last > LATE_MS;
    last = now;
    if (was_late) return;
    // Items may end at their tick, and their index is then reused.
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
