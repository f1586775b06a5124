// The limits on failed sign-ins per account and per address (docs/sign-in.md#failures). Counters live in
// PostgreSQL, so that every process counts together.
import { type Context, ServiceError, sha256 } from '../../kernel/index.ts';
import { sendMail } from '../../mail/index.ts';
import { addressPrefix } from '../sessions/network.ts';
import type { Person } from '../types.ts';
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
/** Links that lead nowhere and mails that are asked for are counted per hour, sign-ins per quarter of an hour. */
const HOUR_S = 3_600;
const DAY_S = 86_400;
const maxFailures: Readonly<Record<ThrottleKind, number>> = {
  ...{ account: 10, staff: 10, totp: 10, address: 50 },
  ...{ link: 10, asking: 20, mailing: 3, access: 5 },
};

/** A counter; `about` is an address, a person or a network prefix. */
function keyOf(kind: ThrottleKind, about: string): ThrottleKey {
  return { kind, subject: sha256(`${kind} ${about}`) };
}

/** Whose account it is. */
type Owner = Pick<Person, 'id' | 'email'>;

async function mailLock(context: Context, { id, email }: Owner, until: Date): Promise<void> {
  await sendMail(context, {
    ...{ template: 'sign_in_locked', to: [email], org_id: null, reference: `${id}-${until.getTime()}` },
    data: { until: until.toISOString() },
  });
}

/** Attempts: counted before they are checked, and ended afterwards in one of three ways. */
export class Attempt {
  readonly #context: Context;
  readonly #keys: readonly ThrottleKey[];

  constructor(context: Context, keys: readonly ThrottleKey[]) {
    this.#context = context;
    this.#keys = keys;
  }

  /**
   * It failed: the count stays, and a counter that is full is locked. A mail tells the owner of an account that is, once a
   * lock; null: nobody has the account, or it is not a customer's.
   */
  async fail(owner: Owner | null): Promise<void> {
    for (const key of this.#keys) {
      const locked_until = await lockWhenFull(this.#context.db, key, {
        at: this.#context.now(),
        max: maxFailures[key.kind],
        first_s: FIRST_LOCK_S,
        most_s: LONGEST_LOCK_S,
      });
      if (locked_until !== null && owner !== null && key.kind !== 'address')
        await mailLock(this.#context, owner, locked_until);
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

/** What an attempt counts for: the known device alone, or the network address and the account. */
function keysOf(context: Context, kind: ThrottleKind, about: string, device: string | null): ThrottleKey[] {
  if (device !== null) return [keyOf(kind, `device ${device} ${about}`)];
  const prefix = addressPrefix(context.client_ip);
  // The network address first: when it is locked no account is counted, so it can neither lock out others nor fill the
  // table.
  return [...(prefix === null ? [] : [keyOf('address', prefix)]), keyOf(kind, about)];
}

/** Whose count is full. */
function scopeOf(key: ThrottleKey, device: string | null): 'address' | 'account' | 'device' {
  if (device !== null) return 'device';
  return key.kind === 'address' ? 'address' : 'account';
}

/**
 * Counts an attempt on an account (`about`) and from the caller's address; one of a device on which its owner has signed in
 * before counts for that device alone, so that attempts from elsewhere stop nobody there.
 * @throws ServiceError too_many_attempts with the time to wait, for a correct password as well.
 */
export async function beginAttempt(
  context: Context,
  kind: Exclude<ThrottleKind, 'address' | 'link'>,
  about: string,
  device: string | null = null,
): Promise<Attempt> {
  const keys = keysOf(context, kind, about, device);
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
      details: { scope: scopeOf(key, device) },
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
  if (await takeAttempt(context.db, key, { at, max: maxFailures.link, window_s: HOUR_S }))
    return new Attempt(context, [key]);
  const ends_at = await findThrottleEnd(context.db, key, HOUR_S);
  throw new ServiceError('too_many_attempts', 'Too many links that lead nowhere. Wait, then try again.', {
    details: { scope: 'address' },
    retry_after_ms: Math.max(1_000, (ends_at ?? at).getTime() - at.getTime()),
  });
}

/** Takes one of the places of a window; when none is left, the milliseconds until one is, else null. */
async function takePlace(
  context: Context,
  kind: 'asking' | 'mailing' | 'access',
  about: string,
  window_s = HOUR_S,
): Promise<number | null> {
  const key = keyOf(kind, about);
  const at = context.now();
  if (await takeAttempt(context.db, key, { at, max: maxFailures[kind], window_s })) return null;
  const ends_at = await findThrottleEnd(context.db, key, window_s);
  return Math.max(1_000, (ends_at ?? at).getTime() - at.getTime());
}

/**
 * Counts that mail of one kind (`purpose`) is asked for an address, whether there is an account or not, so that the
 * count says nothing about that: three an hour, and twenty requests an hour from one network address. Returns how long
 * to wait until the address gets another one; null: it gets one now.
 * @throws ServiceError too_many_attempts for the network address.
 */
export async function takeMailing(
  context: Context,
  { purpose, email_key }: { purpose: 'verify' | 'reset'; email_key: string },
): Promise<number | null> {
  const prefix = addressPrefix(context.client_ip);
  const wait_ms = prefix === null ? null : await takePlace(context, 'asking', prefix);
  if (wait_ms === null) return takePlace(context, 'mailing', `${purpose} ${email_key}`);
  throw tooManyRequests(wait_ms);
}

function tooManyRequests(wait_ms: number): ServiceError {
  return new ServiceError('too_many_attempts', 'Too many requests from your network. Wait, then try again.', {
    details: { scope: 'address' },
    retry_after_ms: wait_ms,
  });
}

/**
 * Counts that access is asked for: five a day from one network address.
 * @throws ServiceError too_many_attempts with the time to wait.
 */
export async function takeAccessRequest(context: Context): Promise<void> {
  const prefix = addressPrefix(context.client_ip);
  const wait_ms = prefix === null ? null : await takePlace(context, 'access', prefix, DAY_S);
  if (wait_ms !== null) throw tooManyRequests(wait_ms);
}

/** Forgets the failed sign-ins of an account whose person has proved themselves in another way. */
export function forgetFailures(context: Context, email_key: string): Promise<void> {
  return clearAttempts(context.db, keyOf('account', email_key));
}
