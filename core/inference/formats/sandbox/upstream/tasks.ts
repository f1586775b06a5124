// `sandbox/embed` and `sandbox/rerank`: vectors of hashed words, and an order by shared words. Equal
// texts have equal vectors, texts that share words lie closer, and everything can be computed by hand.
import { searchUnits } from '../../../canonical/search-units.ts';
import { countImages, isContent, isTokens } from '../../../canonical/tasks/inputs.ts';
import type {
  EmbedInput,
  EmbedPart,
  EmbedTask,
  Ranked,
  RerankTask,
  Task,
  Usage,
  Vector,
} from '../../../canonical/types.ts';
import { type Refusal, refusal } from './faults.ts';
import { tokensOf, tokensOfBytes } from './tokens.ts';

/** Clients make columns of the length that a model has: those of OpenAI's usual ones. */
const LONGER = /(?:^|\/)text-embedding-(?:3-small|ada-002)$/;
const DIMENSIONS = { least: 8, usual: 256, most: 1_536 };
/** Tokens of all inputs of a call together. */
const TOKENS_MAX = 300_000;
/** Digits of a number in a vector; more would be noise of the square root. */
const DIGITS = 9;

/** As for an image in a message. */
const IMAGE_TOKENS = 100;

/** Lower-case words of `text`; of a text without any the text itself. */
function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text];
}

/** An image by address is known by its address: nothing is fetched for the sandbox. */
function partWords(part: EmbedPart): readonly string[] {
  if (part.type === 'text') return wordsOf(part.text);
  return [`image ${'base64' in part.src ? part.src.base64 : part.src.url}`];
}

/**
 * FNV-1a of the UTF-16 units: a call may have 300,000 words, and a cryptographic hash of each kept the process for a
 * second. Odd, since the numbers that are drawn from it never leave 0.
 */
function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193);
  return hash | 1;
}

/** What the vector of `input` is made of; token ids are words of their own. */
function hashesOf(input: EmbedInput): readonly number[] {
  if (typeof input === 'string') return wordsOf(input).map(hashOf);
  if (isContent(input)) return input.content.flatMap((part) => partWords(part).map(hashOf));
  return input.map((token) => Math.imul(token + 1, 0x9e3779b1) | 1);
}

function textTokens(input: EmbedInput): number {
  if (typeof input === 'string') return tokensOf(input);
  if (isTokens(input)) return input.length;
  return input.content.reduce((sum, part) => sum + (part.type === 'text' ? tokensOf(part.text) : 0), 0);
}

/** The next number drawn from `hash` (xorshift32; Marsaglia, "Xorshift RNGs", 2003). */
function drawn(hash: number): number {
  let next = hash ^ (hash << 13);
  next ^= next >>> 17;
  return next ^ (next << 5);
}

/** Where the unit vector of `input` is not 0: each word adds 1 or takes 1 away at four places that its hash names. */
function placesOf(input: EmbedInput, dimensions: number): [at: number, value: number][] {
  const sums = new Int32Array(dimensions);
  for (const hash of hashesOf(input)) {
    let number = hash;
    for (let i = 0; i < 4; i++) {
      number = drawn(number);
      const at = (number >>> 8) % dimensions;
      sums[at] = (sums[at] as number) + ((number & 1) === 0 ? 1 : -1);
    }
  }
  let square = 0;
  for (const sum of sums) square += sum * sum;
  // Words may cancel out; a vector always points somewhere.
  if (square === 0) return [[0, 1]];
  const length = Math.sqrt(square);
  const places: [at: number, value: number][] = [];
  for (let at = 0; at < dimensions; at++) {
    const sum = sums[at] as number;
    if (sum !== 0) places.push([at, Number((sum / length).toFixed(DIGITS))]);
  }
  return places;
}

/**
 * The vector of `text` in the form that the caller wants. Nearly all of its numbers are 0 and are not made one by one: an
 * answer may have three million.
 */
function vectorOf(text: EmbedInput, { encoding }: EmbedTask, dimensions: number): Vector {
  const places = placesOf(text, dimensions);
  if (encoding === 'base64') {
    const bytes = Buffer.alloc(dimensions * 4);
    for (const [at, value] of places) bytes.writeFloatLE(value, at * 4);
    return { form: 'base64', text: bytes.toString('base64'), dimensions };
  }
  let numbers = '';
  let next = 0;
  for (const [at, value] of places) {
    numbers += `${'0,'.repeat(at - next)}${value},`;
    next = at + 1;
  }
  numbers += '0,'.repeat(dimensions - next);
  return { form: 'float', text: `[${numbers.slice(0, -1)}]`, dimensions };
}

/** Share of the query's words that the document has, less a little for what else it says. */
function scoreOf(query: ReadonlySet<string>, document: string): number {
  const words = new Set(wordsOf(document));
  let shared = 0;
  for (const word of query) if (words.has(word)) shared++;
  const all = query.size + words.size - shared;
  return Number(((shared / query.size) * 0.9 + (shared / all) * 0.1).toFixed(6));
}

/** Refuses what would take others' time, as OpenAI does: its bound for all inputs of a call together. */
function tooLong(tokens: number): Refusal | null {
  if (tokens <= TOKENS_MAX) return null;
  const message = `The inputs have ${tokens} tokens together; a call takes ${TOKENS_MAX}. Send fewer at once.`;
  return refusal(400, { message, param: 'input' });
}

/** The text of an answer as it is made, piece by piece: between two pieces others may have the process. */
export type Pieces = Generator<string, undefined>;

function embedded(task: EmbedTask, model: string): Pieces | Refusal {
  const usual = LONGER.test(model) ? DIMENSIONS.most : DIMENSIONS.usual;
  const dimensions = task.dimensions ?? usual;
  if (dimensions < DIMENSIONS.least || dimensions > DIMENSIONS.most) {
    const message = `dimensions must be from ${DIMENSIONS.least} to ${DIMENSIONS.most}.`;
    return refusal(400, { message, param: 'dimensions' });
  }
  const image_input_tokens = countImages(task) * IMAGE_TOKENS;
  let tokens = image_input_tokens;
  for (const input of task.input) tokens += textTokens(input);
  const usage = image_input_tokens === 0 ? usageOf(tokens) : { ...usageOf(tokens), image_input_tokens };
  return tooLong(tokens) ?? vectorPieces(task, dimensions, { usage, upstream_model: model });
}

function* vectorPieces(task: EmbedTask, dimensions: number, rest: object): Pieces {
  let before = '{"candidates":[],"vectors":[';
  for (const input of task.input) {
    yield before + JSON.stringify(vectorOf(input, task, dimensions));
    before = ',';
  }
  yield `],${JSON.stringify(rest).slice(1)}`;
}

function ranked(task: RerankTask, model: string): Pieces | Refusal {
  let tokens = 0;
  for (const document of task.documents) tokens += tokensOf(task.query) + tokensOf(document);
  const usage = { ...usageOf(tokens), search_units: searchUnits(task, tokensOfBytes) };
  return tooLong(tokens) ?? rankingPieces(task, { usage, upstream_model: model });
}

function* rankingPieces(task: RerankTask, rest: object): Pieces {
  const query = new Set(wordsOf(task.query));
  const ranking: Ranked[] = [];
  for (const [index, document] of task.documents.entries()) {
    ranking.push({ index, relevance_score: scoreOf(query, document) });
    yield '';
  }
  yield JSON.stringify({ candidates: [], ranking, ...rest });
}

function usageOf(input_tokens: number): Usage {
  return {
    input_tokens,
    output_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    source: 'provider',
  };
}

/** The answer to `task`, or a refusal: attempts up to `fail` get `status` (503). */
export function taskAnswer(
  task: Task,
  call: { model: string; attempt: number; fail: number; status: number | undefined },
): Pieces | Refusal {
  if (call.attempt <= call.fail) return refusal(call.status ?? 503);
  return task.kind === 'embed' ? embedded(task, call.model) : ranked(task, call.model);
}
