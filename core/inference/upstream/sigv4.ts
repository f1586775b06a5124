// AWS Signature Version 4 for providers of kind `bedrock`. The library builds the canonical request and derives the
// keys; hashes and the clock come from the kernel. Signing takes a few turns of the event loop, so the transport
// waits for it only when a credential signs.
import { SignatureV4 } from '@smithy/signature-v4';
import { hmacSha256, machineMs, sha256 } from '../../kernel/index.ts';

const SERVICE = 'bedrock';
const DEFAULT_REGION = 'us-east-1';

/** The parts of a request that a signature covers. */
export interface Signable {
  /** `https://host[:port]`, and the path prefix of the provider. */
  readonly base_url: string;
  /** The whole path, encoded as it is sent. */
  readonly path: string;
  readonly body: Buffer;
  /** Region of the endpoint; a region in the host name takes precedence. */
  readonly region: string;
}

/** Makes the flat list of headers that authenticate a request. Rejects when the request cannot be signed. */
export type Sign = (request: Signable) => Promise<readonly string[]>;

interface AwsKey {
  readonly access_key_id: string;
  readonly secret: string;
  readonly session_token: string | null;
}

/** The parts of `ACCESS_KEY_ID:SECRET[:SESSION_TOKEN]`; null when one is missing. Secrets contain no colon. */
export function readAwsKey(key: string): AwsKey | null {
  const [access_key_id = '', secret = '', ...rest] = key.split(':');
  if (access_key_id === '' || secret === '' || rest.length > 1 || rest[0] === '') return null;
  return { access_key_id, secret, session_token: rest[0] ?? null };
}

const REGION = /^[a-z]{2}(?:-[a-z]+)+-\d{1,2}$/;
const HOST = /^(?:[a-z0-9-]+\.)*bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.(?:vpce\.)?(?:amazonaws\.|api\.aws)/;

/** Region to sign for: the one in the host name, otherwise the endpoint's if AWS has it, otherwise us-east-1. */
export function signingRegion(base_url: string, region: string): string {
  const named = HOST.exec(URL.parse(base_url)?.hostname ?? '')?.[1];
  if (named !== undefined && REGION.test(named)) return named;
  return REGION.test(region) ? region : DEFAULT_REGION;
}

/** SHA-256, or HMAC-SHA256 when there is a secret, with the interface that the library requires. */
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

/** A signer with `key`. Its errors show no part of the key. */
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
      // The machine's clock, not that of a development installation: AWS compares the date with its own clock.
      { signingDate: new Date(machineMs()), signingRegion: signingRegion(base_url, region) },
    );
    const flat: string[] = [];
    for (const [name, value] of Object.entries(signed.headers)) {
      // The transport sends host and content type itself, with the values that were signed.
      if (name !== 'host' && name !== 'content-type') flat.push(name, value);
    }
    return flat;
  };
}
