// The queue of keys to reconcile: each key is worked on by one worker at a time, however often it is added meanwhile;
// failures come back later and later, with jitter, so that a thousand objects do not return at once.

interface QueueOptions {
  /** How many keys are worked on at once. */
  readonly workers: number;
  readonly backoff_first_ms: number;
  readonly backoff_max_ms: number;
  /** Uniform in [0, 1). */
  random(): number;
}

/** When a key is looked at again after a reconcile: at a time of its own, or by back-off. */
export type Again = { readonly after_ms: number } | 'backoff' | 'never';

export interface Queue {
  /** Adds a key; one that waits for a later time comes at once. */
  add(key: string): void;
  /** Forgets a key that is gone. */
  forget(key: string): void;
  /** Keys ready to be worked on, without those that wait for their time. */
  depth(): number;
  /** Takes no more keys; resolves when the running reconciles have ended. */
  stop(): Promise<void>;
}

/** The wait before try number `failures`: doubling from the first to the longest, then 50 to 100 % of it. */
export function backoffMs(
  failures: number,
  options: Pick<QueueOptions, 'backoff_first_ms' | 'backoff_max_ms' | 'random'>,
): number {
  const doubled = options.backoff_first_ms * 2 ** Math.min(failures - 1, 30);
  return Math.min(doubled, options.backoff_max_ms) * (0.5 + options.random() / 2);
}

/** One timer per key; setting it again replaces it. */
function createTimers(due: (key: string) => void) {
  const timers = new Map<string, NodeJS.Timeout>();
  const clear = (key: string) => {
    clearTimeout(timers.get(key));
    timers.delete(key);
  };
  return {
    set(key: string, ms: number) {
      clear(key);
      timers.set(
        key,
        setTimeout(() => {
          timers.delete(key);
          due(key);
        }, ms),
      );
    },
    clear,
    clearAll() {
      for (const key of timers.keys()) clear(key);
    },
  };
}

/** Starts a queue that calls `work` for each key; what `work` throws counts as a failure of the key. */
export function startQueue(work: (key: string) => Promise<Again>, options: QueueOptions): Queue {
  const ready = new Set<string>();
  const running = new Map<string, Promise<void>>();
  const added_while_running = new Set<string>();
  const failures = new Map<string, number>();
  let stopped = false;

  const timers = createTimers((key) => add(key));
  const add = (key: string) => {
    if (stopped) return;
    timers.clear(key);
    if (running.has(key)) added_while_running.add(key);
    else ready.add(key);
    fill();
  };
  const conclude = (key: string, again: Again) => {
    running.delete(key);
    if (again === 'backoff') failures.set(key, (failures.get(key) ?? 0) + 1);
    else failures.delete(key);
    if (stopped) return;
    if (added_while_running.delete(key)) ready.add(key);
    else if (again === 'backoff') timers.set(key, backoffMs(failures.get(key) ?? 1, options));
    else if (again !== 'never') timers.set(key, again.after_ms);
    fill();
  };
  const fill = () => {
    for (const key of ready) {
      if (stopped || running.size >= options.workers) return;
      ready.delete(key);
      running.set(
        key,
        // A turn of its own: `work` must not run inside whoever added the key.
        Promise.resolve()
          .then(() => work(key))
          .catch((): Again => 'backoff')
          .then((again) => conclude(key, again)),
      );
    }
  };
  return {
    add,
    forget(key) {
      timers.clear(key);
      failures.delete(key);
    },
    depth: () => ready.size,
    async stop() {
      stopped = true;
      timers.clearAll();
      await Promise.all(running.values());
    },
  };
}
