// How many streams a session may hold open and for how long. A stream ends with its connection, its session, its
// hour, or the process.
import { ServiceError } from '@svc/core/kernel/index.ts';

const OF_SESSION_MAX = 50;
const LIFE_MS = 60 * 60_000;
/** The streams of a revoked session end within this time. */
const CHECK_MS = 5_000;

export interface StreamOptions {
  readonly session_id: string;
  readonly ended: AbortController;
  /** Whether the session is still valid; a rejection ends the stream. */
  check(): Promise<unknown>;
}

export class Streams {
  readonly #of_session = new Map<string, number>();
  readonly #open = new Set<AbortController>();

  get size(): number {
    return this.#open.size;
  }

  /**
   * Watches a stream until it ends. @throws ServiceError rate_limit_exceeded beyond 50 streams of a session, and
   * client_closed when the connection is already gone: nothing would ever end such a stream.
   */
  open({ session_id, ended, check }: StreamOptions): void {
    if (ended.signal.aborted) throw new ServiceError('client_closed', 'The connection has closed.');
    const open = this.#of_session.get(session_id) ?? 0;
    if (open >= OF_SESSION_MAX) {
      throw new ServiceError(
        'rate_limit_exceeded',
        `A session may hold at most ${OF_SESSION_MAX} streams open.`,
        {
          details: { limit: 'streams', scope: 'session', limit_value: OF_SESSION_MAX },
        },
      );
    }
    this.#of_session.set(session_id, open + 1);
    this.#open.add(ended);
    const life = setTimeout(() => ended.abort(), LIFE_MS);
    const watch = setInterval(() => void check().catch(() => ended.abort()), CHECK_MS);
    ended.signal.addEventListener('abort', () => {
      clearTimeout(life);
      clearInterval(watch);
      this.#open.delete(ended);
      const left = (this.#of_session.get(session_id) ?? 1) - 1;
      if (left === 0) this.#of_session.delete(session_id);
      else this.#of_session.set(session_id, left);
    });
  }

  /** Ends all streams. */
  close(): void {
    for (const ended of [...this.#open]) ended.abort();
  }
}
