// Token counts without a tokenizer (`bytes-v1`): bounds before the call, estimates after it. A tokenizer on
// the hot path costs milliseconds and is quadratic on runs of one character; bytes cost microseconds.
import type { PromptSize } from './types.ts';

const MESSAGE_TOKENS = 16;
const IMAGE_TOKENS = 1_600;
const IMAGE_LOW_TOKENS = 100;
const AUDIO_TOKENS_PER_SECOND = 40;
const PDF_TOKENS_PER_PAGE = 3_000;
/** First code unit that is not in a Latin block. */
const BEYOND_LATIN = 0x0250;
/** Of all white space the last; almost every character of a text is behind it. */
const SPACE = 0x20;

/** A prompt of nothing, to be filled with `addText` and plain assignments. */
export function emptyPrompt(): PromptSize {
  return {
    text_bytes: 0,
    non_latin_bytes: 0,
    white_space_bytes: 0,
    messages: 0,
    images: [],
    audio_seconds: 0,
    audio_bytes: 0,
    pdf_pages: 0,
    pdf_bytes: 0,
  };
}

function isWhiteSpace(unit: number): boolean {
  return unit === SPACE || unit === 0x0a || unit === 0x0d || unit === 0x09;
}

/** Counts the bytes of `text` into `size`. */
export function addText(size: PromptSize, text: string): void {
  const bytes = Buffer.byteLength(text);
  const ascii = bytes === text.length;
  let white = 0;
  let beyond = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit <= SPACE) {
      if (isWhiteSpace(unit)) white++;
    } else if (!ascii && unit >= BEYOND_LATIN) {
      // A surrogate is half of a four-byte character; U+2000..U+206F (dashes, quotes) is Latin typography.
      if (unit >= 0xd800 && unit <= 0xdfff) beyond += 2;
      else if (unit < 0x2000 || unit > 0x206f) beyond += unit < 0x800 ? 2 : 3;
    }
  }
  size.text_bytes += bytes;
  size.white_space_bytes += white;
  size.non_latin_bytes += beyond;
}

/** Whether text is dense: more than 30 % beyond Latin or less than 5 % white space (base64, minified code). */
function isDense(size: PromptSize): boolean {
  return size.non_latin_bytes * 10 > size.text_bytes * 3 || size.white_space_bytes * 20 < size.text_bytes;
}

/**
 * Tokens of the text of `size` by bytes-v1: ⌈bytes / 3⌉, ⌈bytes / 1.5⌉ when dense. Never below the sandbox's own count,
 * which is ⌈bytes / 3⌉ of any text: what it bills fits what is held.
 */
export function textTokens(size: PromptSize): number {
  return Math.ceil(isDense(size) ? (size.text_bytes * 2) / 3 : size.text_bytes / 3);
}

/** Tokens of one text by bytes-v1. */
export function countText(text: string): number {
  const size = emptyPrompt();
  addText(size, text);
  return textTokens(size);
}

/** Upper bound of the prompt's tokens: text, 16 per message, and the media rules of docs/money/pricing.md#holds. */
export function inputTokensBound(size: PromptSize): number {
  let tokens = textTokens(size) + size.messages * MESSAGE_TOKENS;
  for (const image of size.images) tokens += image.detail === 'low' ? IMAGE_LOW_TOKENS : IMAGE_TOKENS;
  tokens += Math.ceil(size.audio_seconds * AUDIO_TOKENS_PER_SECOND) + Math.ceil(size.audio_bytes / 400);
  return tokens + size.pdf_pages * PDF_TOKENS_PER_PAGE + Math.ceil(size.pdf_bytes / 100);
}
