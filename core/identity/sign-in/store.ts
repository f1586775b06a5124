// SQL of sign-ins that wait for their second factor, and of failure counters (docs/sign-in.md#failures).
import type { Db } from '../../kernel/index.ts';

/** Stores the challenge of a sign-in that waits for its second factor. */
export async function insertChallenge(
  db: Db,
  challenge: { hash: Buffer; subject: string; expires_at: Date },
): Promise<void> {
  await db.query({
    name: 'identity.insert_challenge',
    text: 'insert into sign_in_challenge (hash, subject, expires_at) values ($1, $2, $3)',
    values: [challenge.hash, challenge.subject, challenge.expires_at],
  });
}

/** The person of a challenge that is valid at `at` and has guesses left; null when there is none. */
export async function findChallenge(
  db: Db,
  args: { hash: Buffer; at: Date },
): Promise<{ subject: string } | null> {
  const { rows } = await db.query<{ subject: string }>({
    name: 'identity.find_challenge',
    text: 'select subject from sign_in_challenge where hash = $1 and expires_at > $2 and misses < 5',
    values: [args.hash, args.at],
  });
  return rows[0] ?? null;
}

/**
 * Counts a guess before it is checked. Returns how many are left, null when none was; the fifth guess ends the
 * challenge.
 */
export async function countGuess(db: Db, args: { hash: Buffer; at: Date }): Promise<number | null> {
  const { rows } = await db.query<{ left: number }>({
    name: 'identity.count_guess',
    text: `
      update sign_in_challenge set misses = misses + 1
       where hash = $1 and expires_at > $2 and misses < 5 returning 5 - misses as left`,
    values: [args.hash, args.at],
  });
  return rows[0]?.left ?? null;
}

/** Ends a challenge; false when another request ended it first. */
export async function endChallenge(db: Db, hash: Buffer): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'identity.end_challenge',
    text: 'delete from sign_in_challenge where hash = $1',
    values: [hash],
  });
  return rowCount === 1;
}

export type ThrottleKind =
  | 'account'
  | 'address'
  | 'totp'
  | 'staff'
  | 'link'
  /** Requests for mail, by network address. */
  | 'asking'
  /** Mails of one kind that were asked for an address. */
  | 'mailing'
  /** Requests for access, by network address. */
  | 'access';

export interface ThrottleKey {
  readonly kind: ThrottleKind;
  /** SHA-256 of what is counted: an e-mail address, an address prefix, a person. */
  readonly subject: Buffer;
}

/**
 * Takes one of `max` places of the window that began less than `window_s` ago: counts the attempt before it is checked,
 * so that a hundred in parallel get no further than a hundred in a row. False while locked or when no place is left.
 */
export async function takeAttempt(
  db: Db,
  key: ThrottleKey,
  args: { at: Date; max: number; window_s: number },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'identity.take_attempt',
    text: `
      insert into sign_in_throttle as throttle (kind, subject, window_start, failures) values ($1, $2, $3, 1)
      on conflict (kind, subject) do update
         set failures = case when throttle.window_start <= $3::timestamptz - $5 * interval '1 second'
                          or throttle.locked_until is not null then 1 else throttle.failures + 1 end,
             window_start = case when throttle.window_start <= $3::timestamptz - $5 * interval '1 second'
                          or throttle.locked_until is not null then $3 else throttle.window_start end,
             locked_until = null
       where (throttle.locked_until is null or throttle.locked_until <= $3)
         and (throttle.failures < $4 or throttle.locked_until is not null
              or throttle.window_start <= $3::timestamptz - $5 * interval '1 second')`,
    values: [key.kind, key.subject, args.at, args.max, args.window_s],
  });
  return rowCount === 1;
}

/**
 * Locks what has failed `max` times in its window: `first_s` seconds, twice as long each further time, at most
 * `most_s`. Until when; null where it is not locked by this.
 */
export async function lockWhenFull(
  db: Db,
  key: ThrottleKey,
  args: { at: Date; max: number; first_s: number; most_s: number },
): Promise<Date | null> {
  const { rows } = await db.query<{ locked_until: Date }>({
    name: 'identity.lock_when_full',
    text: `
      update sign_in_throttle
         set locks = locks + 1,
             locked_until = $3::timestamptz + least($5 * power(2, least(locks, 16)), $6) * interval '1 second'
       where kind = $1 and subject = $2 and failures >= $4 and locked_until is null
      returning locked_until`,
    values: [key.kind, key.subject, args.at, args.max, args.first_s, args.most_s],
  });
  return rows[0]?.locked_until ?? null;
}

/** When a refused attempt may be made again: the end of the lock or of the window. */
export async function findThrottleEnd(db: Db, key: ThrottleKey, window_s: number): Promise<Date | null> {
  const { rows } = await db.query<{ ends_at: Date }>({
    name: 'identity.find_throttle_end',
    text: `
      select coalesce(locked_until, window_start + $3 * interval '1 second') as ends_at
        from sign_in_throttle where kind = $1 and subject = $2`,
    values: [key.kind, key.subject, window_s],
  });
  return rows[0]?.ends_at ?? null;
}

/** Gives back the place of an attempt that was no failure. */
export async function returnAttempt(db: Db, key: ThrottleKey): Promise<void> {
  await db.query({
    name: 'identity.return_attempt',
    text: `
      update sign_in_throttle set failures = failures - 1
       where kind = $1 and subject = $2 and failures > 0`,
    values: [key.kind, key.subject],
  });
}

/** Forgets the failures of an account after a successful sign-in. */
export async function clearAttempts(db: Db, key: ThrottleKey): Promise<void> {
  await db.query({
    name: 'identity.clear_attempts',
    text: 'delete from sign_in_throttle where kind = $1 and subject = $2',
    values: [key.kind, key.subject],
  });
}

/** Deletes lapsed challenges, and counters without a failure for a day; returns how many. */
export async function purgeAttempts(db: Db, at: Date): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'identity.purge_attempts',
    text: `
      with lapsed as (delete from sign_in_challenge where expires_at <= $1 returning 1),
           quiet as (
             delete from sign_in_throttle
              where window_start < $1::timestamptz - interval '1 day'
                and (locked_until is null or locked_until < $1::timestamptz - interval '1 day') returning 1)
      select ((select count(*) from lapsed) + (select count(*) from quiet))::int as n`,
    values: [at],
  });
  return rows[0]?.n ?? 0;
}

/** Ends all challenges of a person. */
export async function endChallenges(db: Db, subject: string): Promise<void> {
  await db.query({
    name: 'identity.end_challenges',
    text: 'delete from sign_in_challenge where subject = $1',
    values: [subject],
  });
}
