// The contracts of a dialect, a provider adapter and a relay. A call uses nothing else of a format: a new provider
// format is a folder that exports an Adapter, a new caller format one that exports a Dialect.

import type { TargetCapabilities, WireFacts } from '../../catalog/index.ts';
import type { JsonObject, ServiceError, Steps } from '../../kernel/index.ts';
import type { Gauges } from '../../limits/index.ts';
import { ProtocolFault } from '../wire/fault.ts';
import type { TopLevel } from '../wire/scan.ts';

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
  Tool,
  UpstreamFault,
  Usage,
} from './types.ts';

/** What an adapter may know about the endpoint it writes for (part of the catalog's endpoint). */
export interface Target {
  endpoint_id: string;
  provider: string;
  family: Family;
  /** The provider's kind; within family `embed_rerank` it decides the wire format. */
  kind?: string;
  /** Name of the model's tokenizer, when it is known. */
  tokenizer?: string;
  upstream_model: string;
  region: string;
  /** Capabilities that both the model and the endpoint have. */
  capabilities: TargetCapabilities;
  flags: readonly string[];
  /** Top-level members of its answers that no caller gets. */
  hide?: readonly string[];
}

/** An HTTP request to a provider, without credentials; the transport adds them. */
export interface UpstreamRequest {
  /** Path below the provider's base_url, e.g. `/chat/completions`. */
  path: string;
  /** Flat list (name, value, name, value, …) without content-type, accept and credentials. */
  headers: string[];
  body: Buffer;
}

export interface EncodeOptions {
  stream: boolean;
  /** Output cap to send, in tokens; null: none is sent, and the model's own maximum applies. */
  max_tokens: number | null;
  /** HMAC of the end user's id, or null. */
  user: string | null;
  /** HMAC of the cache key, or null. */
  cache_key: string | null;
  /** Members of `svc.provider_options` for this provider, merged last into the body. */
  extra: JsonObject;
  /** The call uses the caller's own provider key, so members that concern the caller's account may be sent. */
  own_key?: true;
}

/** Kinds of parts that have a `src`. */
export type MediaType = 'image' | 'audio' | 'video' | 'document';

export interface StreamDecoder {
  /**
   * Accepts the provider's bytes in pieces of any size and returns the events that they complete. Malformed bytes
   * become an event of type `error`; anything thrown is a defect of ours (`guarded`).
   */
  push(bytes: Buffer): CanonicalEvent[];
  /** The provider closed the connection: closes open parts and returns what remains. */
  end(): CanonicalEvent[];
}

/** A provider's own count of a prompt, in tokens. */
export interface PromptCount {
  input_tokens: number;
  /** Further members of the provider's answer, for a caller of the same wire format. */
  more?: JsonObject;
}

/** The size of a prompt in tokens, and what counted it. */
export interface Counted {
  readonly model: string;
  readonly input_tokens: number;
  readonly source: 'exact' | 'estimate';
  /** What counted: a tokenizer, `provider` or `bytes-v1`. */
  readonly tokenizer: string;
  /** Further members of the provider's answer, for a caller of the same wire format. */
  readonly more: JsonObject;
}

/** How to ask a provider for the size of a prompt without having it answered. */
export interface PromptCounting {
  /** The request for the size of `sent`, which is a request that `encode` or the raw lane wrote. */
  request(sent: UpstreamRequest, target: Target): UpstreamRequest;
  /** @throws ProtocolFault when a 2xx answer is not in the provider's format. */
  read(body: Buffer): PromptCount;
}

export interface Adapter {
  readonly family: Family;
  /**
   * What the family does with each member of a request. Null: it takes the canonical form unchanged, or serves only
   * tasks.
   */
  readonly coverage: OfRequest<InRequest> | null;
  /** Facts that code outside the formats asks for: catalog, routing, prices, telemetry. */
  readonly wire: WireFacts;
  /**
   * What a server tool of this format asks of a web search; undefined when it is another tool. Null: a caller of the
   * native dialect cannot use files and tools of this family.
   */
  readonly searchTool: ((tool: JsonObject, path: string) => SearchPreferences | undefined) | null;
  /** Null: the family's providers do not offer it. */
  readonly counting: PromptCounting | null;
  /** Tokens of the prompt, for a family that counts by a rule. Null: only the provider knows. */
  readonly promptTokens: ((request: CanonicalRequest) => number) | null;
  /**
   * Whether media of this `type` at `url` must be fetched and sent as bytes. The call fetches them before `encode`,
   * which then sees base64 (call/attempt/media.ts).
   */
  inlines(type: MediaType, url: string): boolean;
  /** Whether `target` runs `tool`, which is no function or custom tool; one that it does not run is left out. */
  runs(tool: Tool, request: CanonicalRequest, target: Target): boolean;
  /** What of `request` would be lost on `target`; empty when nothing. Pure. */
  losses(request: CanonicalRequest, target: Target): Loss[];
  /** Writes the request for `target` (canonical lane). The losses have been accepted before. */
  encode(request: CanonicalRequest, target: Target, options: EncodeOptions): UpstreamRequest;
  /**
   * Reads a whole 2xx answer. The results of a task are in the provider's order; `settleTask` sorts them. @throws
   * ProtocolFault when it is not in the family's format.
   */
  decode(body: Buffer, request: CanonicalRequest, target: Target): CanonicalAnswer;
  decoder(request: CanonicalRequest, target: Target): StreamDecoder;
  /** Classifies a non-2xx answer, or a whole 2xx body that came where a stream was requested. */
  classify(status: number, headers: Readonly<Record<string, string>>, body: Buffer): UpstreamFault;
}

/** Thrown for an error object in an answer with status 200. `fault` says what it would have been as an HTTP error. */
export class StreamErrorFault extends ProtocolFault {
  readonly fault: UpstreamFault;

  constructor(fault: UpstreamFault) {
    super(fault.message);
    this.fault = fault;
  }
}

export interface StreamWriter {
  /** Text for the caller; '' when the event writes nothing yet. Stop reasons are held back until `end`. */
  write(event: CanonicalEvent): string;
  /** The stop reasons held back, usage, `svc` and end marks. */
  end(end: ReplyEnd): string;
  /** The dialect's error event and end marks. */
  fail(fault: StreamFault, end: ReplyEnd): string;
  /** A comment or ping, sent after a silence. */
  keepAlive(): string;
}

export interface Dialect {
  readonly name: DialectName;
  /** What the dialect does with each member of an answer. Null: answers to messages do not occur in the dialect. */
  readonly coverage: OfAnswer<InAnswer> | null;
  /**
   * Reads a parsed body into the canonical form, checking every field; header names in `headers` are lower-case.
   * @throws ServiceError invalid_request / unsupported_parameter with `param`.
   */
  read(body: unknown, headers: Readonly<Record<string, string | undefined>>): CanonicalRequest;
  /** The same in steps; null: bodies of the dialect have no long lists that are checked item by item. */
  readonly readInSteps:
    | ((body: unknown, headers: Readonly<Record<string, string | undefined>>) => Steps<CanonicalRequest>)
    | null;
  /** The whole answer as JSON text. */
  write(answer: CanonicalAnswer, meta: ReplyMeta, end: ReplyEnd): string;
  writer(meta: ReplyMeta): StreamWriter;
  /** The error body of `error`. */
  error(error: ServiceError, place: ErrorPlace): JsonObject;
  /** The HTTP status with which `error` is sent to clients of the dialect. */
  status(error: ServiceError): number;
  /**
   * Appends rate-limit headers for `gauges` to the flat list `headers`, under the names that the dialect's clients
   * react to.
   */
  addLimits(headers: string[], gauges: Gauges): void;
  /** Header that names the organization to clients; null: clients of the dialect read none. */
  readonly organization_header: string | null;
  /**
   * Members of the body that redaction does not change: either they control the call and are not sent on, or they
   * leave the process only as HMACs, and redacted values would all have the same one.
   */
  readonly spared: readonly string[];
  /**
   * Members that are only valid in one account at a provider, and the family of that provider; null: there are none.
   */
  readonly account: { readonly family: Family; readonly members: readonly string[] } | null;
  /** Whether an answer repeats members of its request. */
  readonly repeats: boolean;
  /** The kind of operation, as named in OpenTelemetry's conventions (`gen_ai.operation.name`). */
  readonly operation: string;
}

/** What a relay has seen of a provider's stream so far; the call reads it after each push. */
export interface RelayState {
  /** A semantic event was seen: content, refusal, reasoning, tool call or finish. */
  semantic: boolean;
  /** Bytes of text, reasoning and tool arguments so far, to estimate the output when usage is missing. */
  output_bytes: number;
  /** Events that held any of these bytes, of all candidates. */
  content_events: number;
  /** Tool calls that have begun, over all candidates. */
  tool_calls: number;
  usage: Usage | null;
  /** Input counts that arrive before the output (Anthropic's message_start). */
  early_usage: Partial<Usage> | null;
  stop: Stop | null;
  /** The provider's end mark was seen. */
  finished: boolean;
  fault: UpstreamFault | null;
  service_tier: string | null;
  /** The provider's id of the answer. */
  upstream_id: string | null;
}

/**
 * Turns a provider's bytes into bytes for the caller: in the raw lane by copying, in the canonical lane by decoding
 * and writing. `push` returns everything that one read produced in one piece, so that one read causes one write.
 */
export interface Relay {
  readonly state: RelayState;
  push(bytes: Buffer): Buffer | string;
  /**
   * The provider closed the connection without an error; returns what must be sent before `end` (usually nothing).
   */
  close(): Buffer | string;
  end(end: ReplyEnd): Buffer | string;
  fail(fault: StreamFault, end: ReplyEnd): Buffer | string;
  keepAlive(): string;
}

/** The raw lane of a dialect: used when the endpoint's family has the same wire format. */
export interface RawLane {
  readonly dialect: DialectName;
  readonly family: Family;
  /** Whether `target` takes the caller's own bytes of `request`; absent: every endpoint of the family does. */
  serves?(target: Target, request: CanonicalRequest): boolean;
  /**
   * The caller's bytes with only the gateway's fields replaced, without parsing and printing the rest. `top` tells
   * where the members of the body are, when that is known.
   * @throws ServiceError invalid_json when a field to be replaced occurs twice.
   */
  request(
    body: Buffer,
    request: CanonicalRequest,
    target: Target,
    options: EncodeOptions,
    top?: TopLevel,
  ): UpstreamRequest;
  /**
   * Reads from a whole answer what metering needs; `finish` returns the caller's bytes, with id, model and `svc`
   * replaced.
   * @throws StreamErrorFault for an error object, ProtocolFault when it is not in the family's format.
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
  /** The provider's id of the answer. */
  upstream_id: string | null;
  finish(meta: ReplyMeta, end: ReplyEnd): Buffer;
}
