// The texts of the sandbox, and how they are cut into pieces.
import { cutToTokens, tokensOf } from './tokens.ts';

const LOREM = (
  'lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore ' +
  'magna aliqua enim ad minim veniam quis nostrud exercitation ullamco laboris nisi aliquip ex ea commodo'
).split(' ');

/** `count` words of lorem, starting at word `from` of an endless circle. */
export function loremWords(count: number, from: number): string {
  return Array.from({ length: count }, (_, i) => LOREM[(from + i) % LOREM.length]).join(' ');
}

/** The words of `text` over and over until there are exactly `tokens` tokens. */
export function repeatedTo(text: string, tokens: number): string {
  const unit = `${text === '' ? 'echo' : text} `;
  let result = cutToTokens(unit.repeat(Math.ceil(tokens / tokensOf(unit)) + 1), tokens);
  // A cut before a wide character may fall a token short.
  while (tokensOf(result) < tokens) result += ' ';
  return result;
}

const PIECES_DEFAULT = 32;
const WORDWISE_MAX = 4_096;

/** Cuts `text` into `count` pieces of about equal length (fewer when it is shorter); no piece halves a character. */
export function piecesOf(text: string, count: number): string[] {
  return slices(text, text.length / Math.max(1, count));
}

/** Cuts `text` as a provider would stream it: by words, at most 32 pieces. */
export function wordPieces(text: string): string[] {
  if (text.length > WORDWISE_MAX) return piecesOf(text, PIECES_DEFAULT);
  const words = text.match(/\s*\S+\s*/g);
  if (words === null) return text === '' ? [] : [text];
  const group = Math.ceil(words.length / PIECES_DEFAULT);
  if (group === 1) return words;
  const pieces: string[] = [];
  for (let i = 0; i < words.length; i += group) pieces.push(words.slice(i, i + group).join(''));
  return pieces;
}

/** Cuts `text` every `length` UTF-16 units (may be fractional), moved behind a surrogate pair. */
export function slices(text: string, length: number): string[] {
  const pieces: string[] = [];
  const step = Math.max(1, length);
  let from = 0;
  for (let n = 1; from < text.length; n++) {
    let to = Math.max(Math.round(n * step), from + 1);
    if (isLowSurrogate(text, to)) to++;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
