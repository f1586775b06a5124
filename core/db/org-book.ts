// What a process remembers of organisations: read on first use, dropped when it changes. Heard of by NOTIFY, by a poll
// where a notification was lost, and at once by whoever changed it in this process (`forget`).
import { type Id, type Log, monotonicMs, ServiceError } from '../kernel/index.ts';
import { isDatabaseFault } from './faults.ts';
import { type Listener, listen } from './listen.ts';

const POLL_MS = 400;
/** Announcements live for an hour; after half of it unheard, everything is dropped. */
const SILENCE_MS = 1_800_000;
const PRUNE_MS = 600_000;
const FIRST_SNAPSHOT = '1:1:';

export interface OrgBookParts<T> {
  readonly log: Log;
  /** What is remembered, in the plural, as a log line says it: `provider keys`. */
  readonly what: string;
  /** Channel on which the id of a changed organisation is told. */
  readonly channel: string;
  /** Without an answered poll for this long memory is not believed: each call asks PostgreSQL or is refused. */
  readonly trust_ms: number;
  /** Most organisations held in memory. */
  readonly max_orgs: number;
  /** Sentence of the refusal while it cannot be read. */
  readonly unreadable: string;
  read(org_id: Id<'org'>): Promise<T>;
  /** Organisations that changed since `snapshot`, and the snapshot of this look. */
  changes(snapshot: string): Promise<{ snapshot: string; orgs: Id<'org'>[] }>;
  /** Forgets old announcements. */
  prune(): Promise<void>;
  /** After each answered poll, which began at `began_ms`; `told` where it was asked for by a notification. */
  polled?(poll: { began_ms: number; snapshot: string; told: boolean }): Promise<void>;
}

export class OrgBook<T> {
  readonly #parts: OrgBookParts<T>;
  readonly #orgs = new Map<Id<'org'>, T>();
  readonly #asking = new Map<Id<'org'>, Promise<T>>();
  #listener: Listener | null = null;
  #timer: NodeJS.Timeout | null = null;
  #polling: Promise<void> | null = null;
  /** A notification came while a poll was under way, which may have looked too early. */
  #again = false;
  #told = false;
  /** Rises with every change heard of: a read that began before one is answered but not remembered. */
  #generation = 0;
  #snapshot = FIRST_SNAPSHOT;
  #heard_ms = Number.NEGATIVE_INFINITY;
  #prune_due_ms = monotonicMs() + PRUNE_MS;

  constructor(parts: OrgBookParts<T>) {
    this.#parts = parts;
  }

  /** Polls once and listens at `url` from then on. Never throws: a database that is away shows in `of`. */
  async start(url: string): Promise<void> {
    await this.#poll();
    const { channel, log } = this.#parts;
    this.#listener = listen({
      ...{ url, channel, log },
      on_message: (org_id) => {
        this.forget(org_id as Id<'org'>);
        void this.#pollAfter();
      },
      on_connect: () => void this.#pollAfter(),
    });
    this.#schedule();
  }

  /**
   * What is remembered of an organisation; a promise where it must be read first.
   * @throws ServiceError service_unavailable (from the promise) when it cannot be read.
   */
  of(org_id: Id<'org'>): T | Promise<T> {
    const known = this.#orgs.get(org_id);
    if (known !== undefined && monotonicMs() - this.#heard_ms < this.#parts.trust_ms) return known;
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

  /** Stops listening and polling; a poll under way is waited for. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#listener?.close();
    await this.#polling;
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

  #schedule(): void {
    this.#timer = setTimeout(async () => {
      await this.#poll();
      if (this.#timer !== null) this.#schedule();
    }, POLL_MS);
  }

  /** A poll that begins after now: one under way may have looked too early. */
  async #pollAfter(): Promise<void> {
    this.#told = true;
    if (this.#polling !== null) {
      this.#again = true;
      return;
    }
    await this.#poll();
  }

  /** One poll at a time; a second caller waits for the running one. */
  #poll(): Promise<void> {
    this.#polling ??= this.#pollOnce().finally(() => {
      this.#polling = null;
      if (!this.#again) return;
      this.#again = false;
      this.#told = true;
      if (this.#timer !== null) void this.#poll();
    });
    return this.#polling;
  }

  async #pollOnce(): Promise<void> {
    const began_ms = monotonicMs();
    try {
      const { snapshot, orgs } = await this.#parts.changes(this.#snapshot);
      if (began_ms - this.#heard_ms > SILENCE_MS) this.#clear();
      else for (const org_id of orgs) this.forget(org_id);
      this.#snapshot = snapshot;
      this.#heard_ms = began_ms;
      const told = this.#told || orgs.length > 0;
      await this.#parts.polled?.({ began_ms, snapshot, told });
      this.#told = false;
      if (began_ms >= this.#prune_due_ms) {
        this.#prune_due_ms = began_ms + PRUNE_MS;
        await this.#parts.prune();
      }
    } catch (error) {
      // Not swallowed: without an answered poll memory loses its trust, and every call meets the fault itself.
      this.#parts.log.warn({ error }, `changes of ${this.#parts.what} cannot be read`);
    }
  }

  #clear(): void {
    this.#generation++;
    this.#orgs.clear();
    this.#asking.clear();
  }
}
