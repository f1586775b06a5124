// What a process remembers of figures for everybody: they are made every ten minutes, and many ask.
import { nowMs } from '../kernel/index.ts';

/** No more than a client may keep an answer; who takes an app back is seen to have done so within a few seconds. */
const KEPT_MS = 15_000;
/** How long sums are kept that are the same until figures are published again. */
export const SUMS_KEPT_MS = 10 * 60_000;
/** Windows of rankings, public apps, models. */
const KEYS_MAX = 500;

interface Kept {
  readonly at_ms: number;
  readonly kept_ms: number;
  readonly value: Promise<unknown>;
}

export class FiguresMemory {
  readonly #kept = new Map<string, Kept>();

  /** What `make` gave for `key` at most `kept_ms` ago, a few seconds unless given; of callers at once one makes it for all. A failure is not kept. */
  get<T>(key: string, make: () => Promise<T>, kept_ms = KEPT_MS): Promise<T> {
    const known = this.#kept.get(key);
    const age_ms = known === undefined ? Number.POSITIVE_INFINITY : nowMs() - known.at_ms;
    if (known !== undefined && age_ms >= 0 && age_ms < known.kept_ms) return known.value as Promise<T>;
    if (this.#kept.size >= KEYS_MAX) this.#kept.clear();
    const value = make();
    this.#kept.set(key, { at_ms: nowMs(), kept_ms, value });
    value.catch(() => this.#kept.delete(key));
    return value;
  }

  /** Forgets all of it: something was changed here that must be seen at once. */
  forget(): void {
    this.#kept.clear();
  }
}

declare module '../kernel/operation/operation.ts' {
  interface Services {
    /** Absent: nothing is remembered. */
    readonly figures_memory?: FiguresMemory;
  }
}
