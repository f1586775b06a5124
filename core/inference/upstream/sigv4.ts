// AWS Signature Version 4 for providers of kind `bedrock`. The library builds the canonical request and the key
// chain; hashes and the clock are the kernel's. Signing takes a few turns of the event loop, so the transport waits
// for it only where a credential signs.
import { SignatureV4 } from '@smithy/signature-v4';
import { hmacSha256, machineMs, sha256 } from '../../kernel/index.ts';

const SERVICE = 'bedrock';
const DEFAULT_REGION = 'us-east-1';

/** A request as it will be sent, as far as a signature covers it. */
export interface Signable {
  /** `https://host[:port]` and the path before the request's own. */
  readonly base_url: string;
  /** The whole path, encoded as it goes over the wire. */
  readonly path: string;
  readonly body: Buffer;
  /** Region of the endpoint; the one that the host name tells goes before it. */
  readonly region: string;
}

/** Makes the flat header list that authenticates a request. Rejects when the request cannot be signed. */
export type Sign = (request: Signable) => Promise<readonly string[]>;

interface AwsKey {
  readonly access_key_id: string;
  readonly secret: string;
  readonly session_token: string | null;
}

/** The parts of `ACCESS_KEY_ID:SECRET[:SESSION_TOKEN]`; null when one is missing. Secrets hold no colon. */
export function readAwsKey(key: string): AwsKey | null {
  const [access_key_id = '', secret = '', ...rest] = key.split(':');
  if (access_key_id === '' || secret === '' || rest.length > 1 || rest[0] === '') return null;
  return { access_key_id, secret, session_token: rest[0] ?? null };
}

const REGION = /^[a-z]{2}(?:-[a-z]+)+-\d{1,2}$/;
const HOST = /^(?:[a-z0-9-]+\.)*bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.(?:vpce\.)?(?:amazonaws\.|api\.aws)/;

/** Region to sign for: the one in the host's name, else the endpoint's where it is one of AWS, else us-east-1. */
export function signingRegion(base_url: string, region: string): string {
  const named = HOST.exec(URL.parse(base_url)?.hostname ?? '')?.[1];
  if (named !== undefined && REGION.test(named)) return named;
  return REGION.test(region) ? region : DEFAULT_REGION;
}

/** SHA-256, or HMAC-SHA256 with a secret, in the shape that the library asks for. */
class Sha256 {
  private readonly secret: string | Uint8Array | null;
  private chunks: Uint8Array[] = [];

  constructor(secret?: unknown) {
    if (secret === undefined) this.secret = null;
    else if (typeof secret === 'string' || secret instanceof Uint8Array) this.secret = secret;
    else throw new TypeError('the key of an HMAC is text or bytes');
  }
  update(data: Uint8Array): void {
    this.chunks.push(data);
  }
  digest(): Promise<Uint8Array> {
    const all = this.chunks.length === 1 ? (this.chunks[0] as Uint8Array) : Buffer.concat(this.chunks);
    return Promise.resolve(this.secret === null ? sha256(all) : hmacSha256(this.secret, all));
  }
  reset(): void {
    this.chunks = [];
  }
}

/** A signer with `key`. What it rejects with names no part of the key. */
export function awsSigner(key: AwsKey): Sign {
  const signer = new SignatureV4({
    service: SERVICE,
    region: DEFAULT_REGION,
    sha256: Sha256,
    credentials: {
      accessKeyId: key.access_key_id,
      secretAccessKey: key.secret,
      ...(key.session_token === null ? {} : { sessionToken: key.session_token }),
    },
  });
  return async ({ base_url, path, body, region }) => {
    const { protocol, hostname, host } = new URL(base_url);
    const signed = await signer.sign(
      {
        method: 'POST',
        protocol,
        hostname,
        path,
        headers: { host, 'content-type': 'application/json' },
        body,
      },
      // Not the shifted clock of a development installation: AWS compares with its own.
      { signingDate: new Date(machineMs()), signingRegion: signingRegion(base_url, region) },
    );
    const flat: string[] = [];
    for (const [name, value] of Object.entries(signed.headers)) {
      // Host and content type are the transport's to send; it sends what was signed.
      if (name !== 'host' && name !== 'content-type') flat.push(name, value);
    }
    return flat;
  };
}
