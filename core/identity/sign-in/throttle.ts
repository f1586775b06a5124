// How many failed sign-ins an account and an address have (docs/sign-in.md#failures). Counters live in
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
const maxFailures: Readonly<Record<ThrottleKind, number>> = { account: 10, staff: 10, totp: 10, address: 50 };

/** A counter; `about` is an address, a person or a network prefix. */
function keyOf(kind: ThrottleKind, about: string): ThrottleKey {
  return { kind, subject: sha256(`${kind} ${about}`) };
}

/** Attempts that are counted before they are judged, and settled after. */
export class Attempt {
  readonly #context: Context;
  readonly #keys: readonly ThrottleKey[];

  constructor(context: Context, keys: readonly ThrottleKey[]) {
    this.#context = context;
    this.#keys = keys;
  }

  /** It was wrong: the count stays, and what is full now is locked. */
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

  /** It was right: the account's failures are forgotten, the address keeps those of others. */
  async succeed(): Promise<void> {
    for (const key of this.#keys) {
      if (key.kind === 'address') await returnAttempt(this.#context.db, key);
      else await clearAttempts(this.#context.db, key);
    }
  }

  /** It was neither: its places are given back. */
  async withdraw(): Promise<void> {
    for (const key of this.#keys) await returnAttempt(this.#context.db, key);
  }
}

/**
 * Counts an attempt on an account (`about`) and from the caller's address.
 * @throws ServiceError too_many_attempts with the wait, for a right password too.
 */
export async function beginAttempt(
  context: Context,
  kind: Exclude<ThrottleKind, 'address'>,
  about: string,
): Promise<Attempt> {
  const prefix = addressPrefix(context.client_ip);
  // The address first: one that is stopped touches no account, or it could keep others out and fill the table.
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
