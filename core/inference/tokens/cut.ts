// Cuts text into pieces whose token counts add up to the count of the whole text. Both bundled tokenizers split text
// by a pattern before they merge bytes, and merging takes quadratic time in the length of such a stretch: a run of a
// hundred thousand equal letters would take seconds.

/** After this many characters a boundary is looked for; after twice as many the text is cut wherever it is. */
const PIECE_CHARS = 1_000;
/**
 * After a letter or digit and before anything else. The patterns of o200k_base and cl100k_base always end a stretch
 * there and never look back across it. An apostrophe is excluded because it may begin a contraction, a combining mark
 * because it belongs to its letter.
 */
const BOUNDARY = /(?<=[\p{L}\p{N}])(?=[^\p{L}\p{M}\p{N}\p{Cs}'’])/u;

export interface Piece {
  readonly text: string;
  /** Cut within a stretch: the sum of the counts is then only an estimate. */
  readonly forced: boolean;
}

/** The pieces of `text` in order, each at most 2,000 UTF-16 units long. */
export function* piecesOf(text: string): Generator<Piece> {
  let from = 0;
  while (text.length - from > PIECE_CHARS) {
    const window = text.slice(from + PIECE_CHARS - 1, from + 2 * PIECE_CHARS);
    const found = window.search(BOUNDARY);
    if (found < 0 && text.length - from <= 2 * PIECE_CHARS) break;
    const to = found < 0 ? from + PIECE_CHARS : from + PIECE_CHARS - 1 + found;
    yield { text: text.slice(from, to), forced: found < 0 };
    from = to;
  }
  if (from < text.length) yield { text: text.slice(from), forced: false };
}
