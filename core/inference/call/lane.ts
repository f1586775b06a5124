// The lane of one attempt: raw where dialect and family are equal, canonical otherwise; what is sent, how the answer
// is read, and how a whole answer is written for the caller.
import type { Endpoint } from '../../catalog/index.ts';
import { hmacSha256, monotonicMs, nowMs, ServiceError } from '../../kernel/index.ts';
import type {
  EncodeOptions,
  RawLane,
  Relay,
  StreamDecoder,
  StreamWriter,
  Target,
  UpstreamRequest,
} from '../canonical/contract.ts';
import type {
  CanonicalAnswer,
  CanonicalEvent,
  CanonicalRequest,
  ReplyEnd,
  ReplyMeta,
} from '../canonical/types.ts';
import { Assembler } from '../dialects/shared/assemble.ts';
import { canonicalRelay } from '../dialects/shared/canonical-relay.ts';
import type { Exchange, ExchangeHandler } from '../upstream/exchange.ts';
import type { Admitted, Planned } from './admit.ts';
import type { Attempt, Classify, Reading } from './attempt.ts';
import type { AttemptRecord, CallDeps, Incoming } from './types.ts';

export interface Lane {
  /** The raw lane, or null in the canonical one. */
  readonly raw: RawLane | null;
  readonly reading: Reading;
  readonly classify: Classify;
  readonly meta: ReplyMeta;
  readonly record: AttemptRecord;
  readonly write: ((attempt: Attempt, end: ReplyEnd) => Buffer) | null;
  send(handler: ExchangeHandler): Exchange;
  /** The canonical answer so far, for an idempotent replay; null where it is not kept. */
  readonly kept: (() => CanonicalAnswer) | null;
  /** Handle of the provider key used, for the pool's book-keeping; null where none is. */
  readonly credential: string | null;
}

const targets = new WeakMap<Endpoint, Target>();

/** What an adapter may know of `endpoint`; one object per endpoint and snapshot. */
export function targetOf(endpoint: Endpoint): Target {
  let target = targets.get(endpoint);
  if (target === undefined) {
    target = {
      endpoint_id: endpoint.id,
      provider: endpoint.provider,
      family: endpoint.family,
      upstream_model: endpoint.upstream_model,
      region: endpoint.region,
      capabilities: endpoint.capabilities,
      flags: endpoint.flags,
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

/** A decoder whose events also fold into `assembler`. */
function teeInto(decoder: StreamDecoder, assembler: Assembler): StreamDecoder {
  const keep = (events: CanonicalEvent[]) => {
    for (const event of events) assembler.add(event);
    return events;
  };
  return { push: (bytes) => keep(decoder.push(bytes)), end: () => keep(decoder.end()) };
}

/** A raw relay beside which the answer is assembled: its bytes go out untouched, its meaning can be replayed. */
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
  };
}

function replyMeta(
  incoming: Incoming,
  request: CanonicalRequest,
  planned: Planned,
  prompt_bytes: number,
): ReplyMeta {
  return {
    request_id: incoming.request_id,
    model: planned.endpoint.model_id,
    created: Math.floor(nowMs() / 1_000),
    provider: planned.endpoint.provider,
    endpoint_id: planned.endpoint.id,
    include_usage: request.include_usage,
    reasoning: request.svc.reasoning,
    legacy_functions: request.legacy_functions === true,
    input_estimate: Math.max(1, Math.ceil(prompt_bytes / 4)),
  };
}

/** The raw lane for `dialect` on `endpoint`, or null when they speak different wires. */
export function rawLaneOf(deps: CallDeps, dialect: string, endpoint: Endpoint): RawLane | null {
  return deps.raw_lanes.get(`${dialect} ${endpoint.family}`) ?? null;
}

/** Everything for one attempt at `planned`; nothing is sent yet. */
export function prepare(
  deps: CallDeps,
  incoming: Incoming,
  admitted: Admitted,
  planned: Planned,
  attempt: number,
): Lane {
  const request = admitted.request as CanonicalRequest;
  const { endpoint } = planned;
  const target = targetOf(endpoint);
  const raw = rawLaneOf(deps, incoming.dialect.name, endpoint);
  const adapter = deps.adapters.get(endpoint.family);
  if (adapter === undefined) throw new Error(`no adapter for family ${endpoint.family}`);
  const meta = replyMeta(incoming, request, planned, admitted.prompt_bytes);
  // The canonical lane streams upstream wherever it can and assembles whole answers itself.
  const options = encodeOptions(incoming, request, planned, raw === null ? true : request.stream);
  const upstream: UpstreamRequest =
    raw === null
      ? adapter.encode(request, target, options)
      : raw.request(incoming.body, request, target, options);
  const assembler = new Assembler();
  const keep = admitted.idempotency !== null && !incoming.grant.data_policy.zdr;
  let kept: (() => CanonicalAnswer) | null = keep ? () => assembler.answer() : null;
  let reading: Reading;
  if (raw !== null && request.stream) {
    const relay = raw.relay(meta, request, target);
    reading = { relay: keep ? alsoAssemble(relay, adapter.decoder(request, target), assembler) : relay };
  } else if (raw !== null) {
    let body: Buffer | null = null;
    if (keep) kept = () => adapter.decode(body as Buffer, request, target);
    reading = {
      whole(bytes) {
        if (keep) body = bytes;
        return raw.whole(bytes, request, target);
      },
    };
  } else {
    const decoder = adapter.decoder(request, target);
    const writer = request.stream ? incoming.dialect.writer(meta) : collector(assembler);
    const teed = keep && request.stream ? teeInto(decoder, assembler) : decoder;
    reading = { relay: canonicalRelay(teed, writer) };
  }
  const dialect = incoming.dialect;
  const credential =
    endpoint.family === 'sandbox' ? null : deps.credentials.take(deps.provider(endpoint), nowMs());
  let outgoing: UpstreamRequest | null = upstream;
  return {
    raw,
    reading,
    classify: adapter.classify,
    meta,
    kept,
    record: newAttempt(endpoint, attempt),
    write:
      raw === null && !request.stream
        ? (_attempt, end) => Buffer.from(dialect.write(assembler.answer(), meta, end))
        : null,
    send(handler) {
      const message = outgoing as UpstreamRequest;
      outgoing = null;
      if (endpoint.family === 'sandbox') {
        return deps.sandbox(
          {
            body: message.body,
            attempt,
            org_id: incoming.grant.org_id,
          },
          handler,
        );
      }
      if (credential === null)
        throw new ServiceError('no_endpoint_available', `No key for ${endpoint.provider}.`);
      const { base_url } = deps.provider(endpoint);
      return deps.transport.send({ base_url, credentials: credential.headers }, message, handler);
    },
    credential: credential?.handle ?? null,
  };
}

function newAttempt(endpoint: Endpoint, attempt: number): AttemptRecord {
  return {
    attempt,
    endpoint,
    started_at_ms: nowMs(),
    started: monotonicMs(),
    outcome: null,
    http_status: 0,
    error_class: '',
    ttft_ms: null,
    duration_ms: null,
    output_tokens: 0,
  };
}

/** The whole answer for the caller, in either lane. */
export function answerOf(attempt: Attempt, lane: Lane, meta: ReplyMeta, end: ReplyEnd): Buffer {
  if (attempt.whole !== null) return attempt.whole.finish(meta, end);
  return (lane.write as NonNullable<Lane['write']>)(attempt, end);
}
