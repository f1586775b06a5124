// The lane of one attempt: raw when dialect and family are the same format, canonical otherwise. It decides what is
// sent, how the answer is read, and how a whole answer is written for the caller.
import { type Endpoint, isNameOf } from '../../../catalog/index.ts';
import { hmacSha256, ServiceError } from '../../../kernel/index.ts';
import { Assembler } from '../../canonical/assemble.ts';
import type {
  Adapter,
  Dialect,
  EncodeOptions,
  RawLane,
  RawWhole,
  Relay,
  StreamDecoder,
  StreamWriter,
  Target,
  UpstreamRequest,
} from '../../canonical/contract.ts';
import { canonicalRelay } from '../../canonical/relay.ts';
import { settleTask } from '../../canonical/tasks/settle.ts';
import { dropsTools } from '../../canonical/tools/server-tools.ts';
import type {
  CanonicalAnswer,
  CanonicalEvent,
  CanonicalRequest,
  Family,
  ReplyEnd,
  ReplyMeta,
  Task,
  Warning,
} from '../../canonical/types.ts';
import type { Credential } from '../../upstream/credentials.ts';
import type { Exchange, ExchangeHandler } from '../../upstream/exchange.ts';
import { scanObject } from '../../wire/scan.ts';
import type { Clock } from '../clock.ts';
import type { AttemptRecord, CallDeps, Incoming } from '../types.ts';
import type { Classify, Reading } from './attempt.ts';
import { echoOf, edited } from './edits.ts';
import { type FetchedMedia, withMedia } from './media.ts';
import type { Planned } from './terms.ts';

/** Returns the canonical answer so far; null: there is none yet. */
export type Kept = () => CanonicalAnswer | null;

export interface Lane {
  /** The raw lane; null in the canonical lane. */
  readonly raw: RawLane | null;
  readonly reading: Reading;
  readonly classify: Classify;
  readonly meta: ReplyMeta;
  readonly record: AttemptRecord;
  send(handler: ExchangeHandler): Exchange;
  /** The canonical answer so far, for an idempotent replay; null when it is not kept. */
  readonly kept: Kept | null;
  /** What the request loses on its endpoint. */
  readonly lost: readonly Warning[];
  /** Handle of the provider key in use, to report back to the pool; null when there is none. */
  readonly credential: string | null;
}

const targets = new WeakMap<Endpoint, Target>();

/** What an adapter may know about `endpoint`; one object per endpoint and catalog snapshot. */
export function targetOf(endpoint: Endpoint): Target {
  let target = targets.get(endpoint);
  if (target === undefined) {
    target = {
      endpoint_id: endpoint.id,
      provider: endpoint.provider,
      // A catalog contains only families of the formats that it was read with.
      family: endpoint.family as Family,
      upstream_model: endpoint.upstream_model,
      region: endpoint.region,
      capabilities: endpoint.capabilities,
      flags: endpoint.flags,
      ...(endpoint.hide === undefined ? {} : { hide: endpoint.hide }),
      ...(endpoint.kind === undefined ? {} : { kind: endpoint.kind }),
      ...(endpoint.tokenizer === undefined ? {} : { tokenizer: endpoint.tokenizer }),
    };
    targets.set(endpoint, target);
  }
  return target;
}

function collector(assembler: Assembler): StreamWriter {
  return {
    write(event) {
      assembler.add(event);
      return '';
    },
    end: () => '',
    fail: () => '',
    keepAlive: () => '',
  };
}

/** A decoder whose events are also added to `assembler`. */
function teeInto(decoder: StreamDecoder, assembler: Assembler): StreamDecoder {
  const keep = (events: CanonicalEvent[]) => {
    for (const event of events) assembler.add(event);
    return events;
  };
  return { push: (bytes) => keep(decoder.push(bytes)), end: () => keep(decoder.end()) };
}

/**
 * A raw relay beside which the answer is assembled: the bytes are passed on unchanged, and the answer can be
 * replayed.
 */
function alsoAssemble(relay: Relay, decoder: StreamDecoder, assembler: Assembler): Relay {
  const kept = teeInto(decoder, assembler);
  return {
    get state() {
      return relay.state;
    },
    push(bytes) {
      kept.push(bytes);
      return relay.push(bytes);
    },
    close() {
      kept.end();
      return relay.close();
    },
    end: (end) => relay.end(end),
    fail: (fault, end) => relay.fail(fault, end),
    keepAlive: () => relay.keepAlive(),
  };
}

function encodeOptions(
  incoming: Incoming,
  request: CanonicalRequest,
  planned: Planned,
  stream: boolean,
): EncodeOptions {
  const { org_pepper } = incoming.grant;
  const { endpoint, cap } = planned;
  const key = request.cache?.key;
  return {
    stream,
    max_tokens: cap,
    user:
      request.user === undefined
        ? null
        : hmacSha256(org_pepper, `${endpoint.provider} ${request.user}`).toString('hex'),
    cache_key: key === undefined ? null : hmacSha256(org_pepper, `cache ${key}`).toString('hex'),
    extra: request.svc.provider_options[endpoint.provider] ?? {},
    ...(endpoint.own_key === undefined ? {} : { own_key: true as const }),
  };
}

function replyMeta(
  incoming: Incoming,
  request: CanonicalRequest,
  facts: {
    planned: Planned;
    attempt: number;
    prompt_bytes: number;
    deps: CallDeps;
    applied: ReplyMeta['applied_edits'];
  },
): ReplyMeta {
  const { planned, attempt, prompt_bytes, deps, applied } = facts;
  return {
    request_id: incoming.request_id,
    base_url: deps.base_url,
    // The caller's own word for the model, as its vendor's client expects; a fallback is named by its id.
    model: isNameOf(request.model, planned.endpoint.model_id) ? request.model : planned.endpoint.model_id,
    created: Math.floor(deps.clock.nowMs() / 1_000),
    provider: planned.endpoint.provider,
    endpoint_id: planned.endpoint.id,
    include_usage: request.include_usage,
    reasoning: request.svc.reasoning,
    legacy_functions: request.legacy_functions === true,
    input_estimate: Math.max(1, Math.ceil(prompt_bytes / 4)),
    upstream_model: planned.endpoint.upstream_model,
    region: planned.endpoint.region,
    attempt,
    ...(applied === undefined ? {} : { applied_edits: applied }),
    ...(request.namespaces === undefined ? {} : { namespaces: Object.fromEntries(request.namespaces) }),
    ...echoOf(incoming.dialect, request),
  };
}

/**
 * The raw lane for `request` on `endpoint`; null when they have different wire formats. A body that mixes dialects
 * (`input` sent to chat completions) has none.
 */
export function rawLaneOf(
  deps: CallDeps,
  incoming: Pick<Incoming, 'dialect'>,
  request: CanonicalRequest,
  endpoint: Endpoint,
): RawLane | null {
  if (request.dialect !== incoming.dialect.name) return null;
  const lane = deps.raw_lanes.get(`${request.dialect} ${endpoint.family}`);
  const target = targetOf(endpoint);
  if (lane === undefined || lane.serves?.(target, request) === false) return null;
  return dropsTools(request, adapterOf(deps, endpoint), target) ? null : lane;
}

interface ReadingParts {
  readonly raw: RawLane | null;
  readonly adapter: Adapter;
  readonly dialect: Dialect;
  readonly meta: ReplyMeta;
  readonly target: Target;
  /** The request without its messages: all that reading an answer may use. */
  readonly asked: CanonicalRequest;
  /** The answer is also assembled, for an idempotent replay. */
  readonly keep: boolean;
}

type Reader = Pick<Lane, 'reading' | 'kept'>;

/** Reads a stream for a caller that wants a stream. */
function streamed(relay: Relay): Reading {
  return { relay, telling: { as: 'stream', relay } };
}

function rawReader(parts: ReadingParts, raw: RawLane): Reader {
  const { adapter, asked, keep, meta, target } = parts;
  const assembler = new Assembler();
  if (asked.stream) {
    const relay = raw.relay(meta, asked, target);
    if (!keep) return { reading: streamed(relay), kept: null };
    const both = alsoAssemble(relay, adapter.decoder(asked, target), assembler);
    return { reading: streamed(both), kept: () => assembler.answer() };
  }
  let body: Buffer | null = null;
  const whole = (bytes: Buffer) => {
    if (keep) body = bytes;
    return raw.whole(bytes, asked, target);
  };
  const kept = keep ? () => (body === null ? null : adapter.decode(body, asked, target)) : null;
  return { reading: { whole }, kept };
}

/** Reads vectors and rankings, which are never streamed. */
function taskReader(parts: ReadingParts, task: Task): Reader {
  const { adapter, asked, dialect, keep, target } = parts;
  let answer: CanonicalAnswer | null = null;
  const whole = (body: Buffer): RawWhole => {
    const read = settleTask(adapter.decode(body, asked, target), task);
    answer = read;
    return {
      usage: read.usage,
      stop: { reason: 'end_turn' },
      output_bytes: 0,
      tool_calls: 0,
      service_tier: null,
      upstream_id: read.upstream_id ?? null,
      finish: (meta, end) => Buffer.from(dialect.write(read, meta, end)),
    };
  };
  return { reading: { whole }, kept: keep ? () => answer : null };
}

function canonicalReader(parts: ReadingParts): Reader {
  const { adapter, asked, dialect, keep, meta, target } = parts;
  if (asked.task !== undefined) return taskReader(parts, asked.task);
  const assembler = new Assembler();
  const kept = keep ? () => assembler.answer() : null;
  const decoder = adapter.decoder(asked, target);
  if (asked.stream) {
    const teed = keep ? teeInto(decoder, assembler) : decoder;
    return { reading: streamed(canonicalRelay(teed, dialect.writer(meta))), kept };
  }
  const relay = canonicalRelay(decoder, collector(assembler));
  const body = (meta: ReplyMeta, end: ReplyEnd) => Buffer.from(dialect.write(assembler.answer(), meta, end));
  return { reading: { relay, telling: { as: 'whole', body } }, kept };
}

/** Returns a function that sends `message` once and then drops it. */
function senderOf(
  deps: CallDeps,
  endpoint: Endpoint,
  message: UpstreamRequest | null,
  facts: { attempt: number; org_id: string; credential: Credential | null; whole: boolean },
): Lane['send'] {
  return (handler) => {
    if (message === null) throw new Error('an attempt is sent once');
    const { headers, path, body } = message;
    message = null;
    const { attempt, org_id, credential, whole } = facts;
    if (endpoint.own_key !== undefined) deps.own_keys.used(endpoint.own_key.id);
    if (endpoint.wire.in_process) return deps.sandbox({ body, attempt, org_id }, handler);
    if (credential === null) {
      throw new ServiceError('no_endpoint_available', `There is no key for provider ${endpoint.provider}.`);
    }
    const { base_url } = deps.provider(endpoint);
    const { headers: credentials, sign } = credential;
    const signing = sign === undefined ? {} : { sign, region: endpoint.region };
    return deps.transport.send(
      { base_url, credentials, ...signing },
      { headers, path, body, whole },
      handler,
    );
  };
}

/** The request for `planned` as its lane writes it, without credentials. */
export function messageFor(
  deps: CallDeps,
  incoming: Incoming,
  request: CanonicalRequest,
  facts: {
    planned: Planned;
    raw: RawLane | null;
    stream: boolean;
    text?: string;
    media?: FetchedMedia | null;
  },
): UpstreamRequest {
  const { planned, raw, stream, text } = facts;
  const target = targetOf(planned.endpoint);
  const adapter = adapterOf(deps, planned.endpoint);
  const options = encodeOptions(incoming, request, planned, stream);
  if (raw === null) return adapter.encode(withMedia(request, adapter, facts.media ?? null), target, options);
  const { body, top } = incoming;
  return raw.request(body, request, target, options, top ?? scanObject(body, undefined, text) ?? undefined);
}

function adapterOf(deps: CallDeps, endpoint: Endpoint): Adapter {
  const adapter = deps.adapters.get(endpoint.family);
  if (adapter === undefined) throw new Error(`no adapter for family ${endpoint.family}`);
  return adapter;
}

/**
 * Prepares one attempt; nothing is sent yet. The result lives as long as the answer, so no closure in it may refer to
 * the prompt: each is made in a function that cannot see it.
 */
export function prepare(
  deps: CallDeps,
  incoming: Incoming,
  request: CanonicalRequest,
  facts: {
    planned: Planned;
    attempt: number;
    keep: boolean;
    prompt_bytes: number;
    /** The decoded body, when it is at hand. */
    text?: string;
    /** Media given by address that this family needs as bytes. */
    media?: FetchedMedia | null;
    readonly lost: readonly Warning[];
  },
): Lane {
  const { planned, attempt, keep } = facts;
  const { endpoint } = planned;
  const { dialect, grant } = incoming;
  const target = targetOf(endpoint);
  const raw = rawLaneOf(deps, incoming, request, endpoint);
  const adapter = adapterOf(deps, endpoint);
  const { sent, applied } = edited(request, facts.prompt_bytes, raw === null ? { adapter, target } : null);
  const meta = replyMeta(incoming, request, { ...facts, deps, applied });
  // The canonical lane always streams from the provider if it can, and assembles whole answers itself.
  const stream = raw === null ? request.task === undefined : request.stream;
  const message = messageFor(deps, incoming, sent, { ...facts, raw, stream });
  const { echo: _repeated, paths: _places, words: _words, ...rest } = request;
  const asked: CanonicalRequest = { ...rest, messages: [] };
  const parts = { raw, adapter, dialect, meta, target, asked, keep };
  // A whole answer keeps the caller's body until its end in any case.
  const whole = !request.stream;
  const credential = credentialFor(deps, endpoint);
  return {
    raw,
    classify: adapter.classify,
    meta,
    ...(raw === null ? canonicalReader(parts) : rawReader(parts, raw)),
    record: newAttempt(deps.clock, endpoint, attempt),
    lost: facts.lost,
    send: senderOf(deps, endpoint, message, { attempt, org_id: grant.org_id, credential, whole }),
    credential: credential?.handle ?? null,
  };
}

/** A key for `endpoint`: the caller's own when it is planned with one, and then never one of the pool. */
export function credentialFor(deps: CallDeps, endpoint: Endpoint): Credential | null {
  if (endpoint.own_key !== undefined) return deps.own_keys.credentialOf(endpoint);
  return endpoint.wire.in_process ? null : deps.credentials.take(deps.provider(endpoint), deps.clock.nowMs());
}

/** The record of an attempt at `endpoint` that begins now. */
export function newAttempt(clock: Clock, endpoint: Endpoint, attempt: number): AttemptRecord {
  return {
    clock,
    attempt,
    endpoint,
    started_at_ms: clock.nowMs(),
    started: clock.monotonicMs(),
    outcome: null,
    http_status: 0,
    error_class: '',
    upstream_id: null,
    ttft_ms: null,
    duration_ms: null,
    output_tokens: 0,
  };
}
