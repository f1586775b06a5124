// Callers' own provider keys, as calls use them. A key is decrypted when a call first needs it. The result is kept
// only as long as core/byok keeps the key in memory, so nothing remains of a key that was replaced or deleted.

import type { ByokCache, OrgKeys, OwnKey } from '../../byok/index.ts';
import type { Endpoint, OwnKeyName, Provider } from '../../catalog/index.ts';
import type { Id, Log } from '../../kernel/index.ts';
import type { OwnKeys, OwnKeyUse } from '../../routing/index.ts';
import type { FaultClass } from '../canonical/types.ts';
import { type Credential, credentialFrom } from './credentials.ts';
import type { ProviderKinds } from './kind.ts';
import { secretParts, withoutParts } from './said.ts';

/**
 * A refused key of a caller rests for a shorter time than one of the pool: its owner fixes the account and tries
 * again.
 */
const REST_REFUSED_MS = 60_000;
const REST_THROTTLED_MS = 5_000;
const REST_MAX_MS = 600_000;
/** Limit on resting keys that are remembered; rests that are over are forgotten first. */
const RESTS_MAX = 10_000;

const NO_USES: readonly OwnKeyUse[] = [];

/** A decrypted key and what was derived from it. */
interface Opened {
  readonly provider: Provider;
  readonly name: OwnKeyName;
  /** Null: the key cannot be used, and rests for ever. */
  readonly credential: Credential | null;
  /** Endpoints of the catalog with this key assigned to them. */
  readonly endpoints: WeakMap<Endpoint, Endpoint>;
}

export interface OwnKeyRing extends Pick<ByokCache, 'keysOf' | 'used'> {
  /** `keys` as routing needs them at `now_ms`; undefined when there are none. */
  usesOf(keys: OrgKeys, now_ms: number): OwnKeys | undefined;
  /** What authenticates a call at `endpoint`, which has an `own_key`; null when the key cannot be used. */
  credentialOf(endpoint: Endpoint): Credential | null;
  /** Milliseconds until the own key of `endpoint` can be used there; 0: now. */
  restMs(endpoint: Endpoint, now_ms: number): number;
  /** `text` from the provider, with every occurrence of the own key of `endpoint` removed. */
  hide(endpoint: Endpoint, text: string): string;
  /** Reports how an attempt at `endpoint` with its own key ended: a refused or throttled key rests. */
  report(endpoint: Endpoint, fault: FaultClass, retry_after_ms: number | undefined, now_ms: number): void;
}

/** Forgets the rests that are over, when there are too many. */
function makeRoom(rests: Map<string, number>, now_ms: number): void {
  if (rests.size < RESTS_MAX) return;
  for (const [name, until_ms] of rests) if (until_ms <= now_ms) rests.delete(name);
  if (rests.size >= RESTS_MAX) rests.clear();
}

/** The own keys that a process has decrypted, and which of them rest. */
class OwnKeysInUse implements OwnKeyRing {
  readonly #kinds: ProviderKinds;
  readonly #cache: Pick<ByokCache, 'keysOf' | 'used'>;
  readonly #providers: () => ReadonlyMap<string, Provider>;
  readonly #log: Log;
  readonly #opened = new WeakMap<OwnKey, Opened>();
  /**
   * By the object that names the key on its endpoints. There is one such object per key and secret, so a replaced key
   * has no entry here.
   */
  readonly #credentials = new WeakMap<OwnKeyName, Credential>();
  /** The secret, or those parts of it that would reveal something by themselves. */
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
    return withoutParts(text, (endpoint.own_key && this.#secrets.get(endpoint.own_key)) ?? []);
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
      // The key was checked when it was stored; since then the provider has become one of another kind.
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
      this.#secrets.set(known.name, secretParts(key.secret() ?? ''));
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
    // A key that cannot be used is not the same as no key: the pool may only take its place when the key allows
    // fallback.
    if (handle === undefined) return REST_REFUSED_MS;
    const throttle_ms = (this.#throttled.get(`${handle} ${endpoint_id}`) ?? 0) - now_ms;
    // A key without fallback is tried although it was refused, so that the caller learns of it each time.
    const refusal_ms = name.fallback_to_pool ? (this.#refused.get(handle) ?? 0) - now_ms : 0;
    return Math.max(0, throttle_ms, refusal_ms);
  }

  #isRefused({ credential }: Opened, now_ms: number): boolean {
    return (this.#refused.get(credential?.handle ?? '') ?? 0) > now_ms;
  }
}

/** The own keys of a process, read from `cache`. */
export function createOwnKeys(
  kinds: ProviderKinds,
  cache: Pick<ByokCache, 'keysOf' | 'used'>,
  providers: () => ReadonlyMap<string, Provider>,
  log: Log,
): OwnKeyRing {
  return new OwnKeysInUse(kinds, cache, providers, log);
}
