// The canonical form: what a call means, independent of any wire format. Every dialect reads into it and every family
// is written from it, so no pair of formats needs code of its own. The native dialect sends it almost unchanged.
import type { ErrorCode, JsonObject } from '../../kernel/index.ts';
import type { Cost, CostLine, Usage } from '../../pricing/index.ts';
import type { RoutePreferences } from '../../routing/index.ts';
import type { Stop, Warning } from './answer.ts';
import type { AppliedEdit, ContextEdit } from './edits/edit.ts';
import type { Loss } from './loss.ts';
import type { DialectName, Family } from './names.ts';
import type { Generation } from './parameters.ts';
import type { CacheHint, Part } from './parts.ts';
import type { SearchPreferences } from './search.ts';
import type { Ranked, Task, Vector } from './tasks/task.ts';
import type { SpacedName } from './tools/namespaces.ts';

export type {
  Candidate,
  CanonicalAnswer,
  CanonicalEvent,
  Events,
  FaultClass,
  Stop,
  StopReason,
  UpstreamFault,
  Warning,
} from './answer.ts';
export type {
  AudioPart,
  CacheHint,
  Citation,
  DocumentPart,
  ImagePart,
  Logprob,
  MediaSource,
  Part,
  Parts,
  ReasoningFormat,
  ReasoningPart,
  RefusalPart,
  SearchResultPart,
  ServerToolPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  VideoPart,
} from './parts.ts';
export type {
  EmbedContent,
  EmbedImage,
  EmbedInput,
  EmbedPart,
  EmbedTask,
  InputType,
  RerankTask,
} from './tasks/task.ts';
export type {
  Cost,
  CostLine,
  DialectName,
  Family,
  Generation,
  Loss,
  Ranked,
  RoutePreferences,
  SearchPreferences,
  Task,
  Usage,
  Vector,
};

export type RoleName = 'system' | 'user' | 'assistant' | 'tool';

export interface Message {
  role: RoleName;
  name?: string;
  content: Part[];
  ext?: JsonObject;
}

export interface Tool {
  kind: 'function' | 'custom' | 'server';
  name: string;
  description?: string;
  schema?: JsonObject;
  strict?: boolean;
  format?: JsonObject;
  /** Family that the server or client toolset belongs to; `payload` is in its wire format. */
  family?: Family;
  payload?: JsonObject;
  /** Present when the tool is a web search; other families with a web search get it in their own format. */
  search?: SearchPreferences;
  /** Body member that requests it, when that is not an item of `tools`. */
  member?: string;
  /** Where the caller wrote it, where that is not its place in `tools`. */
  path?: string;
  /** A toolset of a vendor's that the caller itself runs (`bash_20250124`, `local_shell`). */
  by_caller?: true;
  cache?: CacheHint;
  ext?: JsonObject;
}

export type ToolChoice =
  | { type: 'auto' | 'none' | 'required'; names?: string[] }
  | { type: 'tool'; name: string };
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

export interface ReasoningPreferences {
  mode?: 'off' | 'adaptive' | 'enabled' | 'between_tools';
  effort?: Effort;
  max_tokens?: number;
  display?: 'summary' | 'full' | 'omitted';
}

export interface OutputPreferences {
  modalities?: string[];
  format?: { type: 'text' | 'json' | 'json_schema'; name?: string; schema?: JsonObject; strict?: boolean };
  verbosity?: 'low' | 'medium' | 'high';
  audio?: JsonObject;
}

/** What a call of the completions dialect asks for that only a model for text completion can do; absent: nothing. */
export interface CompletionPreferences {
  /** Number of prompts; each is a message and has choices of its own. */
  prompts: number;
  /** Number of token ids in prompts that are given as ids; those are in `ext.prompt_tokens` of their message. */
  tokens: number;
  /** Fields that request something: `suffix`, `echo`, `best_of`, `logprobs`. */
  asks: readonly string[];
  best_of: number;
  /** With `echo`: bytes of each prompt. Its choices begin with the prompt, which does not count as output. */
  echo?: readonly number[];
}

export type Compat = 'strict' | 'warn' | 'drop';

/** The caller's `svc` object (chat, messages), merged with the headers that have the same meaning. */
export interface SvcOptions {
  route: RoutePreferences;
  metadata: Record<string, string>;
  compat: Compat;
  /** Provider id → members merged last into the body for that provider. */
  provider_options: Record<string, JsonObject>;
  app?: string;
  session?: string;
  /** What the calls of the run `id` may cost together. */
  budget?: { id: string; max_micro: number };
  reasoning: 'include' | 'exclude';
}

export interface CanonicalRequest {
  /** `vendor/model` as the caller wrote it. */
  model: string;
  messages: Message[];
  /** The path of each message in the caller's body, in dialects where it is not `messages[i]`. */
  paths?: readonly string[];
  /** Member names of the caller's dialect, by their names in chat, which shared code uses in messages. */
  words?: ReadonlyMap<string, string>;
  tools?: Tool[];
  tool_choice?: ToolChoice;
  parallel_tools?: boolean;
  generation: Generation;
  reasoning?: ReasoningPreferences;
  output?: OutputPreferences;
  cache?: { key?: string; hint?: CacheHint };
  service_tier?: string;
  /** The caller's end-user id as sent; only its HMAC ever leaves the process. */
  user?: string;
  /**
   * A task other than answering messages; absent: generation. With a task, `messages` is empty and nothing is
   * streamed.
   */
  task?: Task;
  stream: boolean;
  /** Chat: whether the caller asked for the usage chunk. */
  include_usage: boolean;
  svc: SvcOptions;
  dialect: DialectName;
  /** Body members that this form does not name: sent unchanged in the raw lane, a loss otherwise. */
  ext?: JsonObject;
  /** Chat: the request used `functions`/`function_call`, so the answer does too. */
  legacy_functions?: boolean;
  /** The model is asked to complete a text, not to answer a message. */
  continues?: true;
  completion?: CompletionPreferences;
  /**
   * Messages: `anthropic-version`, the requested betas, and account headers that are kept for the caller's own
   * provider key.
   */
  anthropic?: { version?: string; betas: string[]; headers?: Record<string, string> };
  /** Responses: request members that the answer repeats, as sent, and whether reasoning state was requested. */
  echo?: { members: JsonObject; encrypted_reasoning: boolean };
  /** Responses: tools that came in a namespace, by the names of the functions that they became. */
  namespaces?: ReadonlyMap<string, SpacedName>;
  /** What of the conversation goes before the model reads it; `ext` has it too, in the caller's words. */
  context_edits?: readonly ContextEdit[];
  /** What reading the request already had to drop or ignore (`store_ignored`). */
  warnings: Warning[];
}

/** What an error refers to: the request that it ended and the address of the error documentation. */
export interface ErrorPlace {
  readonly request_id: string;
  /** Public address of the gateway. */
  readonly base_url: string;
}

/** What the gateway knows about a call before it sends the first byte. */
export interface ReplyMeta extends ErrorPlace {
  /** `vendor/model` that answers. */
  model: string;
  /** Epoch seconds. */
  created: number;
  provider: string;
  endpoint_id: string;
  include_usage: boolean;
  reasoning: 'include' | 'exclude';
  legacy_functions: boolean;
  /** Estimated prompt tokens, for Anthropic's message_start when the family has not reported any yet. */
  input_estimate: number;
  /** Native: the endpoint's name for the model, its place, and which attempt of the call this is. */
  upstream_model?: string;
  region?: string;
  attempt?: number;
  /** What the gateway itself has cleared; absent where no edits were asked for, or the provider does them. */
  applied_edits?: readonly AppliedEdit[];
  /** What functions are called by the caller, by the names that the provider has for them; absent: the same. */
  namespaces?: Readonly<Record<string, SpacedName>>;
  echo?: ReplyEcho;
}

/**
 * Responses: what the answer repeats of its request. The first two events and the last contain it, so a running
 * stream keeps it as one flat text (JSON members without braces): instructions, tools and options, never the input.
 */
export interface ReplyEcho {
  members: string;
  /** `include` names `reasoning.encrypted_content`. */
  encrypted_reasoning: boolean;
}

/** Milliseconds since the request arrived, and from the start of the attempt to the provider's first event. */
interface ReplyTiming {
  ttft_ms: number | null;
  duration_ms: number;
  upstream_ttft_ms: number | null;
}

/** What is known at the end. It is sent as `svc` in the last JSON object of the answer, with the usage beside it. */
export interface ReplyEnd {
  usage: Usage;
  cost: Cost;
  warnings: Warning[];
  /** Replaces the provider's stop reason: credit used up, cap enforced (docs/outcomes.md#money-ends). */
  stop?: Stop;
  /** Measured when the answer ends; absent when nothing was produced. */
  timing?: ReplyTiming;
}

/** A refusal within a running stream. */
export interface StreamFault {
  code: ErrorCode;
  message: string;
  details?: JsonObject;
  /** After so long a repeat makes sense; said where no content was sent. */
  retry_after_ms?: number;
}
