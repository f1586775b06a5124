// Which certificate a process shows at which host, remembered for seconds: a certificate that was renewed is shown by every process
// soon, one that was taken away by none, and no handshake waits for the database twice.
import { createSecureContext, type SecureContext } from 'node:tls';
import { type Db, type Log, monotonicMs, openColumn, type RootKeyRing } from '../../kernel/index.ts';
import { hostKey } from '../host-name.ts';
import { findServed } from './store.ts';

/** As long as a certificate that was taken away may still be shown, and a renewed one not yet. */
const LIFE_MS = 5_000;
/** Any client can name any host. */
const HOSTS_MAX = 10_000;
/** Questions to the database at once, each a look at one key: a flood of names that nobody has makes no longer queue than this. */
const ASKED_MAX = 200;
const NAME = /^(?=.{1,237}$)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+$/;

interface Known {
  /** Null: no certificate of its own. */
  readonly context: SecureContext | null;
  readonly chain: string | null;
  readonly until_ms: number;
}

export class CertificateMemory {
  readonly #parts: { readonly db: Db; readonly root_key: RootKeyRing; readonly log: Log };
  readonly #known = new Map<string, Known>();
  readonly #asked = new Map<string, Promise<Known>>();

  constructor(parts: { readonly db: Db; readonly root_key: RootKeyRing; readonly log: Log }) {
    this.#parts = parts;
  }

  /** How many hosts are remembered. */
  get size(): number {
    return this.#known.size;
  }

  /**
   * What to show at `name`, a name of a handshake; null: nothing. What is known and old is shown while it is asked for again,
   * unless it is gone for a long time.
   */
  async at(name: string): Promise<SecureContext | null> {
    const host = hostKey(name);
    if (!NAME.test(host)) return null;
    const known = this.#known.get(host);
    if (known !== undefined && known.until_ms > monotonicMs()) return known.context;
    const asked = this.#asked.get(host) ?? this.#ask(host, known);
    return (await asked)?.context ?? null;
  }

  #ask(host: string, known: Known | undefined): Promise<Known> | null {
    // Names without a certificate are many, and those with one few: only the former wait for their turn in vain.
    if (this.#asked.size >= ASKED_MAX && known?.context == null) return null;
    const asked = this.#read(host, known).finally(() => this.#asked.delete(host));
    this.#asked.set(host, asked);
    return asked;
  }

  async #read(host: string, before: Known | undefined): Promise<Known> {
    const until_ms = monotonicMs() + LIFE_MS;
    const { db, root_key, log } = this.#parts;
    let known: Known;
    try {
      const found = await findServed(db, host);
      if (found !== null && found.chain === before?.chain) known = { ...before, until_ms };
      else if (found === null) known = { context: null, chain: null, until_ms };
      else {
        const key = openColumn(root_key, 'storefront_certificate.private_key', [host], found.private_key);
        known = { context: createSecureContext({ cert: found.chain, key }), chain: found.chain, until_ms };
      }
    } catch (error) {
      log.warn({ host, error }, 'a certificate cannot be read');
      // A database that is away takes nobody's certificate away.
      known = before === undefined ? { context: null, chain: null, until_ms: 0 } : { ...before, until_ms };
    }
    this.#remember(host, known);
    return known;
  }

  /** Forgets names without a certificate before those with one: a flood of names pushes no certificate out. */
  #remember(host: string, known: Known): void {
    this.#known.delete(host);
    if (this.#known.size >= HOSTS_MAX) {
      for (const [name, { context }] of this.#known) if (context === null) this.#known.delete(name);
      if (this.#known.size >= HOSTS_MAX) this.#known.delete(this.#known.keys().next().value as string);
    }
    this.#known.set(host, known);
  }
}
