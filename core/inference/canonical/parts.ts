// The parts of messages and answers: text, media, reasoning, tool calls and tool results.
import type { JsonObject } from '../../kernel/index.ts';
import type { Family } from './names.ts';

/** A cache breakpoint after the item that carries it. */
export interface CacheHint {
  ttl?: '5m' | '30m' | '1h' | '24h';
}

interface Base {
  cache?: CacheHint;
  /** Wire fields that this form does not name, kept for the family they came from. */
  ext?: JsonObject;
}

export type MediaSource =
  | { base64: string; media_type: string }
  | { url: string; media_type?: string }
  | { file_id: string; family: Family }
  | { text: string };

export type ReasoningFormat = 'anthropic-claude-v1' | 'openai-responses-v1' | 'google-gemini-v1' | 'unknown';

export type Citation =
  | {
      kind: 'url';
      url: string;
      title?: string;
      start?: number;
      end?: number;
      cited_text?: string;
      opaque?: string;
    }
  | {
      kind: 'char' | 'page' | 'block';
      document: number;
      title?: string;
      start: number;
      end: number;
      cited_text: string;
      file_id?: string;
    }
  | {
      kind: 'search_result';
      index: number;
      source: string;
      title?: string;
      start: number;
      end: number;
      cited_text: string;
    };

export interface Logprob {
  token: string;
  logprob: number;
  bytes: number[] | null;
  top: { token: string; logprob: number; bytes: number[] | null }[];
}

export interface TextPart extends Base {
  type: 'text';
  text: string;
  citations?: Citation[];
  logprobs?: Logprob[];
}
export interface RefusalPart extends Base {
  type: 'refusal';
  text: string;
}
export interface ImagePart extends Base {
  type: 'image';
  src: MediaSource;
  detail?: 'auto' | 'low' | 'high' | 'original';
}
export interface AudioPart extends Base {
  type: 'audio';
  src: MediaSource;
  format?: string;
  transcript?: string;
}
export interface VideoPart extends Base {
  type: 'video';
  src: MediaSource;
}
export interface DocumentPart extends Base {
  type: 'document';
  src: MediaSource;
  name?: string;
  title?: string;
  context?: string;
  citations?: boolean;
}
export interface SearchResultPart extends Base {
  type: 'search_result';
  source: string;
  title: string;
  content: Part[];
  citations?: boolean;
}
export interface ReasoningPart extends Base {
  type: 'reasoning';
  text: string;
  kind: 'full' | 'summary' | 'encrypted';
  signature?: string;
  /** Opaque state (redacted thinking, encrypted content) that only its own family can read. */
  data?: string;
  id?: string;
  format: ReasoningFormat;
}
export interface ToolCallPart extends Base {
  type: 'tool_call';
  id: string;
  name: string;
  /** JSON text for a function, free text for a custom tool. Never parsed here, so its bytes are preserved. */
  arguments: string;
  kind: 'function' | 'custom';
  signature?: string;
  format?: ReasoningFormat;
}
export interface ToolResultPart extends Base {
  type: 'tool_result';
  tool_call_id: string;
  name?: string;
  content: Part[];
  is_error?: boolean;
}
/** A block of a server-side tool; it can be sent back only to its own family. */
export interface ServerToolPart extends Base {
  type: 'server_tool';
  family: Family;
  name: string;
  payload: unknown;
}

/** The kinds of parts. */
export interface Parts {
  text: TextPart;
  refusal: RefusalPart;
  image: ImagePart;
  audio: AudioPart;
  video: VideoPart;
  document: DocumentPart;
  search_result: SearchResultPart;
  reasoning: ReasoningPart;
  tool_call: ToolCallPart;
  tool_result: ToolResultPart;
  server_tool: ServerToolPart;
}

export type Part = Parts[keyof Parts];
