// Replays waiting to be counted on their rows. A row may still be queued, in this process or in the spool of another,
// when its answer is given again: a count that finds no row waits for it, but not for ever.
import { nowMs, type RequestId } from '../kernel/index.ts';

const WAITING_MAX = 10_000;
const PATIENCE_MS = 600_000;

interface Waiting {
  times: number;
  readonly since_ms: number;
}

export class Replays {
  readonly #waiting = new Map<RequestId, Waiting>();

  get size(): number {
    return this.#waiting.size;
  }

  /** Remembers one more; beyond 10,000 rows it is forgotten, for a counter is worth no memory without bound. */
  add(request_id: RequestId): void {
    const waiting = this.#waiting.get(request_id);
    if (waiting !== undefined) waiting.times++;
    else if (this.#waiting.size < WAITING_MAX) this.#waiting.set(request_id, { times: 1, since_ms: nowMs() });
  }

  /** Hands all counts to `write`, which returns the ids that it found a row for; the others wait, ten minutes at most. */
  async flush(
    write: (counts: { request_id: RequestId; times: number }[]) => Promise<RequestId[]>,
  ): Promise<void> {
    if (this.#waiting.size === 0) return;
    const counts = [...this.#waiting].map(([request_id, { times }]) => ({ request_id, times }));
    const found = new Set(await write(counts));
    const now_ms = nowMs();
    for (const { request_id, times } of counts) {
      const waiting = this.#waiting.get(request_id) as Waiting;
      if (found.has(request_id)) waiting.times -= times;
      // Some may have come meanwhile.
      if (waiting.times === 0 || now_ms - waiting.since_ms > PATIENCE_MS) this.#waiting.delete(request_id);
    }
  }
}
