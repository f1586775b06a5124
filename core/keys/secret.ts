// The form of an API key (docs/secrets.md#api-keys): `svc-live-` or `svc-test-`, 32 base62 characters (190 bits), 6
// of checksum.
import { crc32, type Environment, secureText, sha256 } from '../kernel/index.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const FORM = /^svc-(?:live|test)-[0-9A-Za-z]{38}$/;
const CHECKSUM_LENGTH = 6;

/** CRC-32 of `text` in base62, padded to six characters; 62^6 is above 2^32, so it always fits. */
export function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** Whether `text` has the form of an API key; does not check the checksum. */
export function hasKeyForm(text: string): boolean {
  return FORM.test(text);
}

/** Whether the last six characters are the checksum of the rest; a typing error is found without a look-up. */
export function checksumHolds(secret: string): boolean {
  return checksum(secret.slice(0, -CHECKSUM_LENGTH)) === secret.slice(-CHECKSUM_LENGTH);
}

/** A fresh secret of `environment`, 47 characters. */
export function newKeySecret(environment: Environment): string {
  const body = `svc-${environment}-${secureText(BASE62, 32)}`;
  return body + checksum(body);
}

/** What is stored in place of a secret: 32 bytes of SHA-256. */
export function hashSecret(secret: string): Buffer {
  return sha256(secret);
}

/** What later reads show of a secret: `svc-live-...` and the last four characters. */
export function keyHint(secret: string): string {
  return `${secret.slice(0, 9)}...${secret.slice(-4)}`;
}
