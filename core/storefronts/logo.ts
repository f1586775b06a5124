// The logo of a storefront: fetched once, looked at, and kept. What an image is, its bytes say and no header: what a browser
// would run (SVG, HTML) is never served from here.
import { type Egress, egressOf } from '../egress/index.ts';
import { ServiceError, type Services, sha256Hex } from '../kernel/index.ts';
import type { Logo } from './store.ts';

const LOGO_BYTES_MAX = 524_288;
/** More is of no use at 40 pixels, and would cost the browsers of all customers their memory. */
const SIDE_MAX = 4_096;
const CONNECT_MS = 4_000;
const TOTAL_MS = 10_000;

interface Image {
  readonly content_type: 'image/png' | 'image/jpeg' | 'image/webp';
  readonly width: number;
  readonly height: number;
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Width and height in the first frame header of a JPEG (ITU T.81, B.2.2); null: it has none. */
function jpegSize(bytes: Buffer): { width: number; height: number } | null {
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff; ) {
    const marker = bytes[at + 1] as number;
    // C4, C8 and CC in this range are tables.
    const is_frame =
      marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (is_frame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}

/** The same of a WebP: extended, lossless or lossy (RFC 9649). */
function webpSize(bytes: Buffer): { width: number; height: number } | null {
  if (bytes.length < 30) return null;
  const kind = bytes.toString('latin1', 12, 16);
  if (kind === 'VP8X') return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  if (kind === 'VP8L' && bytes[20] === 0x2f) {
    const packed = bytes.readUInt32LE(21);
    return { width: (packed & 0x3fff) + 1, height: ((packed >> 14) & 0x3fff) + 1 };
  }
  if (kind !== 'VP8 ') return null;
  return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
}

/** What image `bytes` begin as; null: none that is taken. */
export function imageOf(bytes: Buffer): Image | null {
  if (bytes.length >= 24 && bytes.subarray(0, 8).equals(PNG) && bytes.toString('latin1', 12, 16) === 'IHDR') {
    return { content_type: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  }
  if (bytes.length > 3 && bytes[0] === 0xff && bytes[1] === 0xd8) {
    const size = jpegSize(bytes);
    return size === null ? null : { content_type: 'image/jpeg', ...size };
  }
  if (bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP') {
    const size = webpSize(bytes);
    return size === null ? null : { content_type: 'image/webp', ...size };
  }
  return null;
}

const param = 'logo_url';

function notFetched(message: string, details: Record<string, unknown>): ServiceError {
  return new ServiceError('media_fetch_failed', message, { param, details });
}

async function fetchBytes(egress: Egress, url: string): Promise<Buffer> {
  const refusal = await egress.refusalOf(url);
  if (refusal !== null) {
    const message = `The address of the logo ${refusal}.`;
    throw new ServiceError('unsafe_url', message, { param, details: { reason: refusal } });
  }
  const answer = await egress.exchange({
    ...{ url, method: 'GET', headers: { accept: 'image/png, image/jpeg, image/webp' }, body: null },
    ...{ connect_ms: CONNECT_MS, total_ms: TOTAL_MS, body_bytes_max: LOGO_BYTES_MAX },
  });
  if (answer.fault !== null)
    throw notFetched('The logo could not be fetched from there.', { reason: answer.fault });
  if (answer.status >= 300 && answer.status < 400)
    throw notFetched('The address answers with another one. Give the last one.', { status: answer.status });
  if (answer.status !== 200)
    throw notFetched(`The address answers ${answer.status}.`, { status: answer.status });
  if (answer.complete) return answer.body;
  throw notFetched(`The logo is larger than ${LOGO_BYTES_MAX / 1_024} KiB, or breaks off.`, {
    bytes_max: LOGO_BYTES_MAX,
  });
}

/**
 * Fetches the image at `url` over the guarded client. @throws ServiceError unsafe_url, media_fetch_failed, invalid_media.
 */
export async function fetchLogo(services: Services, url: string): Promise<Logo> {
  const image = await fetchBytes(egressOf(services), url);
  const found = imageOf(image);
  if (found === null)
    throw new ServiceError('invalid_media', 'A logo is a PNG, JPEG or WebP image.', { param });
  const { width, height } = found;
  if (width < 1 || height < 1 || width > SIDE_MAX || height > SIDE_MAX)
    throw new ServiceError('invalid_media', `A logo has at most ${SIDE_MAX} pixels on each side.`, {
      ...{ param, details: { width, height } },
    });
  return { sha256: sha256Hex(image), content_type: found.content_type, image };
}
