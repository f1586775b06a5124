import type { RawLane, RawWhole, Relay, RelayState } from '../../canonical/contract.ts';
import { StreamErrorFault } from '../../canonical/contract.ts';
import type { ReplyEnd, ReplyMeta, UpstreamFault } from '../../canonical/types.ts';
import type { Exchange, ExchangeHandler, NetworkProblem } from '../../upstream/exchange.ts';
import { ProtocolFault } from '../../wire/fault.ts';
import type { AttemptRecord } from '../types.ts';

/** Error bodies are read up to this size; the rest adds nothing. */
const ERROR_BODY_MAX = 1_048_576;
/** A whole answer larger than this is not a chat answer. */
const WHOLE_MAX = 67_108_864;
/** Limit of bytes of a stream before its first content; what they produce is kept until then. */
const SILENT_MAX = 33_554_432;
/**
 * Limit of bytes of a stream; also bounds what a lane keeps of it (the last event of a response repeats the answer).
 */
const STREAM_MAX = 268_435_456;
/** How long usage may follow the finish (docs/streams.md#when-the-status-goes-out). */
const FINISH_GRACE_MS = 2_000;

interface AttemptTimes {
  readonly first_event_ms: number;
  readonly idle_ms: number;
}

/** What an attempt reports to its call. */
export interface AttemptListener {
  /** Bytes for the caller (may be empty), after each read; the relay's state is up to date. */
  progressed(attempt: Attempt, pieces: Pieces, output: Buffer | string): void;
  /** The provider has sent its complete answer. */
  completed(attempt: Attempt, read: Read, telling: Telling): void;
  failed(attempt: Attempt, fault: UpstreamFault): void;
  /** Reading the answer threw an error that is not the provider's fault: a defect of ours. */
  crashed(attempt: Attempt, error: unknown): void;
}

export type Classify = (
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
) => UpstreamFault;

/** What has been read of an answer so far; one that came whole had no events. */
export type Read = Pick<RelayState, 'usage' | 'stop' | 'output_bytes' | 'content_events' | 'tool_calls'>;

/** How the end of an answer is sent to the caller: as the end of its stream, or in one piece. */
export type Telling =
  | { readonly as: 'stream'; readonly relay: Relay }
  | { readonly as: 'whole'; body(meta: ReplyMeta, end: ReplyEnd): Buffer };

/** An answer that is read as it arrives, even if the caller wants it whole. */
export interface Pieces {
  readonly relay: Relay;
  readonly telling: Telling;
}

/** How the answer is read: piece by piece, or at its end by the raw lane's scan. */
export type Reading = Pieces | { readonly whole: (body: Buffer) => RawWhole };

export class Attempt implements ExchangeHandler {
  readonly record: AttemptRecord;
  /** Null: the answer is read at its end. */
  readonly pieces: Pieces | null;
  readonly lane: RawLane | null;
  /** Receives the events of the attempt; replaced when the call enters another stage. */
  listener: AttemptListener;
  exchange: Exchange | null = null;
  paused = false;
  /** A limit in `times` ended it, not the network. */
  expired = false;
  /** Monotonic time of the first semantic event, in ms. */
  first_at: number | null = null;
  private readonly readWhole: ((body: Buffer) => RawWhole) | null;
  private readonly classify: Classify;
  private readonly times: AttemptTimes;
  private status = 0;
  /** The answer is the stream that was requested. */
  private streaming = false;
  private headers: Readonly<Record<string, string>> = {};
  private chunks: Buffer[] = [];
  private collected = 0;
  private last_at: number;
  private stopped_at = 0;
  private over = false;

  constructor(
    record: AttemptRecord,
    reading: Reading,
    parts: { lane: RawLane | null; classify: Classify; times: AttemptTimes; listener: AttemptListener },
  ) {
    this.record = record;
    this.pieces = 'relay' in reading ? reading : null;
    this.readWhole = 'whole' in reading ? reading.whole : null;
    this.lane = parts.lane;
    this.classify = parts.classify;
    this.times = parts.times;
    this.listener = parts.listener;
    this.last_at = record.started;
  }

  /** The relay's state so far; null for a whole answer until it is complete. */
  get state(): RelayState | null {
    return this.pieces?.relay.state ?? null;
  }

  /** Whether the provider may have received the request. */
  get sent(): boolean {
    return this.exchange?.sent ?? false;
  }

  /** Stops listening and closes the connection to the provider. */
  abort(): void {
    this.over = true;
    this.exchange?.abort();
  }

  /** The caller's socket is full: the provider is not read until `resume`, and the idle time does not run. */
  pause(): void {
    this.paused = true;
    this.exchange?.pause();
  }

  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.last_at = this.record.clock.monotonicMs();
    this.exchange?.resume();
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    this.status = status;
    this.record.http_status = status;
    this.headers = headers;
    this.streaming = status >= 200 && status <= 299 && isStream(headers['content-type'] ?? '');
    this.last_at = this.record.clock.monotonicMs();
  }

  data(bytes: Buffer): void {
    if (this.over) return;
    this.last_at = this.record.clock.monotonicMs();
    const { pieces } = this;
    if (pieces === null || !this.streaming) return this.collect(bytes);
    this.collected += bytes.length;
    if (this.collected > SILENT_MAX && this.isTooLong(pieces.relay.state)) {
      this.exchange?.abort();
      return this.fail({ class: 'protocol', status: this.status, message: 'stream too long' });
    }
    this.step(pieces, bytes);
  }

  end(): void {
    if (this.over) return;
    if (this.status < 200 || this.status > 299) {
      const body = this.body();
      this.fail(notOfTheKey(this.classify(this.status, this.headers, body), body));
    } else if (this.readWhole !== null) {
      this.endWhole(this.readWhole);
    } else if (this.pieces === null || !this.streaming) {
      this.endUnexpected();
    } else {
      this.step(this.pieces, null);
      if (!this.over) this.endStream(this.pieces);
    }
  }

  error(problem: NetworkProblem): void {
    if (this.over) return;
    const { pieces } = this;
    // When the connection breaks after the finish, nothing is missing.
    if (pieces !== null && pieces.relay.state.stop !== null) return this.complete(pieces);
    const lost = pieces?.relay.state.semantic === true ? 'truncated' : 'network';
    this.fail({
      class: problem.timeout ? 'timeout' : lost,
      status: this.status,
      message: problem.code,
    });
  }

  /** Checks the time limits; called about ten times a second. */
  tick(now: number): void {
    if (this.over) return;
    const { pieces } = this;
    if (pieces === null) return;
    const { state } = pieces.relay;
    if (this.stopped_at > 0) {
      if (now - this.stopped_at > FINISH_GRACE_MS) this.complete(pieces);
      return;
    }
    if (!state.semantic) {
      if (now - this.record.started > this.times.first_event_ms) this.timeOut('timeout');
    } else if (!this.paused && now - this.last_at > this.times.idle_ms) {
      this.timeOut('idle');
    }
  }

  private isTooLong({ semantic, output_bytes }: RelayState): boolean {
    return !semantic || this.collected > STREAM_MAX || output_bytes > WHOLE_MAX;
  }

  private timeOut(kind: 'timeout' | 'idle'): void {
    this.expired = true;
    this.exchange?.abort();
    this.fail({ class: kind, status: this.status, message: `no event in time (${kind})` });
  }

  private collect(bytes: Buffer): void {
    const bound = this.status >= 200 && this.status < 300 ? WHOLE_MAX : ERROR_BODY_MAX;
    if (this.collected + bytes.length > bound) {
      if (this.status < 300) {
        this.exchange?.abort();
        this.fail({ class: 'protocol', status: this.status, message: 'answer too large' });
      }
      return;
    }
    this.collected += bytes.length;
    this.chunks.push(bytes);
  }

  private body(): Buffer {
    const { chunks } = this;
    this.chunks = [];
    const [only] = chunks;
    return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks, this.collected);
  }

  /**
   * Passes one read, or with null the end, through the relay. A ProtocolFault that it throws is the provider's
   * malformed stream.
   */
  private step(pieces: Pieces, bytes: Buffer | null): void {
    const { relay } = pieces;
    let output: Buffer | string;
    try {
      output = bytes === null ? relay.close() : relay.push(bytes);
    } catch (error) {
      this.exchange?.abort();
      return this.failReading(error);
    }
    const { state } = relay;
    this.record.upstream_id ??= idOf(state);
    if (state.semantic && this.first_at === null) {
      this.first_at = this.last_at;
      this.record.ttft_ms = Math.round(this.last_at - this.record.started);
    }
    this.listener.progressed(this, pieces, output);
    if (this.over) return;
    if (state.fault !== null) {
      this.exchange?.abort();
      this.fail(state.fault);
    } else if (state.finished) {
      this.endStream(pieces);
    } else if (state.stop === null) {
      // One of several candidates may finish before another begins, so the answer is not complete.
      this.stopped_at = 0;
    } else if (this.stopped_at === 0) {
      this.stopped_at = this.last_at;
    }
  }

  private endStream(pieces: Pieces): void {
    const { state } = pieces.relay;
    if (state.fault !== null) return this.fail(state.fault);
    if (state.stop !== null || (state.finished && isNothing(state))) return this.complete(pieces);
    this.cutShort();
  }

  private endWhole(read: (body: Buffer) => RawWhole): void {
    let whole: RawWhole;
    try {
      whole = read(this.body());
    } catch (error) {
      return this.failReading(error);
    }
    this.record.upstream_id = idOf(whole);
    if (whole.stop === null && !isNothing(whole)) return this.cutShort();
    this.completeAs(readOf(whole), { as: 'whole', body: (meta, end) => whole.finish(meta, end) });
  }

  /**
   * An end without a finish is a cut, streamed or whole (docs/outcomes.md#cut-without-finish), unless nothing was
   * produced.
   */
  private cutShort(): void {
    this.fail({ class: 'truncated', status: this.status, message: 'ended without a finish reason' });
  }

  private failReading(error: unknown): void {
    if (error instanceof StreamErrorFault) return this.fail(error.fault);
    if (!(error instanceof ProtocolFault)) return this.crash(error);
    this.fail({ class: 'protocol', status: this.status, message: error.message });
  }

  /** A 200 that is not the requested stream: an error object, or not in the provider's format. */
  private endUnexpected(): void {
    const fault = this.classify(this.status, this.headers, this.body());
    this.fail({ ...fault, class: fault.class === 'client' ? 'protocol' : fault.class });
  }

  private complete({ relay, telling }: Pieces): void {
    this.completeAs(relay.state, telling);
  }

  private completeAs(read: Read, telling: Telling): void {
    if (this.over) return;
    this.over = true;
    this.exchange?.release?.();
    this.listener.completed(this, read, telling);
  }

  private fail(fault: UpstreamFault): void {
    if (this.over) return;
    this.over = true;
    this.listener.failed(this, fault);
  }

  private crash(error: unknown): void {
    if (this.over) return;
    this.over = true;
    this.listener.crashed(this, error);
  }
}

function readOf({ usage, stop, output_bytes, tool_calls }: RawWhole): Read {
  return { usage, stop, output_bytes, content_events: 0, tool_calls };
}

/** Ids of the known providers are like this. Anything else a provider sends there could be a text, which is content. */
const ID = /^[\w.:/+=-]{1,256}$/;

function idOf({ upstream_id }: RawWhole | RelayState): string | null {
  return upstream_id !== null && ID.test(upstream_id) ? upstream_id : null;
}

/** Whether an answer is the empty one that is not charged: it has no content, and the provider bills no output. */
function isNothing({ output_bytes, tool_calls, usage }: RawWhole | RelayState): boolean {
  return output_bytes === 0 && tool_calls === 0 && (usage?.output_tokens ?? 0) === 0;
}

/**
 * A 403 with an HTML page comes from a firewall before the provider. It concerns the prompt or our address, not the
 * key: parking the key for it would let one tenant's prompt stop everybody's calls.
 */
function notOfTheKey(fault: UpstreamFault, body: Buffer): UpstreamFault {
  const page = fault.class === 'auth' && fault.status === 403 && /^\s*</.test(body.toString('latin1', 0, 64));
  return page ? { ...fault, class: 'server' } : fault;
}

/** Media types are case-insensitive (RFC 9110 8.3.1). */
const STREAM = /^(?:text\/event-stream|application\/vnd\.amazon\.eventstream|application\/x-ndjson)/i;

function isStream(content_type: string): boolean {
  return STREAM.test(content_type);
}
