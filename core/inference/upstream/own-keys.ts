// Callers' own provider keys as calls use them. Each key is opened when a call first wants it; what that makes lives as
// long as the key does in memory (core/byok), so that a key that was replaced or deleted takes everything with it.

import type { ByokCache, OrgKeys, OwnKey } from '../../byok/index.ts';
import type { Endpoint, OwnKeyName, Provider } from '../../catalog/index.ts';
import type { Id, Log } from '../../kernel/index.ts';
import type { OwnKeys, OwnKeyUse } from '../../routing/index.ts';
import type { FaultClass } from '../canonical/types.ts';
import { type Credential, credentialFrom } from './credentials.ts';
import type { ProviderKinds } from './kind.ts';

/** A refused key rests shorter than one of the pool: its owner mends the account and tries again. */
const REST_REFUSED_MS = 60_000;
const REST_THROTTLED_MS = 5_000;
const REST_MAX_MS = 600_000;
/** Shorter parts of a secret are words that a sentence may have. */
const SECRET_PART_MIN = 8;
/** Rests remembered at once; those that are over are forgotten first. */
const RESTS_MAX = 10_000;

const NO_USES: readonly OwnKeyUse[] = [];

/** A key with what was made of it. */
interface Opened {
  readonly provider: Provider;
  readonly name: OwnKeyName;
  /** null: it cannot be used, and rests for ever. */
  readonly credential: Credential | null;
  /** Endpoints of the catalog as calls with the key see them. */
  readonly endpoints: WeakMap<Endpoint, Endpoint>;
}

export interface OwnKeyRing extends Pick<ByokCache, 'keysOf' | 'used'> {
  /** `keys` for the choice of a route at `now_ms`; undefined where there are none. */
  usesOf(keys: OrgKeys, now_ms: number): OwnKeys | undefined;
  /** What authenticates a call at `endpoint`, which has an `own_key`; null when the key cannot be used. */
  credentialOf(endpoint: Endpoint): Credential | null;
  /** Milliseconds until the own key of `endpoint` may be used there; 0: now. */
  restMs(endpoint: Endpoint, now_ms: number): number;
  /** `text` of the provider without the own key of `endpoint`, should it repeat any of it. */
  hide(endpoint: Endpoint, text: string): string;
  /** Tells how an attempt at `endpoint` with its own key ended: a refused or throttled key rests. */
  report(endpoint: Endpoint, fault: FaultClass, retry_after_ms: number | undefined, now_ms: number): void;
}

/** Forgets rests that are over once there are too many. */
function makeRoom(rests: Map<string, number>, now_ms: number): void {
  if (rests.size < RESTS_MAX) return;
  for (const [name, until_ms] of rests) if (until_ms <= now_ms) rests.delete(name);
  if (rests.size >= RESTS_MAX) rests.clear();
}

/** The own keys that a process has opened, and which of them rest. */
class OwnKeysInUse implements OwnKeyRing {
  readonly #kinds: ProviderKinds;
  readonly #cache: Pick<ByokCache, 'keysOf' | 'used'>;
  readonly #providers: () => ReadonlyMap<string, Provider>;
  readonly #log: Log;
  readonly #opened = new WeakMap<OwnKey, Opened>();
  /** By what names the key on its endpoints: one object per key and secret, so a replaced key finds nothing here. */
  readonly #credentials = new WeakMap<OwnKeyName, Credential>();
  /** Its secret, or the parts of it that mean something alone. */
  readonly #secrets = new WeakMap<OwnKeyName, readonly string[]>();
  readonly #refused = new Map<string, number>();
  readonly #throttled = new Map<string, number>();

  constructor(
    kinds: ProviderKinds,
    cache: Pick<ByokCache, 'keysOf' | 'used'>,
    providers: () => ReadonlyMap<string, Provider>,
    log: Log,
  ) {
    this.#kinds = kinds;
    this.#cache = cache;
    this.#providers = providers;
    this.#log = log;
  }

  keysOf(org_id: Id<'org'>): ReturnType<ByokCache['keysOf']> {
    return this.#cache.keysOf(org_id);
  }

  used(id: Id<'byok'>): void {
    this.#cache.used(id);
  }

  usesOf(keys: OrgKeys, now_ms: number): OwnKeys | undefined {
    if (keys.size === 0) return undefined;
    return { of: (endpoint) => this.#usesAt(endpoint, keys, now_ms) };
  }

  credentialOf(endpoint: Endpoint): Credential | null {
    return endpoint.own_key === undefined ? null : (this.#credentials.get(endpoint.own_key) ?? null);
  }

  restMs(endpoint: Endpoint, now_ms: number): number {
    return endpoint.own_key === undefined ? 0 : this.#restOf(endpoint.own_key, endpoint.id, now_ms);
  }

  hide(endpoint: Endpoint, text: string): string {
    let hidden = text;
    for (const part of (endpoint.own_key && this.#secrets.get(endpoint.own_key)) ?? []) {
      if (part !== '') hidden = hidden.replaceAll(part, '[redacted]');
    }
    return hidden;
  }

  report(endpoint: Endpoint, fault: FaultClass, retry_after_ms: number | undefined, now_ms: number): void {
    const handle = endpoint.own_key && this.#credentials.get(endpoint.own_key)?.handle;
    if (handle === undefined) return;
    if (fault === 'auth' || fault === 'quota') {
      makeRoom(this.#refused, now_ms);
      this.#refused.set(handle, now_ms + REST_REFUSED_MS);
    } else if (fault === 'rate_limit') {
      makeRoom(this.#throttled, now_ms);
      const rest_ms = Math.min(retry_after_ms ?? REST_THROTTLED_MS, REST_MAX_MS);
      const name = `${handle} ${endpoint.id}`;
      this.#throttled.set(name, Math.max(now_ms + rest_ms, this.#throttled.get(name) ?? 0));
    }
  }

  #usesAt(endpoint: Endpoint, keys: OrgKeys, now_ms: number): ReturnType<OwnKeys['of']> {
    const of_provider = keys.get(endpoint.provider);
    const provider = this.#providers().get(endpoint.provider);
    if (of_provider === undefined || provider === undefined) return NO_USES;
    const all = of_provider.map((key) => this.#openedOf(provider, key));
    // A key that was just refused is tried after the others.
    const first = all.filter((one) => !this.#isRefused(one, now_ms));
    const usable =
      first.length === all.length ? all : [...first, ...all.filter((one) => this.#isRefused(one, now_ms))];
    return usable.map((one) => ({
      endpoint: this.#endpointOf(one, endpoint),
      rest_ms: this.#restOf(one.name, endpoint.id, now_ms),
    }));
  }

  #credentialFor(provider: Provider, key: OwnKey): Credential | null {
    const secret = key.secret();
    if (secret === null) return null;
    try {
      return credentialFrom(this.#kinds, provider, secret);
    } catch (error) {
      // Checked where it was brought; the provider has become one of another kind since.
      this.#log.warn({ byok_id: key.id, provider: provider.id, error }, 'own provider key unusable');
      return null;
    }
  }

  #openedOf(provider: Provider, key: OwnKey): Opened {
    let known = this.#opened.get(key);
    if (known === undefined || known.provider !== provider) {
      const { id, hint, fallback_to_pool } = key;
      const credential = this.#credentialFor(provider, key);
      known = { provider, name: { id, hint, fallback_to_pool }, credential, endpoints: new WeakMap() };
      if (credential !== null) this.#credentials.set(known.name, credential);
      const secret = key.secret() ?? '';
      const parts = secret.split(':').filter(({ length }) => length >= SECRET_PART_MIN);
      this.#secrets.set(known.name, [secret, ...parts]);
      this.#opened.set(key, known);
    }
    return known;
  }

  #endpointOf({ name, endpoints }: Opened, endpoint: Endpoint): Endpoint {
    let own = endpoints.get(endpoint);
    if (own === undefined) {
      own = { ...endpoint, price: endpoint.byok?.price ?? endpoint.price, own_key: name };
      endpoints.set(endpoint, own);
    }
    return own;
  }

  #restOf(name: OwnKeyName, endpoint_id: string, now_ms: number): number {
    const handle = this.#credentials.get(name)?.handle;
    // One that cannot be used is not the same as none: only with fallback may the pool answer in its place.
    if (handle === undefined) return REST_REFUSED_MS;
    const throttle_ms = (this.#throttled.get(`${handle} ${endpoint_id}`) ?? 0) - now_ms;
    // One that does not fall back is tried although it was refused, so that the caller hears of it each time.
    const refusal_ms = name.fallback_to_pool ? (this.#refused.get(handle) ?? 0) - now_ms : 0;
    return Math.max(0, throttle_ms, refusal_ms);
  }

  #isRefused({ credential }: Opened, now_ms: number): boolean {
    return (this.#refused.get(credential?.handle ?? '') ?? 0) > now_ms;
  }
}

/** The own keys of a process, out of `cache`. */
export function createOwnKeys(
  kinds: ProviderKinds,
  cache: Pick<ByokCache, 'keysOf' | 'used'>,
  providers: () => ReadonlyMap<string, Provider>,
  log: Log,
): OwnKeyRing {
  return new OwnKeysInUse(kinds, cache, providers, log);
}
