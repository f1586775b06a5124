// JWTs that others have signed with an RSA key (RS256), proven by their public keys.
import { createPublicKey, type KeyObject, verify } from 'node:crypto';

const BLOCK = /-----BEGIN (PUBLIC KEY|CERTIFICATE)-----[\s\S]+?-----END \1-----/g;

/** A public key that proves what was signed. */
export type PublicKey = KeyObject;

/**
 * The public keys in the PEM text of a file: keys or certificates, several while their owner changes his.
 * @throws Error when it has none, or one that is no RSA key.
 */
export function readPublicKeys(pem: string): PublicKey[] {
  const keys = [...pem.matchAll(BLOCK)].map(([block]) => createPublicKey(block));
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

/** Whether one of `keys` has signed `token`. */
export function isSignedBy(token: string, keys: readonly PublicKey[]): boolean {
  const [header = '', payload = '', signature = '', ...more] = token.split('.');
  if (more.length > 0 || signature === '' || !isRs256(header)) return false;
  const said = Buffer.from(`${header}.${payload}`, 'utf8');
  const proof = Buffer.from(signature, 'base64url');
  return keys.some((key) => verify('RSA-SHA256', said, key, proof));
}
