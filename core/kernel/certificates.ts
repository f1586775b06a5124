// X.509 certificates: those of others, read; and one of our own, made together with its key.
import { createPrivateKey, createPublicKey, generateKeyPair, sign, X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import { secureBytes } from './random.ts';

const RSA_BITS_MIN = 2_048;
const YEAR_MS = 365 * 86_400_000;
const LIFE_YEARS = 10;

interface CertificateFacts {
  readonly pem: string;
  /** SHA-256 of the certificate, lower-case hex. */
  readonly fingerprint: string;
  readonly not_after: Date;
}

/**
 * The certificate in `text`, PEM or the bare base64 of its bytes; null when there is none, or its key is no RSA key of at
 * least 2,048 bits. Its dates are facts, not conditions: providers sign with certificates that have lapsed.
 */
export function readCertificate(text: string): CertificateFacts | null {
  const body = text.replace(/-----(?:BEGIN|END) CERTIFICATE-----/g, '').replace(/\s+/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(body)) return null;
  try {
    const read = new X509Certificate(Buffer.from(body, 'base64'));
    const { asymmetricKeyType, asymmetricKeyDetails } = read.publicKey;
    if (asymmetricKeyType !== 'rsa' || (asymmetricKeyDetails?.modulusLength ?? 0) < RSA_BITS_MIN) return null;
    return {
      pem: read.toString(),
      fingerprint: read.fingerprint256.replaceAll(':', '').toLowerCase(),
      not_after: read.validToDate,
    };
  } catch {
    return null;
  }
}

/** One value of DER: tag, length, content. */
function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  if (body.length < 128) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const size = Buffer.from(body.length.toString(16).padStart(body.length > 0xff ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | size.length]), size, body]);
}

/** SEQUENCE { sha256WithRSAEncryption, NULL }, RFC 4055. */
const SHA256_WITH_RSA = Buffer.from('300d06092a864886f70d01010b0500', 'hex');
const COMMON_NAME = Buffer.from('0603550403', 'hex');

function nameOf(common_name: string): Buffer {
  const attribute = der(0x30, COMMON_NAME, der(0x0c, Buffer.from(common_name)));
  return der(0x30, der(0x31, attribute));
}

/** UTCTime, which RFC 5280 asks for until 2049. */
function timeOf(at: Date): Buffer {
  return der(0x17, Buffer.from(`${at.toISOString().slice(2, 19).replace(/[-:T]/g, '')}Z`));
}

/** A new RSA key: the public half as DER (SubjectPublicKeyInfo), the private half in PEM (PKCS #8). */
export async function rsaKeyPair(bits: number): Promise<{ public_der: Buffer; private_pem: string }> {
  const pair = await promisify(generateKeyPair)('rsa', { modulusLength: bits });
  return {
    public_der: pair.publicKey.export({ format: 'der', type: 'spki' }),
    private_pem: pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}

/** A new RSA key in PEM (PKCS #8), and a certificate that it signs for itself: valid ten years from `at`. */
export async function makeSigningKey(
  common_name: string,
  at: Date,
): Promise<{ private_key: string; certificate: string }> {
  const pair = await promisify(generateKeyPair)('rsa', { modulusLength: RSA_BITS_MIN });
  const name = nameOf(common_name);
  const serial = secureBytes(16);
  // Positive, and not shortened by a leading zero.
  serial[0] = ((serial[0] as number) & 0x7f) | 0x40;
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ...[SHA256_WITH_RSA, name, der(0x30, timeOf(at), timeOf(new Date(at.getTime() + LIFE_YEARS * YEAR_MS)))],
    ...[name, pair.publicKey.export({ format: 'der', type: 'spki' })],
  );
  const signature = sign('sha256', body, pair.privateKey);
  const whole = der(0x30, body, SHA256_WITH_RSA, der(0x03, Buffer.from([0]), signature));
  return {
    private_key: pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    certificate: new X509Certificate(whole).toString(),
  };
}

/** SEQUENCE { ecdsaWithSHA256 }, RFC 5758. */
const SHA256_WITH_ECDSA = Buffer.from('300a06082a8648ce3d040302', 'hex');
const EXTENSION_REQUEST = Buffer.from('06092a864886f70d01090e', 'hex');
const ALT_NAME = Buffer.from('0603551d11', 'hex');

/** A new key on P-256 in PEM (PKCS #8). */
export async function ecKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
  return privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
}

/**
 * A request to certify a key of `ecKey` for the one name `domain`, as DER (RFC 2986). The name is in the extension alone: a
 * common name has at most 64 characters, and nobody reads it.
 */
export function certificateRequest(private_pem: string, domain: string): Buffer {
  const key = createPrivateKey(private_pem);
  const names = der(0x30, der(0x82, Buffer.from(domain, 'ascii')));
  const extensions = der(0x30, der(0x30, ALT_NAME, der(0x04, names)));
  const body = der(
    0x30,
    der(0x02, Buffer.from([0])),
    der(0x30),
    createPublicKey(private_pem).export({ format: 'der', type: 'spki' }),
    der(0xa0, der(0x30, EXTENSION_REQUEST, der(0x31, extensions))),
  );
  return der(0x30, body, SHA256_WITH_ECDSA, der(0x03, Buffer.from([0]), sign('sha256', body, key)));
}

/** SEQUENCE { authorityKeyIdentifier, OCTET STRING { SEQUENCE { [0] … } } }, RFC 5280, 4.2.1.1, of an id below 128 bytes. */
const AUTHORITY_KEY = Buffer.from('0603551d2304', 'hex');

function renewalId(certificate: X509Certificate): string | null {
  const at = certificate.raw.indexOf(AUTHORITY_KEY);
  const value = certificate.raw.subarray(at + AUTHORITY_KEY.length);
  // The length of the string, then SEQUENCE, its length, [0], its length.
  const length = value[4];
  if (at === -1 || value[1] !== 0x30 || value[3] !== 0x80 || length === undefined || length > 64) return null;
  const serial = Buffer.from(certificate.serialNumber, 'hex');
  const positive = (serial[0] ?? 0) > 0x7f ? Buffer.concat([Buffer.from([0]), serial]) : serial;
  return `${value.subarray(5, 5 + length).toString('base64url')}.${positive.toString('base64url')}`;
}

/** The certificate of a server. */
export interface ServerCertificate {
  /** Who issued it: the organization, else the name. */
  readonly issuer: string;
  readonly not_before: Date;
  readonly not_after: Date;
  /** By what its authority knows it when it shall be renewed (RFC 9773, 4.1); null when it does not name its issuer's key. */
  readonly renewal_id: string | null;
  /** Whether it is for `host`, by its alternative names alone. */
  isFor(host: string): boolean;
  /** Whether its key is that of `private_pem`. */
  hasKey(private_pem: string): boolean;
}

/** The first certificate in `chain`, PEM. @throws Error when there is none. */
export function readServerCertificate(chain: string): ServerCertificate {
  const read = new X509Certificate(chain);
  return {
    issuer: /^O=(.*)$/m.exec(read.issuer)?.[1] ?? /^CN=(.*)$/m.exec(read.issuer)?.[1] ?? read.issuer,
    not_before: read.validFromDate,
    not_after: read.validToDate,
    renewal_id: renewalId(read),
    isFor: (host) => read.checkHost(host, { subject: 'never' }) !== undefined,
    hasKey: (private_pem) => read.checkPrivateKey(createPrivateKey(private_pem)),
  };
}

/** The public half of a key of `ecKey`, with its members in the order in which RFC 7638 hashes them. */
export function ecJwk(private_pem: string): { crv: string; kty: string; x: string; y: string } {
  const { crv = '', x = '', y = '' } = createPublicKey(private_pem).export({ format: 'jwk' });
  return { crv, kty: 'EC', x, y };
}

/** The signature of `data` by a key of `ecKey`, as ES256 (RFC 7518, 3.4) has it. */
export function ecSign(private_pem: string, data: string): Buffer {
  return sign('sha256', Buffer.from(data), { key: private_pem, dsaEncoding: 'ieee-p1363' });
}
