// Passwords: argon2id (docs/sign-in.md#passwords), at most four at once per process, and the rules for new ones.
import { hash, parseOptions, verify } from '@node-rs/argon2';
import { ServiceError, secureBytes } from '../../kernel/index.ts';
import { isCommon } from './common-passwords.ts';

/** argon2id: 19 MiB, two passes, parallelism 1, 16-byte salt, 32-byte output. */
const PARAMETERS = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 } as const;
const AT_ONCE = 4;
const QUEUE_MAX = 64;
const LENGTH_MIN = 12;
const LENGTH_MAX = 128;
/** The hash of a random password, verified when an account does not exist, so that the answer takes equally long. */
let dummy: Promise<string> | null = null;

let running = 0;
const waiting: (() => void)[] = [];

/** Runs `work` as one of at most four. @throws ServiceError too_many_attempts when 64 wait already. */
async function throughGate<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) {
    if (waiting.length >= QUEUE_MAX) {
      throw new ServiceError('too_many_attempts', 'Too many sign-ins at once. Try again in a second.', {
        details: { scope: 'process' },
        retry_after_ms: 1_000,
      });
    }
    // A computation that ends hands its place to the next in the queue, so that no new one gets in first.
    await new Promise<void>((go) => waiting.push(go));
  } else running++;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}

function normal(password: string): string {
  return password.normalize('NFKC');
}

function hashNow(password: string): Promise<string> {
  return hash(normal(password), { ...PARAMETERS, salt: secureBytes(16) });
}

/** The PHC string of `password`. @throws ServiceError too_many_attempts when too many are computed at once. */
export function hashPassword(password: string): Promise<string> {
  return throughGate(() => hashNow(password));
}

/**
 * Whether `password` is the one behind `stored`; null stands for no account: it
 * costs the same work and is false.
 * @throws ServiceError too_many_attempts when too many are computed at once.
 */
export function checkPassword(stored: string | null, password: string): Promise<boolean> {
  return throughGate(async () => {
    dummy ??= hashNow(secureBytes(32).toString('base64'));
    const fits = await verify(stored ?? (await dummy), normal(password));
    return stored !== null && fits;
  });
}

let unknown: Promise<string> | null = null;

/** What is stored for a person without a password: the hash of random bytes that nobody has. One per process. */
export function noPassword(): Promise<string> {
  unknown ??= hashPassword(secureBytes(32).toString('base64')).catch((error: unknown) => {
    unknown = null;
    throw error;
  });
  return unknown;
}

/** Whether `stored` was made with weaker parameters than the present ones; then it is replaced at the next sign-in. */
export function needsRehash(stored: string): boolean {
  const { memoryCost, timeCost } = parseOptions(stored);
  return memoryCost < PARAMETERS.memoryCost || timeCost < PARAMETERS.timeCost;
}

function weak(reason: 'length' | 'common' | 'email', message: string, param: string): ServiceError {
  return new ServiceError('weak_password', message, { param, details: { reason } });
}

/** Refuses a new password that is easy to guess. @throws ServiceError weak_password with the reason. */
export function refuseWeakPassword(password: string, about: { email: string; param: string }): void {
  const text = normal(password);
  const length = [...text].length;
  const lower = text.toLowerCase();
  if (length < LENGTH_MIN || length > LENGTH_MAX) {
    throw weak('length', `A password has ${LENGTH_MIN} to ${LENGTH_MAX} characters.`, about.param);
  }
  if (isCommon(lower)) throw weak('common', 'This password is among the most common ones.', about.param);
  const local = (about.email.split('@', 1)[0] as string).toLowerCase();
  // A name of one or two letters occurs in too many passwords.
  if (local.length >= 3 && lower.includes(local)) {
    throw weak('email', 'The password must not contain the name in the e-mail address.', about.param);
  }
}
