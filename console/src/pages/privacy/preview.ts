// What redaction has made of a sample, for the eye. Pure.
import { presetWords } from './policy.ts';

const MARKER = /(\[REDACTED:[a-z0-9_]+\])/;

interface Piece {
  /** Where it begins. */
  readonly at: number;
  readonly text: string;
  readonly is_marker: boolean;
}

/** The text in pieces, markers apart. */
export function piecesOf(output: string): Piece[] {
  let at = 0;
  const pieces: Piece[] = [];
  for (const [i, text] of output.split(MARKER).entries()) {
    if (text !== '') pieces.push({ at, text, is_marker: i % 2 === 1 });
    at += text.length;
  }
  return pieces;
}

function tally(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { text: marker, is_marker } of piecesOf(text)) {
    if (!is_marker) continue;
    const kind = marker.slice('[REDACTED:'.length, -1);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

/** What was found and how often, in the words of the form; markers that the sample had before are none. */
export function foundIn(
  input: string,
  output: string,
  patterns: readonly string[],
): { what: string; count: number }[] {
  const before = tally(input);
  return [...tally(output)].flatMap(([kind, count]) => {
    const added = count - (before.get(kind) ?? 0);
    const own = /^pattern_(\d+)$/.exec(kind)?.[1];
    const what = own === undefined ? presetWords[kind] : patterns[Number(own) - 1];
    return added > 0 ? [{ what: what ?? kind, count: added }] : [];
  });
}
