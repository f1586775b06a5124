// Deadlines of all running calls, looked at ten times a second by one timer. A timer per call and wait (first
// event, idle, total, keep-alive) would cost more than the relay of a chunk.
import { monotonicMs } from '../../kernel/index.ts';

const EVERY_MS = 100;

export interface Watched {
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

/** Starts the timer of a process; it does not keep the process alive. */
export function createTicker(): Ticker {
  const items = new Set<Watched>();
  const timer = setInterval(() => {
    if (items.size === 0) return;
    const now = monotonicMs();
    for (const item of items) item.tick(now);
  }, EVERY_MS);
  timer.unref();
  return {
    add: (item) => void items.add(item),
    delete: (item) => void items.delete(item),
    get size() {
      return items.size;
    },
    shutDown() {
      for (const item of items) item.shutDown();
    },
    stop: () => clearInterval(timer),
  };
}
