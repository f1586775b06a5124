// Whose storefront is at which host, remembered for seconds, so that no request waits for a question to the database.
import type { Seller, SellerHosts } from '../identity/index.ts';
import { type Db, type Id, monotonicMs } from '../kernel/index.ts';
import { hostKey, slugOf } from './host-name.ts';
import { findSeller, findStorefront } from './store.ts';

/** As long as a host serves on after its domain was given up. */
const LIFE_MS = 15_000;
/** Any client can send any `Host`. */
const HOSTS_MAX = 10_000;
const LENGTH_MAX = 253;

interface Known {
  readonly seller: Seller | null;
  readonly until_ms: number;
}

/** What a process remembers of hosts. */
export class HostMemory implements SellerHosts {
  readonly #known = new Map<string, Known>();
  readonly #asked = new Map<string, Promise<Seller | null>>();
  readonly #db: Db;
  readonly #base: string | null;

  constructor(db: Db, base: string | null) {
    this.#db = db;
    this.#base = base;
  }

  /** How many hosts are remembered. */
  get size(): number {
    return this.#known.size;
  }

  /** What is remembered of `host`, a key; undefined: it has to be asked for. */
  peek(host: string): Seller | null | undefined {
    const known = this.#known.get(host);
    return known !== undefined && known.until_ms > monotonicMs() ? known.seller : undefined;
  }

  /** Who is served at `host`; null: nobody. Many who ask at once are one question. */
  async at(host: string): Promise<Seller | null> {
    const key = hostKey(host);
    if (key === '' || key.length > LENGTH_MAX) return null;
    const known = this.peek(key);
    if (known !== undefined) return known;
    const asked = this.#asked.get(key) ?? this.#ask(key);
    this.#asked.set(key, asked);
    return asked.finally(() => this.#asked.delete(key));
  }

  async nameOf(org_id: Id<'org'>): Promise<string | null> {
    return (await findStorefront(this.#db, org_id))?.display_name ?? null;
  }

  async #ask(key: string): Promise<Seller | null> {
    const before = this.#known.get(key);
    // A database that is away takes nobody's address away.
    const seller = await findSeller(this.#db, { host: key, slug: slugOf(key, this.#base) }).catch(
      (error: unknown) => {
        if (before === undefined) throw error;
        return before.seller;
      },
    );
    this.#known.delete(key);
    if (this.#known.size >= HOSTS_MAX) this.#known.delete(this.#known.keys().next().value as string);
    this.#known.set(key, { seller, until_ms: monotonicMs() + LIFE_MS });
    return seller;
  }
}
