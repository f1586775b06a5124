// Shared by the simulators of embeddings and rankings: vectors that depend only on the text, with numbers written in every
// way that JSON allows, and scores by the number of shared words.
import { createHash } from 'node:crypto';
import type { Asked } from '../content.ts';
import type { Frame, JsonBody } from '../wire.ts';

/** A request for vectors or a ranking: it has no output, only input tokens. */
export function asked(model: unknown, prompt_text_bytes: number): Asked {
  return {
    model: String(model),
    prompt_text_bytes,
    images: 0,
    cap: 0,
    stops: [],
    tools: [],
    tool_choice: null,
    has_results: false,
    results: 0,
    json: false,
    json_schema: undefined,
    reasoning: 0,
    candidates: 1,
  };
}

/** More digits than a double holds, exponents, trailing zeros, so that a reader that rounds is noticed. */
const SPELLINGS = [
  (x: number) => `${x.toFixed(4)}123456789012345678`,
  (x: number) => x.toExponential(3),
  (x: number) => x.toFixed(4),
  (x: number) => String(x),
];

/** The numbers of the vector of `text`, as JSON. */
export function spelt(text: string, dimensions: number): string[] {
  const hash = createHash('sha256').update(text).digest();
  return Array.from({ length: dimensions }, (_, i) => {
    const x = ((hash[i % hash.length] as number) - 127.5) / 1_000;
    return (SPELLINGS[i % SPELLINGS.length] as (x: number) => string)(x);
  });
}

/** The same vector in base64. */
export function packed(text: string, dimensions: number): string {
  const bytes = Buffer.alloc(dimensions * 4);
  spelt(text, dimensions).forEach((number, i) => {
    bytes.writeFloatLE(Number(number), i * 4);
  });
  return bytes.toString('base64');
}

/** Share of the words of `query` that are in `document`. */
export function overlap(query: string, document: string): number {
  const words = query.toLowerCase().split(/\W+/).filter(Boolean);
  const has = new Set(document.toLowerCase().split(/\W+/));
  return words.filter((word) => has.has(word)).length / Math.max(1, words.length);
}

/** UTF-8 bytes of `texts`; a token id counts as four. */
export function bytesOf(texts: readonly (string | readonly number[])[]): number {
  return texts.reduce(
    (sum, text) => sum + (typeof text === 'string' ? Buffer.byteLength(text) : text.length * 4),
    0,
  );
}

/** `input` of an OpenAI-type body as a list. */
export function inputsOf(body: JsonBody): (string | number[])[] {
  const input = body['input'];
  if (typeof input === 'string') return [input];
  const list = (input ?? []) as (string | number | number[])[];
  return typeof list[0] === 'number' ? [list as number[]] : (list as (string | number[])[]);
}

// biome-ignore lint/correctness/useYield: these wires have no streams
export function* noFrames(): Generator<Frame> {
  throw new Error('vectors are not streamed');
}
