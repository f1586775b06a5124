// Hashes, encryption and constant-time comparison. Only files of core/kernel import node:crypto.
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  hash,
  hkdfSync,
  type KeyObject,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto';
import { secureBytes } from './random.ts';

/** SHA-256 as lower-case hex. The one-shot function takes 0.33 µs, a hash object 0.83 µs. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

/** SHA-256 as 32 bytes. */
export function sha256(data: string | Uint8Array): Buffer {
  return hash('sha256', data, 'buffer');
}

/** HMAC-SHA256 as 32 bytes. */
export function hmacSha256(key: string | Uint8Array, data: string | Uint8Array): Buffer {
  return createHmac('sha256', key).update(data).digest();
}

/**
 * The hash under which an end user is stored: lower-case hex of HMAC-SHA256 over the UTF-8 bytes of the id after NFC, so that
 * one person who is spelled in two ways of Unicode is one.
 */
export function hashOfEndUser(pepper: Uint8Array, user_id: string): string {
  return hmacSha256(pepper, user_id.normalize('NFC')).toString('hex');
}

/** SHA-256 over data that comes in pieces. */
export class Sha256 {
  readonly #hash = createHash('sha256');

  add(data: string | Uint8Array): void {
    this.#hash.update(data);
  }

  /** Once, at the end. */
  hex(): string {
    return this.#hash.digest('hex');
  }
}

/** Constant-time equality; arrays of different lengths are not equal. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * Encrypts with AES-256-GCM; returns nonce (12 bytes) ‖ tag (16) ‖ ciphertext. `context` is authenticated but not
 * stored.
 */
export function seal(key: Uint8Array, plain: Uint8Array, context: string): Buffer {
  const nonce = secureBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(context));
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

/** Decrypts what `seal` returned. @throws Error when the key, the context or any byte differs. */
export function unseal(key: Uint8Array, sealed: Uint8Array, context: string): Buffer {
  // Without its length a tag that was cut to four bytes would count.
  const cipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12), { authTagLength: 16 });
  cipher.setAAD(Buffer.from(context));
  cipher.setAuthTag(sealed.subarray(12, 28));
  return Buffer.concat([cipher.update(sealed.subarray(28)), cipher.final()]);
}

const CRC_TABLE = new Uint32Array(256).map((_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c;
});

/** CRC-32 (IEEE 802.3) of ASCII text: the checksum at the end of an API key. */
export function crc32(text: string): number {
  let c = 0xffffffff;
  for (let i = 0; i < text.length; i++) c = CRC_TABLE[(c ^ text.charCodeAt(i)) & 255]! ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

/**
 * 32 bytes derived from `secret` (HKDF, RFC 5869, SHA-256). `info` names the purpose and the object the bytes are
 * for.
 */
export function hkdfSha256(secret: string | Uint8Array, info: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), info, 32));
}

/** What DER has before the 32 bytes of an Ed25519 key (RFC 8410): private with its seed, and public. */
const ED25519_PRIVATE = Buffer.from('302e020100300506032b657004220420', 'hex');
const ED25519_PUBLIC = Buffer.from('302a300506032b6570032100', 'hex');

/** The Ed25519 key (RFC 8032) that a seed of 32 bytes is. */
export class Ed25519Key {
  readonly #key: KeyObject;
  /** 32 bytes. */
  readonly public_key: Buffer;

  constructor(seed: Uint8Array) {
    this.#key = createPrivateKey({
      key: Buffer.concat([ED25519_PRIVATE, seed]),
      format: 'der',
      type: 'pkcs8',
    });
    const der = createPublicKey(this.#key).export({ format: 'der', type: 'spki' });
    this.public_key = der.subarray(ED25519_PUBLIC.length);
  }

  /** The signature of `data`, 64 bytes. */
  sign(data: Uint8Array): Buffer {
    return sign(null, data, this.#key);
  }
}

/** The key in PEM (PKCS #8, RFC 8410), as `openssl genpkey -algorithm ed25519` writes it. @throws Error when it is none. */
export function readEd25519Key(pem: string): Ed25519Key {
  const der = createPrivateKey(pem).export({ format: 'der', type: 'pkcs8' });
  if (!der.subarray(0, ED25519_PRIVATE.length).equals(ED25519_PRIVATE))
    throw new Error('this is no Ed25519 key');
  return new Ed25519Key(der.subarray(ED25519_PRIVATE.length));
}

/** Whether `signature` is that of `data` by the key of `public_key` (32 bytes). */
export function ed25519Verify(public_key: Uint8Array, data: Uint8Array, signature: Uint8Array): boolean {
  const key = createPublicKey({
    key: Buffer.concat([ED25519_PUBLIC, public_key]),
    format: 'der',
    type: 'spki',
  });
  return verify(null, data, key, signature);
}

const PEM_BLOCK = /-----BEGIN (PUBLIC KEY|CERTIFICATE)-----[\s\S]+?-----END \1-----/g;

/** A public key that proves what was signed. */
export type PublicKey = KeyObject;

/**
 * The public keys in the PEM text of a file: keys or certificates, several while their owner changes his.
 * @throws Error when it has none, or one that is no RSA key.
 */
export function readPublicKeys(pem: string): PublicKey[] {
  const keys = [...pem.matchAll(PEM_BLOCK)].map(([block]) => createPublicKey(block));
  if (keys.length === 0) throw new Error('the file has no public key and no certificate');
  if (keys.some(({ asymmetricKeyType }) => asymmetricKeyType !== 'rsa'))
    throw new Error('a key of the file is no RSA key');
  return keys;
}

/** Whether the header of a JWT names the one way that is checked here. */
function isRs256(header: string): boolean {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(header, 'base64url').toString('utf8'));
    return (parsed as { alg?: unknown } | null)?.alg === 'RS256';
  } catch {
    return false;
  }
}

/** Whether one of `keys` has signed `token`, a JWT (RS256). */
export function isSignedBy(token: string, keys: readonly PublicKey[]): boolean {
  const [header = '', payload = '', signature = '', ...more] = token.split('.');
  if (more.length > 0 || signature === '' || !isRs256(header)) return false;
  const said = Buffer.from(`${header}.${payload}`, 'utf8');
  const proof = Buffer.from(signature, 'base64url');
  return keys.some((key) => verify('RSA-SHA256', said, key, proof));
}

/** The digits of base 62, in the order in which checksums count. */
export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
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

/** Whether the last six characters are the checksum of the rest; a typing error is found without a look-up. */
export function checksumHolds(secret: string): boolean {
  return checksum(secret.slice(0, -CHECKSUM_LENGTH)) === secret.slice(-CHECKSUM_LENGTH);
}
