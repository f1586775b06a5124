// Text in pieces that a tokenizer counts one by one with the same result as at once. Both bundled tokenizers split text
// by a pattern before they merge bytes, and merging is quadratic in the length of one such stretch: a run of a hundred
// thousand equal letters would take seconds.

/** From here on a place to cut is looked for; at twice as much there is a cut wherever it falls. */
const PIECE_CHARS = 1_000;
/**
 * Behind a letter or digit and before what is neither: the patterns of o200k_base and cl100k_base always end a stretch
 * there and look at nothing behind it. An apostrophe may begin a contraction, a mark belongs to its letter.
 */
const BOUNDARY = /(?<=[\p{L}\p{N}])(?=[^\p{L}\p{M}\p{N}\p{Cs}'’])/u;

export interface Piece {
  readonly text: string;
  /** Cut where a stretch may go on: the sum of the counts is then an estimate. */
  readonly forced: boolean;
}

/** The pieces of `text` in order, each of at most 2,000 UTF-16 units. */
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
