// Sizes of text within JSON bytes, without decoding it.

const BACKSLASH = 92;
const LETTER_U = 117;

/** UTF-8 length in bytes of the text whose JSON spelling is `b[from, to)`, without its quotes. */
export function textBytes(b: Buffer, from: number, to: number): number {
  let bytes = to - from;
  for (let i = from; i < to; i++) {
    if (b[i] !== BACKSLASH) continue;
    if (b[i + 1] !== LETTER_U) {
      bytes -= 1;
      i += 1;
      continue;
    }
    const code = Number.parseInt(b.toString('latin1', i + 2, i + 6), 16);
    bytes -= 6 - utf8Length(code);
    i += 5;
  }
  return bytes;
}

// Half of a surrogate pair counts as two of its four bytes.
function utf8Length(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800 || (code >= 0xd800 && code <= 0xdfff)) return 2;
  return 3;
}
