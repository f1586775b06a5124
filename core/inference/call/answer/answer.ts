import type { ServiceError } from '../../../kernel/index.ts';
import { routeLine } from '../../../routing/index.ts';
import type { Dialect, Relay } from '../../canonical/contract.ts';
import type { ReplyEnd, ReplyMeta } from '../../canonical/types.ts';
import type { Clock } from '../clock.ts';
import { routeSoFar } from '../record.ts';
import type { CallRecord, Sink } from '../types.ts';
import { replyHeaders, sendError } from './reply.ts';

const KEEP_ALIVE_MS = 15_000;
/**
 * After this long without a semantic event, status and headers are sent with a comment
 * (docs/streams.md#when-the-status-goes-out).
 */
const COMMIT_AFTER_MS = 15_000;
/** Harmless in every dialect, even before its first event. */
const COMMENT = ': svc keep-alive\n\n';

interface AnswerFacts {
  readonly dialect: Dialect;
  readonly base_url: string;
  readonly started: number;
  readonly clock: Clock;
  /** The caller sent `x-svc-debug: 1`. */
  readonly debug: boolean;
}

export class Answer {
  /** Replaced when the caller comes back for an answer that is being drained. */
  sink: Sink;
  /** Status and headers have been sent; from now on an error can only be reported within the stream. */
  committed = false;
  private readonly record: CallRecord;
  private readonly dialect: Dialect;
  private readonly base_url: string;
  private readonly started: number;
  private readonly clock: Clock;
  private readonly debug: boolean;
  private pending: (Buffer | string)[] = [];
  private last_write: number;

  constructor(sink: Sink, record: CallRecord, facts: AnswerFacts) {
    this.sink = sink;
    this.record = record;
    this.dialect = facts.dialect;
    this.started = facts.started;
    this.clock = facts.clock;
    this.debug = facts.debug;
    this.base_url = facts.base_url;
    this.last_write = facts.started;
  }

  /** Keeps `output` until the first content commits the stream. */
  hold(output: Buffer | string): void {
    if (output.length > 0) this.pending.push(output);
  }

  /** Sends `output` after everything held; false when the caller's socket is full. */
  send(output: Buffer | string): boolean {
    if (!this.committed || this.pending.length > 0) {
      this.hold(output);
      return this.flush();
    }
    if (output.length === 0) return true;
    this.record.bytes_out += output.length;
    this.last_write = this.clock.monotonicMs();
    return this.sink.write(output);
  }

  /** Drops what a failed attempt produced before its first content. */
  dropHeld(): void {
    this.pending = [];
  }

  /** Sends headers (once) and everything held; false when the caller's socket is full. */
  flush(): boolean {
    this.commit();
    let room = true;
    for (const output of this.pending) {
      this.record.bytes_out += output.length;
      if (!this.sink.write(output)) room = false;
    }
    if (this.pending.length > 0) {
      this.pending = [];
      this.last_write = this.clock.monotonicMs();
    }
    return room;
  }

  /**
   * Sends comments and pings after silence, and commits after COMMIT_AFTER_MS; `relay` is null before the first
   * attempt.
   */
  keepAlive(now: number, relay: Relay | null): void {
    if (!this.committed) {
      if (now - this.started <= COMMIT_AFTER_MS || relay === null) return;
      this.commit();
    } else if (now - this.last_write <= KEEP_ALIVE_MS) return;
    this.sink.write(relay?.state.semantic ? relay.keepAlive() : COMMENT);
    this.last_write = now;
  }

  endStream(relay: Relay, end: ReplyEnd): void {
    this.flush();
    const last = relay.end(end);
    this.record.bytes_out += last.length;
    this.sink.end(last, this.trailers(end));
  }

  endWhole(body: Buffer, end: ReplyEnd): void {
    const { record } = this;
    record.bytes_out = body.length;
    record.ttft_ms = Math.round(this.clock.monotonicMs() - this.started);
    const headers = ['content-type', 'application/json', 'content-length', String(body.length)];
    headers.push('cache-control', 'no-store', 'x-svc-cost-micro', String(end.cost.total_micro_usd));
    headers.push('x-svc-cache', end.usage.cache_read_tokens > 0 ? 'hit' : 'miss');
    this.sink.head(200, this.addHeaders(headers));
    this.sink.end(body);
  }

  /**
   * Ends with `error`: within the stream once status and headers have been sent, otherwise as an HTTP error. `relay`
   * is the one whose answer the caller has read; null when the caller saw no content. The dialect then starts from
   * the beginning, because a relay counts what it wrote although that was dropped. Returns the status that the caller
   * saw.
   */
  fail(error: ServiceError, relay: Relay | null, meta: ReplyMeta | null, end: ReplyEnd): number {
    this.pending = [];
    if (this.committed && meta !== null) {
      const { code, message, details } = error;
      const teller = relay ?? this.dialect.writer(meta);
      this.sink.end(teller.fail({ code, message, details }, end), this.trailers(end));
      return 200;
    }
    sendError(this.sink, this.dialect, error, {
      request_id: this.record.request_id,
      base_url: this.base_url,
      attempts: this.record.attempts.length,
      endpoint: this.record.endpoint,
      cost_micro_usd: end.cost.total_micro_usd,
      trace: this.trace(),
      gauges: this.record.place?.gauges ?? null,
    });
    return this.dialect.status(error);
  }

  private commit(): void {
    if (this.committed) return;
    this.committed = true;
    this.record.ttft_ms = Math.round(this.clock.monotonicMs() - this.started);
    const trailer = this.trace() === null ? 'x-svc-cost-micro' : 'x-svc-cost-micro, x-svc-route-trace';
    const headers = ['content-type', 'text/event-stream; charset=utf-8', 'cache-control', 'no-store'];
    headers.push('x-accel-buffering', 'no', 'trailer', trailer);
    this.sink.head(200, this.addHeaders(headers));
  }

  private addHeaders(headers: string[]): string[] {
    const { record } = this;
    const { endpoint } = record;
    if (endpoint === null) throw new Error('an answer begins with an attempt');
    const facts = {
      request_id: record.request_id,
      svc_version: record.grant.svc_version,
      model: endpoint.model_id,
      provider: endpoint.provider,
      region: endpoint.region,
      endpoint_id: endpoint.id,
      attempts: record.attempts.length,
      price_version: endpoint.price.id,
      trace: this.trace(),
      warnings: record.warnings,
      processing_ms: this.clock.monotonicMs() - this.started,
      org_id: record.grant.org_id,
      dialect: this.dialect,
      gauges: record.place?.gauges ?? null,
    };
    return replyHeaders(facts, headers);
  }

  private trace(): string | null {
    if (!this.debug) return null;
    const route = routeSoFar(this.record);
    return route === null ? null : routeLine(route);
  }

  private trailers(end: ReplyEnd): [string, string][] {
    const trailers: [string, string][] = [['x-svc-cost-micro', String(end.cost.total_micro_usd)]];
    const trace = this.trace();
    if (trace !== null) trailers.push(['x-svc-route-trace', trace]);
    return trailers;
  }
}
