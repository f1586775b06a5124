// Second factors: time-based codes (RFC 6238: SHA-1, 6 digits, 30 s, one step either side) and recovery codes.
import { Secret, TOTP } from 'otpauth';
import {
  deriveKeys,
  hmacSha256,
  type KeyedHash,
  keyedHash,
  openColumn,
  type RootKeyRing,
  sealColumn,
  secureBytes,
  secureText,
} from '../../kernel/index.ts';

const PERIOD_S = 30;
const WINDOW = 1;
const SECRET_BYTES = 20;
const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';
const CODES = 10;

function generator(secret: Uint8Array): TOTP {
  const buffer = new Uint8Array(secret).buffer;
  return new TOTP({ secret: new Secret({ buffer }), algorithm: 'SHA1', digits: 6, period: PERIOD_S });
}

/** A fresh secret of 160 bits. */
export function newTotpSecret(): Buffer {
  return secureBytes(SECRET_BYTES);
}

/** `secret` in base32, as people type it. */
export function base32(secret: Uint8Array): string {
  return new Secret({ buffer: new Uint8Array(secret).buffer }).base32;
}

/** The bytes of a base32 secret. */
export function fromBase32(text: string): Buffer {
  return Buffer.from(Secret.fromBase32(text).bytes);
}

/** The address that authenticator programs scan. */
export function otpauthUri(secret: Uint8Array, args: { issuer: string; email: string }): string {
  return new TOTP({
    issuer: args.issuer,
    label: args.email,
    secret: new Secret({ buffer: new Uint8Array(secret).buffer }),
    algorithm: 'SHA1',
    digits: 6,
    period: PERIOD_S,
  }).toString();
}

/** The code of `secret` at `at_ms`. */
export function totpCode(secret: Uint8Array, at_ms: number): string {
  return generator(secret).generate({ timestamp: at_ms });
}

/** Number of the 30 s step that holds `at_ms`. */
function currentStep(at_ms: number): number {
  return Math.floor(at_ms / 1000 / PERIOD_S);
}

/**
 * The time step of which `code` is the code, at most one step from `at_ms`; null when it is of none. Callers pass the
 * machine's time, because authenticators do not know the development clock.
 */
export function stepOfCode(secret: Uint8Array, code: string, at_ms: number): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const delta = generator(secret).validate({ token: code, timestamp: at_ms, window: WINDOW });
  return delta === null ? null : currentStep(at_ms) + delta;
}

/** Where a second factor is kept: of a person before and after it was confirmed, and of staff. */
type TotpColumn = 'person.totp_pending' | 'person.totp_secret' | 'staff.totp_secret';

/** `secret` as stored in a column: sealed under the key ring, bound to its owner. */
export function sealTotp(
  root_key: RootKeyRing,
  column: TotpColumn,
  { id, secret }: { readonly id: string; readonly secret: Uint8Array },
): Buffer {
  return sealColumn(root_key, column, [id], secret);
}

/** What `sealTotp` sealed. @throws Error when no key of the ring opens it. */
export function openTotp(
  root_key: RootKeyRing,
  column: TotpColumn,
  { id, sealed }: { readonly id: string; readonly sealed: Uint8Array },
): Buffer {
  return openColumn(root_key, column, [id], sealed);
}

/** Ten recovery codes of 50 bits, `xxxxx-xxxxx`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: CODES }, () => `${secureText(CROCKFORD, 5)}-${secureText(CROCKFORD, 5)}`);
}

const PURPOSE = 'recovery code';

/** A recovery code without regard to letter case and hyphen; null for text that is no code. */
function plainRecoveryCode(code: string): string | null {
  const plain = code.trim().toLowerCase().replace('-', '');
  return plain.length !== 10 || [...plain].some((letter) => !CROCKFORD.includes(letter)) ? null : plain;
}

/** The stored form of a recovery code; null for text that is no code. */
export function hashRecoveryCode(root_key: RootKeyRing, code: string): KeyedHash | null {
  const plain = plainRecoveryCode(code);
  return plain === null ? null : keyedHash(root_key, PURPOSE, plain);
}

/** What may be stored of a recovery code: its form under each key of the ring. Empty for text that is no code. */
export function hashesOfRecoveryCode(root_key: RootKeyRing, code: string): Buffer[] {
  const plain = plainRecoveryCode(code);
  return plain === null ? [] : deriveKeys(root_key, PURPOSE).map((key) => hmacSha256(key, plain));
}
