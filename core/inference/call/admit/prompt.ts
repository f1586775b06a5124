// The size of a prompt for the bounds of docs/money/pricing.md#holds, computed from the body's bytes. A JSON escape never
// shortens text, so the size of the body is an upper bound, and a sample shows how dense the text is. Counting every
// character would cost a tenth of the time that a whole call may take.
import { emptyPrompt, type PromptSize } from '../../../pricing/index.ts';
import type { CanonicalRequest, MediaSource, Part } from '../../canonical/types.ts';
import { MEDIA_BYTES_MAX } from '../attempt/media.ts';
import { taskSize } from './task.ts';

const SAMPLES = 1_024;
/**
 * Ten minutes of frames and sound at the 300 tokens per second that providers count, expressed in seconds of sound
 * (40 tokens each).
 */
const VIDEO_AS_SOUND = (600 * 300) / 40;
/**
 * Token ids in the body are written as digits, possibly only one per token, while the bound counts three bytes as one
 * token.
 */
const TOKEN_BYTES = 3;
/**
 * First byte of UTF-8 characters beyond the Latin blocks (from U+0280; U+0250 has the same lead byte as Latin
 * characters).
 */
const BEYOND_LATIN_LEAD = 0xca;

function base64Bytes(src: MediaSource): number {
  return 'base64' in src ? src.base64.length : 0;
}

function isPdf(src: MediaSource): boolean {
  return 'media_type' in src && src.media_type?.toLowerCase().startsWith('application/pdf') === true;
}

/** Adds the media of `parts` to `size`; returns how many characters of base64 are media and not text. */
function addMedia(size: PromptSize, parts: readonly Part[]): number {
  let encoded = 0;
  for (const part of parts) {
    switch (part.type) {
      case 'image':
        size.images.push(part.detail === undefined ? {} : { detail: part.detail });
        encoded += base64Bytes(part.src);
        break;
      case 'audio': {
        const length = base64Bytes(part.src);
        // Media given by address are fetched after the hold, so the hold must cover the longest possible.
        size.audio_bytes += 'url' in part.src ? MEDIA_BYTES_MAX : Math.ceil(length * 0.75);
        encoded += length;
        break;
      }
      case 'document': {
        const length = base64Bytes(part.src);
        // A PDF given by address has no bytes here; a file of unknown size counts as 100 pages. Any other file is
        // text, plain or packed: its base64 is counted as text of the body.
        if (length > 0 && !isPdf(part.src)) break;
        if (length > 0) size.pdf_bytes += Math.ceil(length * 0.75);
        else if ('url' in part.src || 'file_id' in part.src) size.pdf_pages += 100;
        encoded += length;
        break;
      }
      case 'video':
        size.audio_seconds += VIDEO_AS_SOUND;
        encoded += base64Bytes(part.src);
        break;
      case 'tool_result':
      case 'search_result':
        encoded += addMedia(size, part.content);
        break;
      default:
    }
  }
  return encoded;
}

/** UTF-8 length of the character beyond Latin that begins with `lead`. */
function bytesOfCharacter(lead: number): number {
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
}

/** What the hold must know about `request`, whose JSON text is `body`. */
export function promptSize(request: CanonicalRequest, body: Buffer): PromptSize {
  if (request.task !== undefined) return taskSize(request.task);
  const size = emptyPrompt();
  size.messages = request.messages.length;
  let encoded = 0;
  for (const message of request.messages) encoded += addMedia(size, message.content);
  const ids = (request.completion?.tokens ?? 0) * TOKEN_BYTES;
  const bytes = Math.max(0, body.length - encoded) + ids;
  size.text_bytes = bytes;
  const step = Math.max(1, Math.floor(body.length / SAMPLES));
  let seen = 0;
  let white = 0;
  let beyond = 0;
  for (let i = 0; i < body.length; i += step) {
    const byte = body[i] as number;
    seen++;
    if (byte === 0x20 || byte === 0x0a || byte === 0x09 || byte === 0x0d) white++;
    else if (byte >= BEYOND_LATIN_LEAD) beyond += bytesOfCharacter(byte);
    // An escaped line break is white space that JSON writes with two bytes.
    else if (byte === 0x5c && (body[i + 1] === 0x6e || body[i + 1] === 0x74)) white++;
  }
  if (seen > 0) {
    size.white_space_bytes = Math.round((white * bytes) / seen);
    size.non_latin_bytes = Math.round((beyond * bytes) / seen);
  }
  return size;
}
