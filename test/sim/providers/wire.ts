// What each wire format implements for the delivery: how a request is read and how an answer is framed.
import type { IncomingHttpHeaders } from 'node:http';
import type { Asked, Said } from './content.ts';
import type { Knobs } from './knobs.ts';
import type { SimFamily } from './record.ts';

/** One server-sent event. */
export interface Frame {
  text: string;
  /** Output tokens it carries. */
  tokens: number;
  /** Counts for `…_after` and is paced by `chunk_ms`. */
  is_piece: boolean;
}

/** A refusal as the provider would word it. */
export interface WireError {
  status: number;
  message: string;
  code?: string;
  param?: string;
}

export type JsonBody = Record<string, unknown>;

export interface Wire {
  readonly family: SimFamily;
  readonly path: string;
  /** For a format whose path has parameters: the members of the request they stand for; null for another path. */
  membersOf?(url: URL): JsonBody | null;
  /** The key presented, or null. */
  keyOf(headers: IncomingHttpHeaders): string | null;
  /** What the provider would find wrong with a request; null if nothing is. */
  check(body: JsonBody, headers: IncomingHttpHeaders): WireError | null;
  read(body: JsonBody): Asked;
  lastUserText(body: JsonBody): string;
  idOf(said: Said, knobs: Knobs): string;
  /** The usage that the answer will report; null if it reports none. */
  reported(said: Said, knobs: Knobs): { prompt_tokens: number; completion_tokens: number } | null;
  whole(body: JsonBody, said: Said, knobs: Knobs): string;
  frames(body: JsonBody, said: Said, knobs: Knobs): Generator<Frame>;
  error(error: WireError): string;
  /** An error inside a stream. */
  errorFrame(): string;
  headers(said: Said | null): Record<string, string>;
}

export const piece = (text: string, tokens: number): Frame => ({ text, tokens, is_piece: true });
export const mark = (text: string): Frame => ({ text, tokens: 0, is_piece: false });
