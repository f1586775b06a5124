// The requests of one organization that wait for an answer, as the library asks for them. They are rows, so that the answer
// may come to another process; taking one deletes it, so that of many answers to one request a single one is heard.
import { type Context, type Id, sha256 } from '../../kernel/index.ts';
import { findFlow, takeFlow } from '../sso/connection-store.ts';
import { type Flow, openFlow, storeFlow } from '../sso/flow.ts';

/** How long a request waits for its answer. */
export const REQUEST_MS = 10 * 60_000;

interface Known {
  readonly id: string;
  readonly flow: Flow;
  /** SHA-256 of the cookie of the browser that began. */
  readonly browser: Buffer;
}

/** What the library calls a cache provider. */
export class RequestIds {
  readonly #context: Context;
  readonly #org_id: Id<'org'>;
  readonly #begun: { flow: Flow; browser: Buffer } | null;
  /** The request that the answer names, where there is such a one. */
  known: Known | null = null;
  /** Whether it was this answer that took it. */
  taken = false;

  constructor(context: Context, org_id: Id<'org'>, begun: { flow: Flow; browser: Buffer } | null = null) {
    this.#context = context;
    this.#org_id = org_id;
    this.#begun = begun;
  }

  async saveAsync(key: string, value: string): Promise<{ value: string; createdAt: number }> {
    if (this.#begun === null) throw new Error('an answer begins no sign-in');
    const at = this.#context.now().getTime();
    const expires_at = new Date(at + REQUEST_MS);
    await storeFlow(this.#context, { key, org_id: this.#org_id, ...this.#begun, expires_at });
    return { value, createdAt: at };
  }

  async getAsync(key: string): Promise<string | null> {
    const { db, now } = this.#context;
    const hash = sha256(key);
    const found = await findFlow(db, { hash, org_id: this.#org_id, at: now() });
    if (found === null) return null;
    const flow = openFlow(this.#context, { org_id: this.#org_id, hash, sealed: found.sealed });
    this.known = { id: key, flow, browser: found.browser };
    return new Date(found.expires_at.getTime() - REQUEST_MS).toISOString();
  }

  async removeAsync(key: string | null): Promise<string | null> {
    if (key === null) return null;
    const { db, now } = this.#context;
    const taken = await takeFlow(db, { hash: sha256(key), org_id: this.#org_id, at: now() });
    if (taken === null) return null;
    if (key === this.known?.id) this.taken = true;
    return key;
  }
}
