// What a dialect, a provider adapter and a relay are. A call knows only these; a new provider is one folder
// that exports an Adapter, a new dialect one folder that exports a Dialect.
import type { TargetCapabilities, WireFacts } from '../../catalog/index.ts';
import type { JsonObject, ServiceError } from '../../kernel/index.ts';
import type { Gauges } from '../../limits/index.ts';
import { ProtocolFault } from '../wire/fault.ts';

export type { TargetCapabilities };

import type { InAnswer, InRequest, OfAnswer, OfRequest } from './coverage.ts';
import type {
  CanonicalAnswer,
  CanonicalEvent,
  CanonicalRequest,
  DialectName,
  ErrorPlace,
  Family,
  Loss,
  ReplyEnd,
  ReplyMeta,
  SearchPreferences,
  Stop,
  StreamFault,
  UpstreamFault,
  Usage,
} from './types.ts';

/** What an adapter may know of the endpoint it writes for (a narrow view of the catalog's endpoint). */
export interface Target {
  endpoint_id: string;
  provider: string;
  family: Family;
  /** Kind of the provider, which tells the wire within family `embed_rerank`. */
  kind?: string;
  /** Name of the model's tokenizer, where it is known. */
  tokenizer?: string;
  upstream_model: string;
  region: string;
  /** Capabilities of model and endpoint, already narrowed. */
  capabilities: TargetCapabilities;
  flags: readonly string[];
}

/** An HTTP request for a provider, without credentials (the transport adds them). */
export interface UpstreamRequest {
  /** Path below the provider's base_url, e.g. `/chat/completions`. */
  path: string;
  /** Flat list name, value, name, value… beyond content-type, accept and credentials. */
  headers: string[];
  body: Buffer;
}

export interface EncodeOptions {
  stream: boolean;
  /** Output cap to send; null = the model's own maximum is the bound. */
  max_tokens: number | null;
  /** HMAC of the end user, or null. */
  user: string | null;
  /** HMAC of the cache key, or null. */
  cache_key: string | null;
  /** Members of `svc.provider_options` for this provider, merged last. */
  extra: JsonObject;
  /** Sent with the caller's own provider key: what is the caller's account's business may go on. */
  own_key?: true;
}

/** Parts that have a `src`. */
export type MediaType = 'image' | 'audio' | 'video' | 'document';

export interface StreamDecoder {
  /**
   * Takes any split of the upstream's bytes; returns the events that are complete. What is wrong with the bytes is an
   * event of type `error`; what is thrown is a defect of ours (`guarded`).
   */
  push(bytes: Buffer): CanonicalEvent[];
  /** The upstream closed; closes open parts and reports what is still known. */
  end(): CanonicalEvent[];
}

/** A provider's own count of a prompt. */
export interface PromptCount {
  input_tokens: number;
  /** What else it said, for a caller of the same wire. */
  more?: JsonObject;
}

/** The size of a prompt, and who counted. */
export interface Counted {
  readonly model: string;
  readonly input_tokens: number;
  readonly source: 'exact' | 'estimate';
  /** Who counted: a tokenizer, `provider` or `bytes-v1`. */
  readonly tokenizer: string;
  /** What else the provider said, for a caller of its own wire. */
  readonly more: JsonObject;
}

/** How a provider is asked for the size of a prompt without answering it. */
export interface PromptCounting {
  /** The question about `sent`, a request as `encode` or the raw lane wrote it. */
  request(sent: UpstreamRequest, target: Target): UpstreamRequest;
  /** @throws ProtocolFault when a 2xx answer is not the provider's format. */
  read(body: Buffer): PromptCount;
}

export interface Adapter {
  readonly family: Family;
  /** What becomes of each member of a request; null: the family takes the form as it is, or serves tasks alone. */
  readonly coverage: OfRequest<InRequest> | null;
  /** What those ask of the family who know no formats: catalog, routing, prices, telemetry. */
  readonly wire: WireFacts;
  /**
   * What a server tool of this wire asks of a search of the web; undefined when it is another tool. null: a caller of
   * the native dialect may name no files and tools of this family.
   */
  readonly searchTool: ((tool: JsonObject, path: string) => SearchPreferences | undefined) | null;
  /** null: the family's providers cannot be asked. */
  readonly counting: PromptCounting | null;
  /** Tokens of the prompt, of a family that counts by a rule; null: only the provider knows. */
  readonly promptTokens: ((request: CanonicalRequest) => number) | null;
  /**
   * Whether media of this `type` at `url` must be fetched and encoded as bytes.
   * The call fetches them before `encode`, which then sees base64 (call/attempt/media.ts).
   */
  inlines(type: MediaType, url: string): boolean;
  /** What of `request` would be lost on `target`; [] when nothing. Pure. */
  losses(request: CanonicalRequest, target: Target): Loss[];
  /** Writes the request for `target` (canonical lane). Assumes that losses were decided. */
  encode(request: CanonicalRequest, target: Target, options: EncodeOptions): UpstreamRequest;
  /** Reads a whole 2xx answer; of a task as the provider gave it (`settleTask` puts it in order). @throws ProtocolFault when it is not the family's format. */
  decode(body: Buffer, request: CanonicalRequest, target: Target): CanonicalAnswer;
  decoder(request: CanonicalRequest, target: Target): StreamDecoder;
  /** Class of a non-2xx answer, or of a whole 2xx body where a stream was asked for. */
  classify(status: number, headers: Readonly<Record<string, string>>, body: Buffer): UpstreamFault;
}

/** An error object where an answer belongs (status 200): `fault` says what it would have been as an HTTP refusal. */
export class StreamErrorFault extends ProtocolFault {
  readonly fault: UpstreamFault;

  constructor(fault: UpstreamFault) {
    super(fault.message);
    this.fault = fault;
  }
}

export interface StreamWriter {
  /** Bytes for the caller, '' when the event writes nothing yet. Finish marks are held until `end`. */
  write(event: CanonicalEvent): string;
  /** Held finish, usage, `svc`, end marks. */
  end(end: ReplyEnd): string;
  /** The dialect's in-stream error and end marks. */
  fail(fault: StreamFault, end: ReplyEnd): string;
  /** Comment or ping, sent after silence. */
  keepAlive(): string;
}

export interface Dialect {
  readonly name: DialectName;
  /** What becomes of each member of an answer; null: the dialect asks for no answers to messages. */
  readonly coverage: OfAnswer<InAnswer> | null;
  /**
   * Reads a parsed body into the canonical form; `headers` are lower-case. Checks every field.
   * @throws ServiceError invalid_request / unsupported_parameter with `param`.
   */
  read(body: unknown, headers: Readonly<Record<string, string | undefined>>): CanonicalRequest;
  /** The whole answer as JSON text. */
  write(answer: CanonicalAnswer, meta: ReplyMeta, end: ReplyEnd): string;
  writer(meta: ReplyMeta): StreamWriter;
  /** Error envelope. */
  error(error: ServiceError, place: ErrorPlace): JsonObject;
  /** HTTP status that clients of the dialect are told of `error`. */
  status(error: ServiceError): number;
  /** Adds the buckets of `gauges` to the flat list `headers`, in words that clients slow down by. */
  addLimits(headers: string[], gauges: Gauges): void;
  /** Header that tells a client its organization; null: clients of the dialect know none. */
  readonly organization_header: string | null;
  /**
   * Members of the body that redaction leaves as they are: they steer the call and go no further, or they leave the
   * process as HMACs alone, where redacted ones would all be the same.
   */
  readonly spared: readonly string[];
  /** Members that mean something in one account at a provider, and whose family's; null: the dialect has none. */
  readonly account: { readonly family: Family; readonly members: readonly string[] } | null;
  /** Whether a reply repeats members of its request. */
  readonly repeats: boolean;
  /** What the call is, in the words of OpenTelemetry's conventions (`gen_ai.operation.name`). */
  readonly operation: string;
}

/** What a relay has seen so far of an upstream stream; read by the call after each push. */
export interface RelayState {
  /** A semantic event was seen: content, refusal, reasoning, tool call or finish. */
  semantic: boolean;
  /** Bytes of text, reasoning and tool arguments produced so far (for counting when usage is missing). */
  output_bytes: number;
  /** Tool calls begun, of all candidates. */
  tool_calls: number;
  usage: Usage | null;
  /** Input counts that come before the output (Anthropic's message_start). */
  early_usage: Partial<Usage> | null;
  stop: Stop | null;
  /** The upstream's end mark was seen. */
  finished: boolean;
  fault: UpstreamFault | null;
  service_tier: string | null;
}

/**
 * Turns upstream bytes into caller bytes, in the raw lane by copying, in the canonical lane by decoding and
 * writing. One write per upstream read: `push` returns everything of that read in one piece.
 */
export interface Relay {
  readonly state: RelayState;
  push(bytes: Buffer): Buffer | string;
  /** The upstream closed without error; returns bytes still due before `end` (usually none). */
  close(): Buffer | string;
  end(end: ReplyEnd): Buffer | string;
  fail(fault: StreamFault, end: ReplyEnd): Buffer | string;
  keepAlive(): string;
}

/** The raw lane of a dialect whose family is equal. */
export interface RawLane {
  readonly dialect: DialectName;
  readonly family: Family;
  /** Whether `target` has the path; absent: every endpoint of the family has it. */
  serves?(target: Target): boolean;
  /**
   * The caller's bytes with only our fields rewritten (spliced, not stringified). `text` is the decoded body where it
   * is at hand; it makes the search for our fields cheaper.
   * @throws ServiceError invalid_json when a key we rewrite occurs twice.
   */
  request(
    body: Buffer,
    request: CanonicalRequest,
    target: Target,
    options: EncodeOptions,
    text?: string,
  ): UpstreamRequest;
  /**
   * Reads what metering needs of a whole answer; `finish` gives the caller's bytes: id, model and svc replaced.
   * @throws StreamErrorFault for an error object, ProtocolFault when it is not the family's format.
   */
  whole(body: Buffer, request: CanonicalRequest, target: Target): RawWhole;
  relay(meta: ReplyMeta, request: CanonicalRequest, target: Target): Relay;
}

export interface RawWhole {
  usage: Usage | null;
  stop: Stop | null;
  output_bytes: number;
  tool_calls: number;
  service_tier: string | null;
  finish(meta: ReplyMeta, end: ReplyEnd): Buffer;
}
