// The canonical form: what a call means, apart from any wire. Every dialect reads into it and every family is
// written from it, so a pair of formats needs no code of its own. Also the native wire.
import type { ErrorCode, JsonObject } from '../../kernel/index.ts';
import type { Cost, CostLine, Usage } from '../../pricing/index.ts';
import type { RoutePreferences } from '../../routing/index.ts';
import type { Stop, Warning } from './answer.ts';
import type { Loss } from './loss.ts';
import type { DialectName, Family } from './names.ts';
import type { Generation } from './parameters.ts';
import type { CacheHint, Part } from './parts.ts';
import type { SearchPreferences } from './search.ts';
import type { Ranked, Task, Vector } from './tasks/task.ts';

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
  /** Family whose server or client toolset this is; `payload` is its wire form. */
  family?: Family;
  payload?: JsonObject;
  /** It searches the web; other families that do so take the request in words of their own. */
  search?: SearchPreferences;
  /** Body member that asks for it, where that is no item of `tools`. */
  member?: string;
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

/** What a call of the completions dialect asks for that only a model that continues texts can do; absent: nothing. */
export interface CompletionPreferences {
  /** Each is a message and has its own choices. */
  prompts: number;
  /** Token ids of prompts that are given as such; they stand in their message's `ext.prompt_tokens`. */
  tokens: number;
  /** Fields that ask for something: `suffix`, `echo`, `best_of`, `logprobs`. */
  asks: readonly string[];
  best_of: number;
  /** With `echo`: bytes of each prompt, with which its choices begin and which are no output. */
  echo?: readonly number[];
}

export type Compat = 'strict' | 'warn' | 'drop';

/** The caller's `svc` object (chat, messages) after reading; header alternatives already merged in. */
export interface SvcOptions {
  route: RoutePreferences;
  metadata: Record<string, string>;
  compat: Compat;
  /** Provider id → members merged last into that provider's upstream body. */
  provider_options: Record<string, JsonObject>;
  app?: string;
  session?: string;
  reasoning: 'include' | 'exclude';
}

export interface CanonicalRequest {
  /** `vendor/model` as the caller wrote it. */
  model: string;
  messages: Message[];
  /** The path of each of `messages` in the caller's body, in dialects where it is not `messages[i]`. */
  paths?: readonly string[];
  /** The caller's names of members that shared code calls by their names in chat, where the dialect has other names. */
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
  /** What is asked in place of an answer to messages; absent: generation. `messages` are then empty, nothing streams. */
  task?: Task;
  stream: boolean;
  /** Chat: whether the caller asked for the usage chunk. */
  include_usage: boolean;
  svc: SvcOptions;
  dialect: DialectName;
  /** Body members this form does not name: forwarded in the raw lane, a loss elsewhere. */
  ext?: JsonObject;
  /** Chat: the request used `functions`/`function_call`, so the reply does too. */
  legacy_functions?: boolean;
  /** The model is asked to continue a text, not to answer a message. */
  continues?: true;
  completion?: CompletionPreferences;
  /** Messages: `anthropic-version`, the betas asked for, and account headers kept for the caller's own provider key. */
  anthropic?: { version?: string; betas: string[]; headers?: Record<string, string> };
  /** Responses: members that the reply repeats, as sent, and whether reasoning state was asked for. */
  echo?: { members: JsonObject; encrypted_reasoning: boolean };
  /** What reading itself had to drop or ignore (`store_ignored`). */
  warnings: Warning[];
}

/** What an error tells beside itself: which request it ended, and where the page of all codes is. */
export interface ErrorPlace {
  readonly request_id: string;
  /** Public address of the gateway. */
  readonly base_url: string;
}

/** What the gateway knows of a call before the first byte goes out. */
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
  /** Counted prompt tokens, for Anthropic's message_start where the family has reported none. */
  input_estimate: number;
  /** Native: what the endpoint calls the model, where it stands, and which attempt of the call it is. */
  upstream_model?: string;
  region?: string;
  attempt?: number;
  echo?: ReplyEcho;
}

/**
 * Responses: what the reply repeats of its request. The first two events and the last repeat it, so a running stream
 * keeps it: as one flat text (the JSON members without braces) of instructions, tools and options, never the input.
 */
export interface ReplyEcho {
  members: string;
  /** `include` names `reasoning.encrypted_content`. */
  encrypted_reasoning: boolean;
}

/** Milliseconds since the request came, and to the provider's first event since its attempt began. */
interface ReplyTiming {
  ttft_ms: number | null;
  duration_ms: number;
  upstream_ttft_ms: number | null;
}

/** What is known at the end: goes into the last JSON object of the answer as `svc`, with the usage beside it. */
export interface ReplyEnd {
  usage: Usage;
  cost: Cost;
  warnings: Warning[];
  /** Overrides the upstream's stop: credit reached, cap enforced (docs/outcomes.md#money-ends). */
  stop?: Stop;
  /** Milliseconds as they stand when the answer ends; absent where nothing was produced. */
  timing?: ReplyTiming;
}

/** A refusal in a running stream. */
export interface StreamFault {
  code: ErrorCode;
  message: string;
  details?: JsonObject;
}
