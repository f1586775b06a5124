// The cache of provider keys in a process. Keys are held encrypted and dropped when they change, so that a deleted key
// is not used again. A key is decrypted when a call first needs it, and the secret is kept in memory only.

import { type Id, type Log, monotonicMs, now, type RootKeyRing } from '../kernel/index.ts';
import { type Changes, OrgCache } from '../runtime/index.ts';
import { readSealedKeys, type SealedKey, touchByokKeys } from './cache-store.ts';
import { openProviderKey } from './seal.ts';

/** Shorter than a second, because a deleted key must be out of use within a second. */
const TRUST_MS = 900;
const TOUCH_MS = 3_000;

/** A key as calls use it. */
export interface OwnKey {
  readonly id: Id<'byok'>;
  readonly provider_id: string;
  readonly hint: string;
  readonly fallback_to_pool: boolean;
  /** The secret; null when it cannot be opened with this key ring. Never logged, never kept by a request. */
  secret(): string | null;
}

/** The keys of one organization by provider, oldest first; empty for most. Immutable. */
export type OrgKeys = ReadonlyMap<string, readonly OwnKey[]>;

const none: OrgKeys = new Map();

export interface ByokCache {
  /**
   * The keys of an organization; a promise where they must be read first.
   * @throws ServiceError service_unavailable (from the promise) when they cannot be read: a call that an own key should
   * answer must not be billed to the pool instead.
   */
  keysOf(org_id: Id<'org'>): OrgKeys | Promise<OrgKeys>;
  /** A call was sent with the key. */
  used(id: Id<'byok'>): void;
  /** Drops an organization's keys in this process at once. */
  forget(org_id: Id<'org'>): void;
  close(): Promise<void>;
}

declare module '../kernel/operation/operation.ts' {
  interface Services {
    /** Absent in processes that route no calls. */
    readonly byok?: Pick<ByokCache, 'forget'>;
  }
}

interface ByokCacheOptions {
  readonly changes: Changes;
  readonly log: Log;
  readonly root_key: RootKeyRing;
  /** Most organizations held in memory. */
  readonly max_orgs?: number;
}

type Keyring = Pick<ByokCacheOptions, 'log' | 'root_key'>;

function byProvider(rows: readonly SealedKey[], keyring: Keyring): OrgKeys {
  if (rows.length === 0) return none;
  const keys = new Map<string, OwnKey[]>();
  for (const row of rows) {
    const of = keys.get(row.provider_id) ?? [];
    of.push(ownKey(row, keyring));
    keys.set(row.provider_id, of);
  }
  return keys;
}

function ownKey({ secret_sealed, ...rest }: SealedKey, { log, root_key }: Keyring): OwnKey {
  let secret: string | null | undefined;
  return {
    ...rest,
    secret: () => {
      if (secret !== undefined) return secret;
      try {
        secret = openProviderKey(root_key, rest.id, secret_sealed);
      } catch (error) {
        secret = null;
        log.error({ byok_id: rest.id, error }, 'provider key cannot be opened');
      }
      return secret;
    },
  };
}

/** The provider keys of this process. A database that is away shows in `keysOf` as service_unavailable. */
export function openByokCache(options: ByokCacheOptions): ByokCache {
  const { changes, log } = options;
  const { db } = changes;
  let used = new Map<Id<'byok'>, Date>();
  let touch_due_ms = monotonicMs() + TOUCH_MS;
  async function writeUsed(): Promise<void> {
    if (used.size === 0) return;
    const noted = [...used].map(([id, at]) => ({ id, at }));
    used = new Map();
    await touchByokKeys(db, noted);
  }
  const cache = new OrgCache<OrgKeys>({
    ...{ changes, log, what: 'provider keys', topic: 'byok', trust_ms: TRUST_MS },
    max_orgs: options.max_orgs ?? 20_000,
    unreadable:
      'Your provider keys cannot be read at the moment, and no call is made without checking them. Try again shortly.',
    read: async (org_id) => byProvider(await readSealedKeys(db, org_id), options),
    async polled({ began_ms }) {
      if (began_ms < touch_due_ms) return;
      touch_due_ms = began_ms + TOUCH_MS;
      await writeUsed();
    },
  });
  return {
    keysOf: (org_id) => cache.of(org_id),
    used: (id) => used.set(id, now()),
    forget: (org_id) => cache.forget(org_id),
    async close() {
      cache.close();
      await writeUsed().catch((error: unknown) => log.warn({ error }, 'use of provider keys not noted'));
    },
  };
}
