// The sandbox's tokenizer: three UTF-8 bytes are a token. Exact by definition, so tests can compute every bill by hand.
// It is bytes-v1 of core/pricing without that bound's rule for dense text: with it a longer answer
// could have fewer tokens than its own beginning, and no cap could be kept exactly.

export const BYTES_PER_TOKEN = 3;

/** Tokens of `bytes` UTF-8 bytes: ⌈bytes / 3⌉. */
export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Tokens of `text`: ⌈UTF-8 bytes / 3⌉. */
export function tokensOf(text: string): number {
  return tokensOfBytes(Buffer.byteLength(text));
}

/** The longest start of `text` that has at most `tokens` tokens and does not split a character. */
export function cutToTokens(text: string, tokens: number): string {
  // A UTF-16 unit is at least one UTF-8 byte, so short texts need no counting of bytes below the bound.
  const limit = tokens * BYTES_PER_TOKEN;
  if (text.length * 3 <= limit || Buffer.byteLength(text) <= limit) return text;
  // `limit` units have at least `limit` bytes; if the slice halves a surrogate pair, the cut falls before that half.
  const bytes = Buffer.from(text.slice(0, limit));
  let end = Math.min(limit, bytes.length);
  while (end > 0 && end < bytes.length && ((bytes[end] as number) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
