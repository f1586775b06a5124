// The limits on failed sign-ins per account and per address (docs/sign-in.md#failures). Counters live in
// PostgreSQL, so that every process counts together.
import { type Context, ServiceError, sha256 } from '../../kernel/index.ts';
import { addressPrefix } from '../sessions/network.ts';
import {
  clearAttempts,
  findThrottleEnd,
  lockWhenFull,
  returnAttempt,
  type ThrottleKey,
  type ThrottleKind,
  takeAttempt,
} from './store.ts';

const WINDOW_S = 15 * 60;
const FIRST_LOCK_S = 15 * 60;
const LONGEST_LOCK_S = 4 * 3_600;
/** Links that lead nowhere are counted per hour, everything else per quarter of an hour. */
const LINK_WINDOW_S = 3_600;
const maxFailures: Readonly<Record<ThrottleKind, number>> = {
  ...{ account: 10, staff: 10, totp: 10, address: 50 },
  link: 10,
};

/** A counter; `about` is an address, a person or a network prefix. */
function keyOf(kind: ThrottleKind, about: string): ThrottleKey {
  return { kind, subject: sha256(`${kind} ${about}`) };
}

/** Attempts: counted before they are checked, and ended afterwards in one of three ways. */
export class Attempt {
  readonly #context: Context;
  readonly #keys: readonly ThrottleKey[];

  constructor(context: Context, keys: readonly ThrottleKey[]) {
    this.#context = context;
    this.#keys = keys;
  }

  /** It failed: the count stays, and a counter that is full is locked. */
  async fail(): Promise<void> {
    for (const key of this.#keys) {
      await lockWhenFull(this.#context.db, key, {
        at: this.#context.now(),
        max: maxFailures[key.kind],
        first_s: FIRST_LOCK_S,
        most_s: LONGEST_LOCK_S,
      });
    }
  }

  /** It succeeded: the account's failures are forgotten; the address keeps the failures of other accounts. */
  async succeed(): Promise<void> {
    for (const key of this.#keys) {
      if (key.kind === 'address') await returnAttempt(this.#context.db, key);
      else await clearAttempts(this.#context.db, key);
    }
  }

  /** Neither: the attempt is no longer counted. */
  async withdraw(): Promise<void> {
    for (const key of this.#keys) await returnAttempt(this.#context.db, key);
  }
}

/**
 * Counts an attempt on an account (`about`) and from the caller's address.
 * @throws ServiceError too_many_attempts with the time to wait, for a correct password as well.
 */
export async function beginAttempt(
  context: Context,
  kind: Exclude<ThrottleKind, 'address' | 'link'>,
  about: string,
): Promise<Attempt> {
  const prefix = addressPrefix(context.client_ip);
  // The network address first: when it is locked no account is counted, so it can neither lock out others nor fill the
  // table.
  const keys = [...(prefix === null ? [] : [keyOf('address', prefix)]), keyOf(kind, about)];
  const at = context.now();
  const taken: ThrottleKey[] = [];
  for (const key of keys) {
    if (await takeAttempt(context.db, key, { at, max: maxFailures[key.kind], window_s: WINDOW_S })) {
      taken.push(key);
      continue;
    }
    for (const other of taken) await returnAttempt(context.db, other);
    const ends_at = await findThrottleEnd(context.db, key, WINDOW_S);
    throw new ServiceError('too_many_attempts', 'Too many failed sign-ins. Wait, then try again.', {
      details: { scope: key.kind === 'address' ? 'address' : 'account' },
      retry_after_ms: Math.max(1_000, (ends_at ?? at).getTime() - at.getTime()),
    });
  }
  return new Attempt(context, keys);
}

/**
 * Counts that the caller's address tries the token of a mailed link. One that leads somewhere is withdrawn.
 * @throws ServiceError too_many_attempts with the time to wait.
 */
export async function beginLinkAttempt(context: Context): Promise<Attempt> {
  const prefix = addressPrefix(context.client_ip);
  if (prefix === null) return new Attempt(context, []);
  const key = keyOf('link', prefix);
  const at = context.now();
  if (await takeAttempt(context.db, key, { at, max: maxFailures.link, window_s: LINK_WINDOW_S }))
    return new Attempt(context, [key]);
  const ends_at = await findThrottleEnd(context.db, key, LINK_WINDOW_S);
  throw new ServiceError('too_many_attempts', 'Too many links that lead nowhere. Wait, then try again.', {
    details: { scope: 'address' },
    retry_after_ms: Math.max(1_000, (ends_at ?? at).getTime() - at.getTime()),
  });
}
