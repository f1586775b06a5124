// Signatures of rail-b callbacks: `t=<seconds>,v1=<hex>[,v1=<hex>…]`, HMAC-SHA256 over `t.` and the raw bytes.
import { equalBytes, hmacSha256, ServiceError } from '../../kernel/index.ts';

const TOLERANCE_SECONDS = 300;
/** A header is at most this long; rails send a few hundred characters. */
const HEADER_MAX = 4_096;

interface Stamp {
  readonly seconds: number;
  /** As sent: it is part of what was signed. */
  readonly text: string;
  readonly signatures: readonly Buffer[];
}

function invalid(): ServiceError {
  return new ServiceError('signature_invalid', 'The callback is not signed with a secret of this rail.');
}

function readStamp(header: string | null): Stamp | null {
  if (header === null || header.length > HEADER_MAX) return null;
  let text: string | null = null;
  const signatures: Buffer[] = [];
  for (const part of header.split(',')) {
    const [name, value = ''] = part.trim().split('=', 2);
    if (name === 't' && /^\d{1,12}$/.test(value)) text = value;
    else if (name === 'v1' && /^[0-9a-f]{64}$/.test(value)) signatures.push(Buffer.from(value, 'hex'));
  }
  return text === null || signatures.length === 0 ? null : { seconds: Number(text), text, signatures };
}

/** The signature of `raw` at `seconds` under `secret`, as 64 hex digits. */
export function signCallback(raw: Uint8Array, secret: string, seconds: number | string): string {
  return hmacSha256(secret, Buffer.concat([Buffer.from(`${seconds}.`), raw])).toString('hex');
}

/**
 * Checks `header` over `raw` with any of `secrets` (while one replaces another there are two).
 * @throws ServiceError signature_invalid, and signature_expired when a right one is 300 s off in either direction.
 */
export function verifyCallback(
  raw: Uint8Array,
  header: string | null,
  args: { readonly secrets: readonly string[]; readonly machine_ms: number },
): void {
  const stamp = readStamp(header);
  if (stamp === null) throw invalid();
  let matched = false;
  // All are compared, so that the time taken tells neither which secret nor which signature it was.
  for (const secret of args.secrets) {
    const expected = Buffer.from(signCallback(raw, secret, stamp.text), 'hex');
    for (const given of stamp.signatures) if (equalBytes(given, expected)) matched = true;
  }
  if (!matched) throw invalid();
  if (Math.abs(args.machine_ms / 1_000 - stamp.seconds) > TOLERANCE_SECONDS) {
    throw new ServiceError(
      'signature_expired',
      'The signature is more than five minutes off. Check the clocks.',
    );
  }
}
