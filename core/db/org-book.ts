// What a process remembers of organisations: read on first use, dropped when it changes (`Changes`), and at once by
// whoever changed it in this process (`forget`).
import { type Id, type Log, ServiceError } from '../kernel/index.ts';
import type { Changes, Follower } from './changes.ts';
import { isDatabaseFault } from './faults.ts';

export interface OrgBookParts<T> {
  readonly changes: Changes;
  readonly log: Log;
  /** What is remembered, in the plural, as a log line says it: `provider keys`. */
  readonly what: string;
  readonly topic: Follower['topic'];
  /** Without an answered poll for this long memory is not believed: each call asks PostgreSQL or is refused. */
  readonly trust_ms: number;
  /** Most organisations held in memory. */
  readonly max_orgs: number;
  /** Sentence of the refusal while it cannot be read. */
  readonly unreadable: string;
  read(org_id: Id<'org'>): Promise<T>;
  /** As `Follower.polled`. */
  polled?: NonNullable<Follower['polled']>;
}

export class OrgBook<T> {
  readonly #parts: OrgBookParts<T>;
  readonly #orgs = new Map<Id<'org'>, T>();
  readonly #asking = new Map<Id<'org'>, Promise<T>>();
  readonly #unfollow: () => void;
  /** Rises with every change heard of: a read that began before one is answered but not remembered. */
  #generation = 0;

  constructor(parts: OrgBookParts<T>) {
    this.#parts = parts;
    const { changes, topic, polled } = parts;
    this.#unfollow = changes.follow({
      topic,
      changed: ({ org_id }) => this.forget(org_id),
      missed: () => this.#clear(),
      ...(polled === undefined ? {} : { polled }),
    });
  }

  /**
   * What is remembered of an organisation; a promise where it must be read first.
   * @throws ServiceError service_unavailable (from the promise) when it cannot be read.
   */
  of(org_id: Id<'org'>): T | Promise<T> {
    const known = this.#orgs.get(org_id);
    if (known !== undefined && this.#parts.changes.heardWithin(this.#parts.trust_ms)) return known;
    const asking = this.#asking.get(org_id);
    if (asking !== undefined) return asking;
    const asked = this.#read(org_id).finally(() => {
      if (this.#asking.get(org_id) === asked) this.#asking.delete(org_id);
    });
    this.#asking.set(org_id, asked);
    return asked;
  }

  /** Drops an organisation in this process at once. */
  forget(org_id: Id<'org'>): void {
    this.#generation++;
    this.#orgs.delete(org_id);
    // A read under way may have begun before the change: the next call reads anew.
    this.#asking.delete(org_id);
  }

  /** Hears of no change any more. */
  close(): void {
    this.#unfollow();
  }

  async #read(org_id: Id<'org'>): Promise<T> {
    const generation = this.#generation;
    const { log, max_orgs, unreadable, what } = this.#parts;
    try {
      const found = await this.#parts.read(org_id);
      if (generation !== this.#generation) return found;
      this.#orgs.set(org_id, found);
      while (this.#orgs.size > max_orgs) this.#orgs.delete(this.#orgs.keys().next().value as Id<'org'>);
      return found;
    } catch (error) {
      if (!isDatabaseFault(error)) log.error({ org_id, error }, `${what} cannot be read`);
      throw new ServiceError('service_unavailable', unreadable, {
        details: { component: 'postgres' },
        retry_after_ms: 1_000,
      });
    }
  }

  #clear(): void {
    this.#generation++;
    this.#orgs.clear();
    this.#asking.clear();
  }
}
