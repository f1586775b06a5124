// The form of an API key (docs/secrets.md#api-keys): `svc-live-` or `svc-test-`, 32 base62 characters (190 bits), 6
// of checksum.
import { BASE62, checksum, type Environment, secureText, sha256 } from '../kernel/index.ts';

const FORM = /^svc-(?:live|test)-[0-9A-Za-z]{38}$/;

/** Whether `text` has the form of an API key; does not check the checksum. */
export function hasKeyForm(text: string): boolean {
  return FORM.test(text);
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
