// Replays that wait to be counted on the row of their call. That row may still be queued, in this process or in the
// spool of another; a count that finds no row waits for it, for ten minutes at most.
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

  /** Adds one. Beyond 10,000 rows the count is lost, so that memory stays bounded. */
  add(request_id: RequestId): void {
    const waiting = this.#waiting.get(request_id);
    if (waiting !== undefined) waiting.times++;
    else if (this.#waiting.size < WAITING_MAX) this.#waiting.set(request_id, { times: 1, since_ms: nowMs() });
  }

  /**
   * Hands all counts to `write`, which returns the ids that it found a row for; the others wait, ten minutes at most.
   */
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
      // More may have been added while `write` ran.
      if (waiting.times === 0 || now_ms - waiting.since_ms > PATIENCE_MS) this.#waiting.delete(request_id);
    }
  }
}
