// What a process remembers of organizations: read on first use, dropped when it changes (`Changes`), and at once by
// whoever changed it in this process (`forget`).
import { LRUCache } from 'lru-cache';
import { databaseAway, isDatabaseFault } from '../db/index.ts';
import { type Id, type Log, ServiceError } from '../kernel/index.ts';
import type { Changes, Follower } from './changes.ts';

interface OrgCacheParts<T> {
  readonly changes: Changes;
  readonly log: Log;
  /** What is remembered, in the plural, as a log line says it: `provider keys`. */
  readonly what: string;
  readonly topic: Follower['topic'];
  /** Without an answered poll for this long memory is not believed: each call asks PostgreSQL or is refused. */
  readonly trust_ms: number;
  /** Most organizations held in memory. */
  readonly max_orgs: number;
  /** Sentence of the refusal where it is there and cannot be read. */
  readonly unreadable: string;
  read(org_id: Id<'org'>): Promise<T>;
  /** As `Follower.polled`. */
  polled?: NonNullable<Follower['polled']>;
}

export class OrgCache<T extends object> {
  readonly #parts: OrgCacheParts<T>;
  /** What is dropped while it is being read is answered to who waits for it, and not remembered. */
  readonly #orgs: LRUCache<Id<'org'>, T>;
  readonly #unfollow: () => void;

  constructor(parts: OrgCacheParts<T>) {
    this.#parts = parts;
    const { changes, topic, polled, max_orgs } = parts;
    this.#orgs = new LRUCache({
      max: max_orgs,
      ignoreFetchAbort: true,
      fetchMethod: (org_id) => this.#read(org_id),
    });
    this.#unfollow = changes.follow({
      topic,
      changed: ({ org_id }) => this.forget(org_id),
      missed: () => this.#orgs.clear(),
      ...(polled === undefined ? {} : { polled }),
    });
  }

  /**
   * What is remembered of an organization; a promise where it must be read first.
   * @throws ServiceError service_unavailable (from the promise) when it cannot be read.
   */
  of(org_id: Id<'org'>): T | Promise<T> {
    const trusted = this.#parts.changes.heardWithin(this.#parts.trust_ms);
    return (trusted && this.#orgs.get(org_id)) || this.#orgs.forceFetch(org_id, { forceRefresh: !trusted });
  }

  /** Drops an organization in this process at once: a read under way may have begun before the change. */
  forget(org_id: Id<'org'>): void {
    this.#orgs.delete(org_id);
  }

  /** Hears of no change any more. */
  close(): void {
    this.#unfollow();
  }

  async #read(org_id: Id<'org'>): Promise<T> {
    const { log, read, unreadable, what } = this.#parts;
    try {
      return await read(org_id);
    } catch (error) {
      if (isDatabaseFault(error)) throw databaseAway();
      log.error({ org_id, error }, `${what} cannot be read`);
      throw new ServiceError('service_unavailable', unreadable, {
        details: { component: 'postgres' },
        retry_after_ms: 1_000,
      });
    }
  }
}
