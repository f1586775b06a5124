// What a simulated model says, before it is put into a wire format. A text token is a word of five letters and a
// space: six bytes, so that a count by bytes can be compared with the count that is reported.
import { createHash } from 'node:crypto';
import { agentCalls, isAgent } from './agent.ts';
import type { Knobs } from './knobs.ts';

const WORDS = ['lorem ', 'ipsum ', 'dolor ', 'magna ', 'velit ', 'nulla ', 'culpa ', 'massa '];
const BYTES_PER_WORD = 6;
/** A scripted model of a coding agent always thinks. */
const AGENT_REASONING = 4;

export interface SimTool {
  name: string;
  schema: unknown;
}

/** A request as read from its wire format. */
export interface Asked {
  model: string;
  prompt_text_bytes: number;
  images: number;
  cap: number | null;
  stops: readonly string[];
  tools: readonly SimTool[];
  /** null: the model decides. */
  tool_choice: 'none' | 'required' | { name: string } | null;
  /** The conversation ends with tool results. */
  has_results: boolean;
  /** Tool results in the whole conversation. */
  results: number;
  json: boolean;
  json_schema: unknown;
  /** Reasoning tokens unless the knob says otherwise. */
  reasoning: number;
  candidates: number;
}

/** A part of the answer that is delivered at once. */
export interface Piece {
  text: string;
  tokens: number;
}

export interface Said {
  id: number;
  model: string;
  /** Epoch seconds; every event of a stream tells the same. */
  created: number;
  reasoning: Piece[];
  text: Piece[];
  tools: { id: string; name: string; pieces: Piece[] }[];
  stop: 'end' | 'length' | 'stop_sequence' | 'tools' | 'refusal';
  stop_sequence: string | null;
  prompt_tokens: number;
  /** All candidates together; reasoning is part of it. */
  completion_tokens: number;
  reasoning_tokens: number;
  cached: number;
  written: number;
}

/** Tokens of the prompt: four bytes of text each, an image 85. */
export function promptTokensOf({ prompt_text_bytes, images }: Asked): number {
  return Math.ceil(prompt_text_bytes / 4) + 85 * images;
}

/** The answer to `asked` under `knobs`, for call number `n`. */
export function say(asked: Asked, knobs: Knobs, n: number): Said {
  const cap = asked.cap === null || knobs.ignore_cap === 1 ? Number.POSITIVE_INFINITY : asked.cap;
  const unasked = isAgent(asked.model) ? AGENT_REASONING : asked.reasoning;
  const reasoningTokens = Math.min(knobs.reasoning ?? unasked, cap);
  const left = cap - reasoningTokens;
  const calls = toolCalls(asked, knobs, n);
  // A text that was requested comes before the calls, as models do it.
  const text = calls.length > 0 && knobs.text === null ? noText : spoken(asked, knobs, left);
  const prompt = promptTokensOf(asked);
  const cached = Math.min(knobs.cached, prompt);
  const one =
    reasoningTokens + sum(text.pieces) + calls.reduce((total, { pieces }) => total + sum(pieces), 0);
  return {
    id: n,
    model: knobs.model ?? asked.model,
    reasoning: words(reasoningTokens, knobs.chunks),
    text: text.pieces,
    tools: calls,
    stop: calls.length > 0 ? 'tools' : text.stop,
    stop_sequence: text.sequence,
    created: Math.floor(Date.now() / 1_000),
    prompt_tokens: prompt,
    completion_tokens: one * asked.candidates,
    reasoning_tokens: reasoningTokens * asked.candidates,
    cached,
    written: Math.min(knobs.written, prompt - cached),
  };
}

type Spoken = { pieces: Piece[]; stop: Said['stop']; sequence: string | null };
const noText: Spoken = { pieces: [], stop: 'end', sequence: null };

function spoken(asked: Asked, knobs: Knobs, left: number): Spoken {
  const said = knobs.text ?? (asked.json ? JSON.stringify(exampleOf(asked.json_schema)) : null);
  const wanted = said === null ? knobs.tokens : tokensOf(said);
  const kept = Math.min(wanted, left);
  const full =
    said === null
      ? Array.from({ length: kept }, (_, i) => WORDS[i % WORDS.length]).join('')
      : said.slice(0, kept * BYTES_PER_WORD);
  const whole_stop = knobs.refusal === 1 ? 'refusal' : 'end';
  const stop: Said['stop'] = kept < wanted ? 'length' : whole_stop;
  let found: { at: number; sequence: string } | null = null;
  for (const sequence of asked.stops) {
    const at = full.indexOf(sequence);
    if (at >= 0 && (found === null || at < found.at)) found = { at, sequence };
  }
  const pieces = cut(found === null ? full : full.slice(0, found.at), knobs.chunks);
  return found === null
    ? { pieces, stop, sequence: null }
    : { pieces, stop: 'stop_sequence', sequence: found.sequence };
}

function toolCalls(asked: Asked, knobs: Knobs, n: number): Said['tools'] {
  const { tool_choice: choice, tools } = asked;
  if (tools.length === 0 || choice === 'none') return [];
  if (isAgent(asked.model) && knobs.tools === null) {
    return agentCalls(asked).map(({ tool, text }, i) => ({
      ...{ id: `${n}_${i}`, name: tool.name },
      pieces: cut(text, knobs.chunks ?? 3),
    }));
  }
  const forced = choice !== null;
  const count = knobs.tools ?? (forced || !asked.has_results ? 1 : 0);
  const named =
    typeof choice === 'object' && choice !== null ? tools.filter(({ name }) => name === choice.name) : tools;
  return Array.from({ length: named.length === 0 ? 0 : count }, (_, i) => {
    const tool = named[i % named.length] as SimTool;
    const text = JSON.stringify(exampleOf(tool.schema));
    return { id: `${n}_${i}`, name: tool.name, pieces: cut(text, knobs.chunks ?? 3) };
  });
}

/** An instance of a plain object schema: every property, one value by type. */
export function exampleOf(schema: unknown): unknown {
  const { type, properties, items, enum: listed } = (schema ?? {}) as Record<string, unknown>;
  if (Array.isArray(listed)) return listed[0];
  switch (Array.isArray(type) ? type[0] : type) {
    case 'string':
      return 'Grüße 🌍';
    case 'integer':
      return 7;
    case 'number':
      return 1.5;
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array':
      return [exampleOf(items)];
    default: {
      const entries = Object.entries((properties ?? {}) as Record<string, unknown>);
      return Object.fromEntries(entries.map(([name, property]) => [name, exampleOf(property)]));
    }
  }
}

function words(tokens: number, chunks: number | null): Piece[] {
  return cut(Array.from({ length: tokens }, (_, i) => WORDS[i % WORDS.length]).join(''), chunks);
}

/** Cuts `text` into `chunks` pieces, or one per token; no piece ends inside a character. */
function cut(text: string, chunks: number | null): Piece[] {
  const tokens = tokensOf(text);
  const count = Math.max(1, Math.min(chunks ?? tokens, Math.max(1, text.length)));
  const pieces: Piece[] = [];
  let from = 0;
  let given = 0;
  for (let i = 1; i <= count && from < text.length; i++) {
    let to = i === count ? text.length : Math.min(text.length, Math.max(from + 1, at(text, i, count)));
    if (isLowSurrogate(text, to)) to++;
    const due = i === count || to >= text.length ? tokens : Math.floor((tokens * i) / count);
    pieces.push({ text: text.slice(from, to), tokens: due - given });
    given = due;
    from = to;
  }
  return pieces;
}

function at(text: string, i: number, count: number): number {
  // Whole words while there are enough of them.
  const share = (text.length * i) / count;
  return count * BYTES_PER_WORD <= text.length
    ? Math.round(share / BYTES_PER_WORD) * BYTES_PER_WORD
    : Math.round(share);
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_WORD);
}

function sum(pieces: readonly Piece[]): number {
  return pieces.reduce((total, { tokens }) => total + tokens, 0);
}

/** Signature of a thought; a thought sent back with another one is refused. */
export function signThought(text: string): string {
  return createHash('sha256').update(`sim thought\n${text}`).digest('base64');
}

/** Bytes of all strings in `value`, at any depth; media and the names of members do not count. */
export function textBytes(value: unknown): number {
  if (typeof value === 'string') return value.startsWith('data:') ? 0 : Buffer.byteLength(value);
  if (value === null || typeof value !== 'object') return 0;
  let bytes = 0;
  if (Array.isArray(value)) for (const item of value) bytes += textBytes(item);
  else {
    for (const [name, item] of Object.entries(value)) {
      if (name !== 'data' && name !== 'type' && name !== 'role' && name !== 'signature')
        bytes += textBytes(item);
    }
  }
  return bytes;
}
