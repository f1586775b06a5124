// The pool of provider keys. A key that the provider refuses or throttles rests for a while, so that one dead
// key of a pool costs one failed attempt and not every second call (docs/outcomes.md#faults-of-a-provider).
import type { Endpoint, Provider } from '../../catalog/index.ts';
import { type Log, sha256Hex, silentLog } from '../../kernel/index.ts';
import type { FaultClass } from '../canonical/types.ts';
import type { ProviderKind, ProviderKinds } from './kind.ts';
import type { Sign } from './sigv4.ts';

const REST_REFUSED_MS = 600_000;
const REST_THROTTLED_MS = 5_000;
/** Rests remembered at once; callers' own keys are many, and rests that are over are forgotten first. */
const RESTS_MAX = 10_000;

export interface Credential {
  /** Flat name, value list. */
  readonly headers: readonly string[];
  /** Makes further headers for one request; only where the provider asks for a signature of each. */
  readonly sign?: Sign;
  /** Handle for `report`; a digest, never the key. */
  readonly handle: string;
}

export interface Credentials {
  /** The next rested key of `provider`; null when there is none at all. A pool of resting keys gives the one that rests shortest. */
  take(provider: Provider, now_ms: number): Credential | null;
  /** Whether a key of `provider` may be used now, or it takes calls without one. */
  isRested(provider: Provider, now_ms: number): boolean;
  /** Tells how an attempt with `handle` ended. */
  report(
    handle: string,
    fault: FaultClass,
    retry_after_ms: number | undefined,
    now_ms: number,
    endpoint_id?: string,
  ): void;
  /**
   * Milliseconds until a key may be used at `endpoint`; 0 where one may now. Providers throttle by model, so a key that
   * is throttled at one endpoint is only used less at the others.
   */
  throttleMs(endpoint: Endpoint, providerOf: (endpoint: Endpoint) => Provider, now_ms: number): number;
}

/**
 * What authenticates a call at `provider` with `key`, out of its pool or the caller's own, as the provider's kind has it.
 * @throws TypeError when the key is none of that kind; its message does not show the key.
 */
export function credentialFrom(kinds: ProviderKinds, provider: Provider, key: string): Credential {
  const handle = sha256Hex(`${provider.id} ${key}`).slice(0, 16);
  const made = kindOf(kinds, provider).authenticate(key);
  if ('fault' in made) throw new TypeError(`a key of provider ${provider.id} ${made.fault}`);
  return { ...made, handle };
}

/** The kind of `provider`; a catalog holds no provider of another. */
export function kindOf(kinds: ProviderKinds, { id, kind }: Provider): ProviderKind {
  const found = kinds.get(kind);
  if (found === undefined) throw new Error(`provider ${id} is of unknown kind ${kind}`);
  return found;
}

/**
 * Rotates over the keys that `resolve` finds for a provider (environment variables or files, read at each reload).
 * `log` hears once of each key that is parked, by provider and handle: somebody has to look after it.
 */
export function createCredentials(
  kinds: ProviderKinds,
  resolve: (provider: Provider) => readonly string[],
  log: Log = silentLog,
): Credentials {
  const restingUntil = new Map<string, number>();
  const pools = new Map<Provider, Credential[]>();
  const owners = new Map<string, string>();
  const quietUntil = new Map<string, number>();
  /** Endpoint → handles of the keys that it throttles, and until when. */
  const throttled = new Map<string, Map<string, number>>();
  let turn = 0;

  /** The usable keys of `provider`; one that cannot be read is left out and told of, so that the others go on. */
  function credentialsOf(provider: Provider): Credential[] {
    const pool: Credential[] = [];
    for (const key of resolve(provider)) {
      try {
        pool.push(credentialFrom(kinds, provider, key));
      } catch (error) {
        log.error({ alert: 'provider_key_unusable', provider: provider.id, error }, 'provider key unusable');
      }
    }
    return pool;
  }

  function rest(handle: string, until_ms: number, now_ms: number): void {
    if (restingUntil.size >= RESTS_MAX) {
      for (const [name, until] of restingUntil) if (until <= now_ms) restingUntil.delete(name);
      if (restingUntil.size >= RESTS_MAX) restingUntil.clear();
    }
    // A throttled call that ends late must not wake a parked key.
    restingUntil.set(handle, Math.max(until_ms, restingUntil.get(handle) ?? 0));
  }

  /** One alert for each stretch of parking: a lone key is still tried, and fails with every call. */
  function park(handle: string, fault: FaultClass, now_ms: number): void {
    rest(handle, now_ms + REST_REFUSED_MS, now_ms);
    if ((quietUntil.get(handle) ?? 0) > now_ms) return;
    if (quietUntil.size >= RESTS_MAX) quietUntil.clear();
    quietUntil.set(handle, now_ms + REST_REFUSED_MS);
    const provider = owners.get(handle) ?? null;
    log.error(
      { alert: 'provider_key_parked', provider, key: handle, class: fault, seconds: REST_REFUSED_MS / 1_000 },
      'provider key parked',
    );
  }

  function throttle(handle: string, endpoint_id: string, until_ms: number): void {
    const keys = throttled.get(endpoint_id) ?? new Map<string, number>();
    if (throttled.size >= RESTS_MAX || keys.size >= RESTS_MAX) throttled.clear();
    keys.set(handle, Math.max(until_ms, keys.get(handle) ?? 0));
    throttled.set(endpoint_id, keys);
  }

  function poolOf(provider: Provider): Credential[] {
    let pool = pools.get(provider);
    if (pool === undefined) {
      // A new snapshot brings new Provider objects: the pools of the old one go with it.
      if (pools.size > 1_000) {
        pools.clear();
        owners.clear();
      }
      pool = credentialsOf(provider);
      if (pool.length === 0 && provider.api_key_env.length === 0 && provider.api_key_file.length === 0) {
        pool = [{ headers: [], handle: `${provider.id} open` }];
      }
      for (const { handle } of pool) owners.set(handle, provider.id);
      pools.set(provider, pool);
    }
    return pool;
  }

  return {
    take(provider, now_ms) {
      const pool = poolOf(provider);
      let best: Credential | null = null;
      let bestRest = Number.POSITIVE_INFINITY;
      for (let i = 0; i < pool.length; i++) {
        const credential = pool[(turn + i) % pool.length] as Credential;
        const rest = restingUntil.get(credential.handle) ?? 0;
        if (rest <= now_ms) {
          turn = (turn + i + 1) % 1_000_000;
          return credential;
        }
        if (rest < bestRest) {
          best = credential;
          bestRest = rest;
        }
      }
      return best;
    },
    isRested(provider, now_ms) {
      return poolOf(provider).some(({ handle }) => (restingUntil.get(handle) ?? 0) <= now_ms);
    },
    report(handle, fault, retry_after_ms, now_ms, endpoint_id) {
      if (fault === 'auth' || fault === 'quota') park(handle, fault, now_ms);
      else if (fault === 'rate_limit') {
        const until_ms = now_ms + Math.min(retry_after_ms ?? REST_THROTTLED_MS, REST_REFUSED_MS);
        rest(handle, until_ms, now_ms);
        if (endpoint_id !== undefined) throttle(handle, endpoint_id, until_ms);
      }
    },
    throttleMs(endpoint, providerOf, now_ms) {
      const keys = throttled.get(endpoint.id);
      if (keys === undefined) return 0;
      let wait_ms = Number.POSITIVE_INFINITY;
      for (const { handle } of poolOf(providerOf(endpoint))) {
        const left_ms = (keys.get(handle) ?? 0) - now_ms;
        if (left_ms > 0) wait_ms = Math.min(wait_ms, left_ms);
        // A parked key is none to wait for, and none to spare the others either.
        else if ((quietUntil.get(handle) ?? 0) <= now_ms) wait_ms = 0;
      }
      if (wait_ms > 0 && wait_ms < Number.POSITIVE_INFINITY) return wait_ms;
      for (const [handle, until_ms] of keys) if (until_ms <= now_ms) keys.delete(handle);
      if (keys.size === 0) throttled.delete(endpoint.id);
      return 0;
    },
  };
}
