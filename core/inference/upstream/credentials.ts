// The pool of provider keys. A key that the provider refuses or throttles is not used for a while, so that a dead key
// in a pool costs one failed attempt and not every second call (docs/outcomes.md#faults-of-a-provider).
import type { Endpoint, Provider } from '../../catalog/index.ts';
import { type Log, sha256Hex, silentLog } from '../../kernel/index.ts';
import type { FaultClass } from '../canonical/types.ts';
import type { ProviderKind, ProviderKinds } from './kind.ts';
import type { Sign } from './sigv4.ts';

const REST_REFUSED_MS = 600_000;
const REST_THROTTLED_MS = 5_000;
/**
 * Limit on resting keys that are remembered. Callers' own keys can be many; rests that are over are forgotten first.
 */
const RESTS_MAX = 10_000;

export interface Credential {
  /** Flat list: name, value, … */
  readonly headers: readonly string[];
  /** Makes further headers for one request; present only when the provider requires each request to be signed. */
  readonly sign?: Sign;
  /** Identifies the key in `report`; a digest, never the key itself. */
  readonly handle: string;
}

export interface Credentials {
  /**
   * The next key of `provider` that is not resting. When all are resting, the one whose rest ends first; null when
   * there is no key at all.
   */
  take(provider: Provider, now_ms: number): Credential | null;
  /** Whether a key of `provider` can be used now, or the provider accepts calls without one. */
  isRested(provider: Provider, now_ms: number): boolean;
  /** Reports how an attempt with the key `handle` ended. */
  report(
    handle: string,
    fault: FaultClass,
    retry_after_ms: number | undefined,
    now_ms: number,
    endpoint_id?: string,
  ): void;
  /**
   * Milliseconds until a key can be used at `endpoint`; 0 when one can be used now. Providers throttle by model, so a
   * key that is throttled at one endpoint is only less preferred at the others.
   */
  throttleMs(endpoint: Endpoint, providerOf: (endpoint: Endpoint) => Provider, now_ms: number): number;
  /** Provider → keys of its pool that rest, of those that calls have used so far. */
  resting(now_ms: number): ReadonlyMap<string, number>;
}

/**
 * What authenticates a call at `provider` with `key`, which is from the pool or the caller's own, in the way of the
 * provider's kind.
 * @throws TypeError when the key is not of that kind; the message does not show the key.
 */
export function credentialFrom(kinds: ProviderKinds, provider: Provider, key: string): Credential {
  const handle = sha256Hex(`${provider.id} ${key}`).slice(0, 16);
  const made = kindOf(kinds, provider).authenticate(key);
  if ('fault' in made) throw new TypeError(`a key of provider ${provider.id} ${made.fault}`);
  return { ...made, handle };
}

/** The kind of `provider`; a catalog accepts only known kinds. */
export function kindOf(kinds: ProviderKinds, { id, kind }: Provider): ProviderKind {
  const found = kinds.get(kind);
  if (found === undefined) throw new Error(`provider ${id} is of unknown kind ${kind}`);
  return found;
}

/** The pools of provider keys of a process, and which keys are resting. */
class CredentialPools implements Credentials {
  readonly #kinds: ProviderKinds;
  readonly #resolve: (provider: Provider) => readonly string[];
  readonly #log: Log;
  readonly #restingUntil = new Map<string, number>();
  readonly #pools = new Map<Provider, Credential[]>();
  readonly #owners = new Map<string, string>();
  readonly #quietUntil = new Map<string, number>();
  /** Endpoint → handles of the keys that it throttles → end of the throttling in epoch milliseconds. */
  readonly #throttled = new Map<string, Map<string, number>>();
  #turn = 0;

  constructor(kinds: ProviderKinds, resolve: (provider: Provider) => readonly string[], log: Log) {
    this.#kinds = kinds;
    this.#resolve = resolve;
    this.#log = log;
  }

  take(provider: Provider, now_ms: number): Credential | null {
    const pool = this.#poolOf(provider);
    let best: Credential | null = null;
    let bestRest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < pool.length; i++) {
      const credential = pool[(this.#turn + i) % pool.length] as Credential;
      const rest_ms = this.#restingUntil.get(credential.handle) ?? 0;
      if (rest_ms <= now_ms) {
        this.#turn = (this.#turn + i + 1) % 1_000_000;
        return credential;
      }
      if (rest_ms < bestRest) {
        best = credential;
        bestRest = rest_ms;
      }
    }
    return best;
  }

  isRested(provider: Provider, now_ms: number): boolean {
    return this.#poolOf(provider).some(({ handle }) => (this.#restingUntil.get(handle) ?? 0) <= now_ms);
  }

  report(
    handle: string,
    fault: FaultClass,
    retry_after_ms: number | undefined,
    now_ms: number,
    endpoint_id?: string,
  ): void {
    if (fault === 'auth' || fault === 'quota') this.#park(handle, fault, now_ms);
    else if (fault === 'rate_limit') {
      const until_ms = now_ms + Math.min(retry_after_ms ?? REST_THROTTLED_MS, REST_REFUSED_MS);
      this.#rest(handle, until_ms, now_ms);
      if (endpoint_id !== undefined) this.#throttle(handle, endpoint_id, until_ms);
    }
  }

  throttleMs(endpoint: Endpoint, providerOf: (endpoint: Endpoint) => Provider, now_ms: number): number {
    const keys = this.#throttled.get(endpoint.id);
    if (keys === undefined) return 0;
    let wait_ms = Number.POSITIVE_INFINITY;
    for (const { handle } of this.#poolOf(providerOf(endpoint))) {
      const left_ms = (keys.get(handle) ?? 0) - now_ms;
      if (left_ms > 0) wait_ms = Math.min(wait_ms, left_ms);
      // A parked key is neither worth waiting for nor a reason to prefer other endpoints.
      else if ((this.#quietUntil.get(handle) ?? 0) <= now_ms) wait_ms = 0;
    }
    if (wait_ms > 0 && wait_ms < Number.POSITIVE_INFINITY) return wait_ms;
    for (const [handle, until_ms] of keys) if (until_ms <= now_ms) keys.delete(handle);
    if (keys.size === 0) this.#throttled.delete(endpoint.id);
    return 0;
  }

  resting(now_ms: number): ReadonlyMap<string, number> {
    const resting = new Map<string, number>();
    for (const [handle, until_ms] of this.#restingUntil) {
      const provider = this.#owners.get(handle);
      if (until_ms > now_ms && provider !== undefined) {
        resting.set(provider, (resting.get(provider) ?? 0) + 1);
      }
    }
    return resting;
  }

  /**
   * The usable keys of `provider`. A key that cannot be read is logged and left out, so that the others can be used.
   */
  #credentialsOf(provider: Provider): Credential[] {
    const pool: Credential[] = [];
    for (const key of this.#resolve(provider)) {
      try {
        pool.push(credentialFrom(this.#kinds, provider, key));
      } catch (error) {
        this.#log.error(
          { alert: 'provider_key_unusable', provider: provider.id, error },
          'provider key unusable',
        );
      }
    }
    return pool;
  }

  #rest(handle: string, until_ms: number, now_ms: number): void {
    if (this.#restingUntil.size >= RESTS_MAX) {
      for (const [name, until] of this.#restingUntil) if (until <= now_ms) this.#restingUntil.delete(name);
      if (this.#restingUntil.size >= RESTS_MAX) this.#restingUntil.clear();
    }
    // A throttled call that ends late must not shorten the rest of a parked key.
    this.#restingUntil.set(handle, Math.max(until_ms, this.#restingUntil.get(handle) ?? 0));
  }

  /** Logs one alert per period of parking: a provider's only key is still tried, and fails with every call. */
  #park(handle: string, fault: FaultClass, now_ms: number): void {
    this.#rest(handle, now_ms + REST_REFUSED_MS, now_ms);
    if ((this.#quietUntil.get(handle) ?? 0) > now_ms) return;
    if (this.#quietUntil.size >= RESTS_MAX) this.#quietUntil.clear();
    this.#quietUntil.set(handle, now_ms + REST_REFUSED_MS);
    const provider = this.#owners.get(handle) ?? null;
    this.#log.error(
      { alert: 'provider_key_parked', provider, key: handle, class: fault, seconds: REST_REFUSED_MS / 1_000 },
      'provider key parked',
    );
  }

  #throttle(handle: string, endpoint_id: string, until_ms: number): void {
    const keys = this.#throttled.get(endpoint_id) ?? new Map<string, number>();
    if (this.#throttled.size >= RESTS_MAX || keys.size >= RESTS_MAX) this.#throttled.clear();
    keys.set(handle, Math.max(until_ms, keys.get(handle) ?? 0));
    this.#throttled.set(endpoint_id, keys);
  }

  #poolOf(provider: Provider): Credential[] {
    let pool = this.#pools.get(provider);
    if (pool === undefined) {
      // Each catalog snapshot has new Provider objects; the pools of older snapshots are dropped here.
      if (this.#pools.size > 1_000) {
        this.#pools.clear();
        this.#owners.clear();
      }
      pool = this.#credentialsOf(provider);
      if (pool.length === 0 && provider.api_key_env.length === 0 && provider.api_key_file.length === 0) {
        pool = [{ headers: [], handle: `${provider.id} open` }];
      }
      for (const { handle } of pool) this.#owners.set(handle, provider.id);
      this.#pools.set(provider, pool);
    }
    return pool;
  }
}

/**
 * Rotates over the keys that `resolve` finds for a provider (environment variables or files, read at each reload).
 * Each parked key is logged once, by provider and handle, because somebody has to look after it.
 */
export function createCredentials(
  kinds: ProviderKinds,
  resolve: (provider: Provider) => readonly string[],
  log: Log = silentLog,
): Credentials {
  return new CredentialPools(kinds, resolve, log);
}
