// What to do about one ApiKey object, from its Secret and what the service has. Pure. The Secret is what counts: the key
// whose id it carries is the one that somebody has, and any other active key of the object is unknown to everybody.

import type { KeyView } from './service.ts';
import { type ApiKeyObject, accessAnnotations } from './types.ts';

const HOUR_MS = 3_600_000;
const GRACE_SECONDS = 3_600;

/** The Secret that the object writes; its value is compared, and goes no further. */
export interface SecretSeen {
  readonly version: string;
  /** Whether the object owns it. */
  readonly owned: boolean;
  readonly key_id: string | null;
  /** The last four characters of its value; empty without one. */
  readonly value_end: string;
  readonly base_url: string;
  /** The value of the rotate annotation that was followed last. */
  readonly request: string;
}

export interface KeySeen {
  readonly object: ApiKeyObject;
  readonly project_id: string;
  readonly base_url: string;
  /** Of this object, newest first. */
  readonly keys: readonly KeyView[];
  readonly secret: SecretSeen | null;
  readonly now: Date;
}

export type KeyStep =
  | { readonly do: 'create'; readonly after: string }
  | { readonly do: 'rotate'; readonly id: string; readonly grace_seconds: number; readonly why: string }
  | { readonly do: 'update'; readonly id: string; readonly body: object }
  | { readonly do: 'revoke'; readonly id: string }
  /** Only what stands beside the key in the Secret. */
  | { readonly do: 'note' };

type KeyDecision =
  | { readonly kind: 'act'; readonly step: KeyStep }
  | { readonly kind: 'blocked'; readonly reason: 'SecretConflict' | 'KeyBlocked'; readonly message: string }
  | { readonly kind: 'done'; readonly key: KeyView; readonly rotates_at: Date | null };

export function requestOf({ metadata }: ApiKeyObject): string {
  return metadata.annotations?.[accessAnnotations.rotate] ?? '';
}

/** How long a key of the object lives; null: for ever. */
function lifetimeMs({ spec }: ApiKeyObject): number | null {
  return spec.expiresIn === undefined ? null : Number(spec.expiresIn.slice(0, -1)) * HOUR_MS;
}

/** When the key is to be replaced: by its schedule, or with a third of its life left; null: never by itself. */
export function rotatesAt(object: ApiKeyObject, key: KeyView): Date | null {
  const made_ms = Date.parse(key.created_at);
  const every = object.spec.rotate?.everyHours;
  const life_ms = lifetimeMs(object);
  const times = [
    ...(every === undefined ? [] : [made_ms + every * HOUR_MS]),
    ...(life_ms === null ? [] : [made_ms + (life_ms * 2) / 3]),
  ];
  return times.length === 0 ? null : new Date(Math.min(...times));
}

/** The key's settings as the manifest has them, in the words of the service. */
export function settingsOf({ metadata, spec }: ApiKeyObject) {
  const { rpm = null, tpm = null, concurrency = null } = spec.limits ?? {};
  return {
    name: spec.name ?? metadata.name,
    scopes: spec.scopes,
    limits: { rpm, tpm, concurrency },
    budget: { daily_micro: spec.budget?.dailyMicro ?? null, hard: spec.budget?.hard ?? true },
  };
}

/** What differs of `key`, as a merge patch; null where nothing does. */
function patchOf(object: ApiKeyObject, key: KeyView): object | null {
  const want = settingsOf(object);
  const life_ms = lifetimeMs(object);
  const expires_at = life_ms === null ? null : new Date(Date.parse(key.created_at) + life_ms).toISOString();
  const sorted = (list: readonly string[]) => list.toSorted().join();
  const patch = {
    ...(key.name === want.name ? {} : { name: want.name }),
    ...(sorted(key.scopes) === sorted(want.scopes) ? {} : { scopes: want.scopes }),
    ...(JSON.stringify(limitsOf(key)) === JSON.stringify(want.limits) ? {} : { limits: want.limits }),
    ...(key.budget.daily_micro === want.budget.daily_micro && key.budget.hard === want.budget.hard
      ? {}
      : { budget: want.budget }),
    ...(expires_at === null || key.expires_at === expires_at ? {} : { expires_at }),
  };
  return Object.keys(patch).length === 0 ? null : patch;
}

function limitsOf({ limits: { rpm, tpm, concurrency } }: KeyView) {
  return { rpm, tpm, concurrency };
}

const act = (step: KeyStep): KeyDecision => ({ kind: 'act', step });

/** The Secret holds no key that works: another key takes its place. */
function decideLost(seen: KeySeen, usable: readonly KeyView[]): KeyDecision {
  const { object, keys, secret } = seen;
  const held = keys.find(({ id }) => id === secret?.key_id);
  if (held?.status === 'blocked') {
    const message = `key ${held.id} is blocked: the person whose key makes it has left the organization`;
    return { kind: 'blocked', reason: 'KeyBlocked', message };
  }
  const [lost] = usable;
  if (lost === undefined) return act({ do: 'create', after: keys[0]?.id ?? 'none' });
  // One that was in the Secret may be in use; of one that never was, nobody knows the value.
  const was_delivered = lost.id === object.status?.keyId || lost.id === secret?.key_id;
  const grace_seconds = was_delivered ? (object.spec.rotate?.graceSeconds ?? GRACE_SECONDS) : 0;
  const why = secret === null ? 'its Secret is gone' : 'its Secret does not hold it';
  return act({ do: 'rotate', id: lost.id, grace_seconds, why });
}

/** The next step, or what the status says. */
export function decideKey(seen: KeySeen): KeyDecision {
  const { object, project_id, keys, secret, now, base_url } = seen;
  if (secret !== null && !secret.owned) {
    const message = `spec.secretRef: Secret ${object.spec.secretRef.name} exists and is not of this object`;
    return { kind: 'blocked', reason: 'SecretConflict', message };
  }
  const { environment } = object.spec;
  const active = keys.filter(({ status }) => status === 'active');
  const usable = active.filter(
    (key) => key.project_id === project_id && (environment === undefined || key.environment === environment),
  );
  const current = usable.find(({ id, hint }) => id === secret?.key_id && hint.slice(-4) === secret.value_end);
  if (current === undefined || secret === null) return decideLost(seen, usable);
  const rotate = (why: string) =>
    act({
      ...{ do: 'rotate', id: current.id, why },
      grace_seconds: object.spec.rotate?.graceSeconds ?? GRACE_SECONDS,
    });
  const request = requestOf(object);
  if (request !== '' && request !== secret.request) return rotate('asked for');
  // Before its settings: an end that has passed cannot be set, and the successor gets a new one.
  const rotates_at = rotatesAt(object, current);
  if (rotates_at !== null && now >= rotates_at) return rotate('its time has come');
  const body = patchOf(object, current);
  if (body !== null) return act({ do: 'update', id: current.id, body });
  const stray = active.find(({ id }) => id !== current.id);
  if (stray !== undefined) return act({ do: 'revoke', id: stray.id });
  if (secret.base_url !== base_url) return act({ do: 'note' });
  return { kind: 'done', key: current, rotates_at };
}
