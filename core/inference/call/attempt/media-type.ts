// Determines the media type of fetched bytes. Servers often mislabel media, so the bytes are examined first.
import type { MediaType } from '../../canonical/contract.ts';

const MAGIC: readonly (readonly [bytes: string, at: number, media_type: string])[] = [
  ['\x89PNG\r\n\x1a\n', 0, 'image/png'],
  ['\xff\xd8\xff', 0, 'image/jpeg'],
  ['GIF8', 0, 'image/gif'],
  ['WEBP', 8, 'image/webp'],
  ['BM', 0, 'image/bmp'],
  ['%PDF-', 0, 'application/pdf'],
  ['WAVE', 8, 'audio/wav'],
  ['ID3', 0, 'audio/mpeg'],
  ['\xff\xfb', 0, 'audio/mpeg'],
  ['fLaC', 0, 'audio/flac'],
  ['OggS', 0, 'audio/ogg'],
  ['\x1aE\xdf\xa3', 0, 'video/webm'],
];

/** Brands of the ISO container that are not video. */
const BRANDS: Record<string, string> = {
  heic: 'image/heic',
  heix: 'image/heic',
  mif1: 'image/heif',
  avif: 'image/avif',
  'M4A ': 'audio/mp4',
};

function sniff(body: Buffer): string | null {
  const head = body.toString('latin1', 0, 16);
  for (const [bytes, at, media_type] of MAGIC) if (head.startsWith(bytes, at)) return media_type;
  return head.startsWith('ftyp', 4) ? (BRANDS[head.slice(8, 12)] ?? 'video/mp4') : null;
}

function fits(type: MediaType, media_type: string): boolean {
  if (type === 'document') return media_type === 'application/pdf' || media_type.startsWith('text/');
  // An Ogg or WebM file may hold audio or video; the server's label decides.
  return media_type.startsWith(`${type}/`);
}

/** Media type of `body`, served as `content_type`, if it can be sent as `type`; otherwise null. */
export function mediaTypeOf(type: MediaType, content_type: string, body: Buffer): string | null {
  const declared = (content_type.split(';', 1)[0] as string).trim().toLowerCase();
  const seen = sniff(body);
  if (seen !== null && fits(type, seen)) return seen;
  const container = seen === null || seen === 'audio/ogg' || seen.startsWith('video/');
  return container && fits(type, declared) ? declared : null;
}
