// The pool of provider keys. A key that the provider refuses or throttles rests for a while, so that one dead
// key of a pool costs one failed attempt and not every second call (decisions 4.6 table 2).
import type { Provider } from '../../catalog/index.ts';
import { sha256Hex } from '../../kernel/index.ts';
import type { FaultClass } from '../canonical/types.ts';

const REST_REFUSED_MS = 600_000;
const REST_THROTTLED_MS = 5_000;

export interface Credential {
  /** Flat name, value list. */
  readonly headers: readonly string[];
  /** Handle for `report`; a digest, never the key. */
  readonly handle: string;
}

export interface Credentials {
  /** The next rested key of `provider`; null when there is none at all. A pool of resting keys gives the one that rests shortest. */
  take(provider: Provider, now_ms: number): Credential | null;
  /** Tells how an attempt with `handle` ended. */
  report(handle: string, fault: FaultClass, retry_after_ms: number | undefined, now_ms: number): void;
}

function headersOf(provider: Provider, key: string): readonly string[] {
  return provider.kind === 'anthropic' ? ['x-api-key', key] : ['authorization', `Bearer ${key}`];
}

/** What authenticates a call at `provider` with `key`, out of its pool or the caller's own. */
export function credentialFrom(provider: Provider, key: string): Credential {
  return {
    headers: headersOf(provider, key),
    handle: sha256Hex(`${provider.id} ${key}`).slice(0, 16),
  };
}

/** Rotates over the keys that `resolve` finds for a provider (environment variables or files, read at each reload). */
export function createCredentials(resolve: (provider: Provider) => readonly string[]): Credentials {
  const restingUntil = new Map<string, number>();
  const pools = new Map<Provider, Credential[]>();
  let turn = 0;

  function poolOf(provider: Provider): Credential[] {
    let pool = pools.get(provider);
    if (pool === undefined) {
      // A new snapshot brings new Provider objects: the pools of the old one go with it.
      if (pools.size > 1_000) pools.clear();
      pool = resolve(provider).map((key) => credentialFrom(provider, key));
      if (pool.length === 0 && provider.api_key_env.length === 0 && provider.api_key_file.length === 0) {
        pool = [{ headers: [], handle: `${provider.id} open` }];
      }
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
    report(handle, fault, retry_after_ms, now_ms) {
      if (fault === 'auth' || fault === 'quota') restingUntil.set(handle, now_ms + REST_REFUSED_MS);
      else if (fault === 'rate_limit')
        restingUntil.set(handle, now_ms + (retry_after_ms ?? REST_THROTTLED_MS));
    },
  };
}
