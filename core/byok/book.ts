// The provider keys of a process: read on first use of an organisation, still sealed, and dropped when they change, so
// that a deleted key is not used again. Heard of by NOTIFY, by a poll where a notification was lost, and at once by
// whoever changed them in this process (`forget`). A key is opened when a call first wants it, and kept in memory alone.
import { createPool, isDatabaseFault, type Listener, listen, type Pool } from '../db/index.ts';
import { type Id, type Log, monotonicMs, now, ServiceError } from '../kernel/index.ts';
import {
  pruneByokChanges,
  readByokChanges,
  readSealedKeys,
  type SealedKey,
  touchByokKeys,
} from './book-store.ts';
import { openProviderKey } from './seal.ts';

const POLL_MS = 400;
/** Without an answered poll for this long memory is not believed: each call asks PostgreSQL or is refused. */
const TRUST_MS = 900;
/** Announcements live for an hour; after half of it unheard, everything is dropped. */
const SILENCE_MS = 1_800_000;
const PRUNE_MS = 600_000;
const TOUCH_MS = 3_000;
const FIRST_SNAPSHOT = '1:1:';

/** A key as calls use it. */
export interface OwnKey {
  readonly id: Id<'byok'>;
  readonly provider_id: string;
  readonly hint: string;
  readonly fallback_to_pool: boolean;
  /** The secret; null when it cannot be opened with this key ring. Never logged, never kept by a request. */
  secret(): string | null;
}

/** The keys of one organisation by provider, oldest first; empty for most. Immutable. */
export type OrgKeys = ReadonlyMap<string, readonly OwnKey[]>;

const none: OrgKeys = new Map();

export interface ByokBook {
  /**
   * The keys of an organisation; a promise where they must be read first.
   * @throws ServiceError service_unavailable (from the promise) when they cannot be read: a call that an own key should
   * answer must not be billed to the pool because nobody looked.
   */
  keysOf(org_id: Id<'org'>): OrgKeys | Promise<OrgKeys>;
  /** A call was sent with the key. */
  used(id: Id<'byok'>): void;
  /** Drops an organisation's keys in this process at once. */
  forget(org_id: Id<'org'>): void;
  close(): Promise<void>;
}

declare module '../kernel/operation.ts' {
  interface Services {
    /** Absent in processes that route no calls. */
    readonly byok?: Pick<ByokBook, 'forget'>;
  }
}

export interface ByokBookOptions {
  /** Absent: two connections of its own, so that slow lists never keep calls waiting. */
  readonly db?: Pool;
  readonly url: string;
  readonly log: Log;
  readonly root_key: Uint8Array;
  /** Most organisations held in memory. */
  readonly max_orgs?: number;
}

class Book implements ByokBook {
  readonly #db: Pool;
  readonly #owns_db: boolean;
  readonly #log: Log;
  readonly #max: number;
  readonly #root_key: Uint8Array;
  readonly #orgs = new Map<Id<'org'>, OrgKeys>();
  readonly #asking = new Map<Id<'org'>, Promise<OrgKeys>>();
  #used = new Map<Id<'byok'>, Date>();
  #listener: Listener | null = null;
  #timer: NodeJS.Timeout | null = null;
  #polling: Promise<void> | null = null;
  /** Rises with every change heard of: a read that began before one is answered but not remembered. */
  #generation = 0;
  #snapshot = FIRST_SNAPSHOT;
  #heard_ms = Number.NEGATIVE_INFINITY;
  #touch_due_ms: number;
  #prune_due_ms: number;

  constructor(options: ByokBookOptions) {
    this.#owns_db = options.db === undefined;
    this.#db = options.db ?? createPool(options.url, { max: 2, application: 'svc-byok' });
    this.#log = options.log;
    this.#root_key = options.root_key;
    this.#max = options.max_orgs ?? 20_000;
    this.#touch_due_ms = monotonicMs() + TOUCH_MS;
    this.#prune_due_ms = monotonicMs() + PRUNE_MS;
  }

  async start(url: string): Promise<void> {
    await this.#poll();
    this.#listener = listen({
      url,
      channel: 'svc_byok',
      log: this.#log,
      on_message: (org_id) => this.forget(org_id as Id<'org'>),
      on_connect: () => void this.#poll(),
    });
    this.#schedule();
  }

  keysOf(org_id: Id<'org'>): OrgKeys | Promise<OrgKeys> {
    const known = this.#orgs.get(org_id);
    if (known !== undefined && monotonicMs() - this.#heard_ms < TRUST_MS) return known;
    const asking = this.#asking.get(org_id);
    if (asking !== undefined) return asking;
    const asked = this.#read(org_id).finally(() => {
      if (this.#asking.get(org_id) === asked) this.#asking.delete(org_id);
    });
    this.#asking.set(org_id, asked);
    return asked;
  }

  used(id: Id<'byok'>): void {
    this.#used.set(id, now());
  }

  forget(org_id: Id<'org'>): void {
    this.#generation++;
    this.#orgs.delete(org_id);
    // A read under way may have begun before the change: the next call reads anew.
    this.#asking.delete(org_id);
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#listener?.close();
    await this.#polling;
    await this.#writeUsed().catch((error: unknown) => {
      this.#log.warn({ error }, 'use of provider keys not noted');
    });
    if (this.#owns_db) await this.#db.end();
  }

  async #read(org_id: Id<'org'>): Promise<OrgKeys> {
    const generation = this.#generation;
    try {
      const found = this.#byProvider(await readSealedKeys(this.#db, org_id));
      if (generation === this.#generation) this.#keep(org_id, found);
      return found;
    } catch (error) {
      if (!isDatabaseFault(error)) this.#log.error({ org_id, error }, 'provider keys cannot be read');
      throw new ServiceError(
        'service_unavailable',
        'Provider keys cannot be read; no call passes without a look at yours. Try again shortly.',
        { details: { component: 'postgres' }, retry_after_ms: 1_000 },
      );
    }
  }

  #byProvider(rows: readonly SealedKey[]): OrgKeys {
    if (rows.length === 0) return none;
    const keys = new Map<string, OwnKey[]>();
    for (const row of rows) {
      const of = keys.get(row.provider_id) ?? [];
      of.push(this.#ownKey(row));
      keys.set(row.provider_id, of);
    }
    return keys;
  }

  #ownKey({ secret_sealed, ...told }: SealedKey): OwnKey {
    let secret: string | null | undefined;
    return {
      ...told,
      secret: () => {
        if (secret !== undefined) return secret;
        try {
          secret = openProviderKey(this.#root_key, told.id, secret_sealed);
        } catch (error) {
          secret = null;
          this.#log.error({ byok_id: told.id, error }, 'provider key cannot be opened');
        }
        return secret;
      },
    };
  }

  #keep(org_id: Id<'org'>, found: OrgKeys): void {
    this.#orgs.set(org_id, found);
    while (this.#orgs.size > this.#max) this.#orgs.delete(this.#orgs.keys().next().value as Id<'org'>);
  }

  #schedule(): void {
    this.#timer = setTimeout(async () => {
      await this.#poll();
      if (this.#timer !== null) this.#schedule();
    }, POLL_MS);
  }

  /** One poll at a time; a second caller waits for the running one. */
  #poll(): Promise<void> {
    this.#polling ??= this.#pollOnce().finally(() => {
      this.#polling = null;
    });
    return this.#polling;
  }

  async #pollOnce(): Promise<void> {
    const began = monotonicMs();
    try {
      const { snapshot, orgs } = await readByokChanges(this.#db, this.#snapshot);
      if (began - this.#heard_ms > SILENCE_MS) this.#clear();
      else for (const org_id of orgs) this.forget(org_id);
      this.#snapshot = snapshot;
      this.#heard_ms = began;
      if (began >= this.#touch_due_ms) {
        this.#touch_due_ms = began + TOUCH_MS;
        await this.#writeUsed();
      }
      if (began >= this.#prune_due_ms) {
        this.#prune_due_ms = began + PRUNE_MS;
        await pruneByokChanges(this.#db);
      }
    } catch (error) {
      // Not swallowed: without an answered poll memory loses its trust, and every call meets the fault itself.
      this.#log.warn({ error }, 'changes of provider keys cannot be read');
    }
  }

  async #writeUsed(): Promise<void> {
    if (this.#used.size === 0) return;
    const used = [...this.#used].map(([id, at]) => ({ id, at }));
    this.#used = new Map();
    await touchByokKeys(this.#db, used);
  }

  #clear(): void {
    this.#generation++;
    this.#orgs.clear();
    this.#asking.clear();
  }
}

/**
 * Opens the provider keys of this process. Never throws: a database that is away shows in `keysOf` as
 * service_unavailable until it is back.
 */
export async function openByokBook(options: ByokBookOptions): Promise<ByokBook> {
  const book = new Book(options);
  await book.start(options.url);
  return book;
}
