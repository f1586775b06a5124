// A call from its bytes to its last byte: admitted, held, attempted, relayed, settled (docs/outcomes.md).
// An object with callbacks and not one long async function: a suspended function keeps every local alive, and the
// prompt of an idle stream would stay in memory as long as the stream.
import { monotonicMs, nowMs, ServiceError } from '../../kernel/index.ts';
import type { Relay } from '../canonical/contract.ts';
import type { ReplyEnd, StreamFault, UpstreamFault, Usage } from '../canonical/types.ts';
import { type Admitted, admit, type Replayed } from './admit/admit.ts';
import { Answer } from './answer/answer.ts';
import { refusalFor } from './answer/defect.ts';
import { sendReplay } from './answer/replay.ts';
import { emptyUsage, noCost } from './answer/reply.ts';
import { Attempt, type AttemptListener } from './attempt/attempt.ts';
import { Tries } from './attempt/failover.ts';
import { answerOf, type Lane } from './attempt/lane.ts';
import type { FetchedMedia } from './attempt/media.ts';
import { nextLane, passUnfetched } from './attempt/next-lane.ts';
import * as outcome from './attempt/outcome.ts';
import type { Planned } from './attempt/terms.ts';
import { endAttempt, endRecord, forgetAttempt, newRecord, startNow, timeTaken, warn } from './record.ts';
import { type ContentKeeper, contentKeeper } from './settle/content.ts';
import { type Ending, settleCall } from './settle/settlement.ts';
import { estimateUsage, learn, soundUsage } from './settle/usage.ts';
import type { CallDeps, CallRecord, Incoming, Sink } from './types.ts';

const DRAIN_MAX_MS = 600_000; // Of a left call, upstream (docs/outcomes.md#left-while-drained).

export class Call implements AttemptListener {
  slot = -1;
  private readonly deps: CallDeps;
  private readonly record: CallRecord;
  private readonly answer: Answer;
  private readonly started = monotonicMs();
  private readonly tries = new Tries();
  private incoming: Incoming | null;
  private admitted: Admitted | null = null;
  private lane: Lane | null = null;
  private attempt: Attempt | null = null;
  /** Of the lane, what is needed to the end of the answer. */
  private facts: Pick<Lane, 'meta' | 'credential' | 'kept'> | null = null;
  /** Fetched for an attempt whose family takes bytes alone; like the prompt, not kept beside a stream. */
  private media: FetchedMedia | null = null;
  private keepContent: ContentKeeper | null = null;
  private held = false;
  /** The end was decided; later events change nothing. */
  private over = false;
  private left_at: number | null = null;

  constructor(deps: CallDeps, incoming: Incoming, sink: Sink) {
    this.deps = deps;
    this.incoming = incoming;
    this.record = newRecord(incoming, nowMs());
    const debug = incoming.headers['x-svc-debug'] === '1';
    this.answer = new Answer(sink, this.record, {
      dialect: incoming.dialect,
      started: this.started,
      trace: () =>
        debug ? (this.admitted?.trace(this.record.attempts) ?? (this.record.trace || null)) : null,
    });
    this.listenTo(sink);
  }

  get asked(): boolean {
    return this.attempt?.sent === true;
  }

  private listenTo(sink: Sink): void {
    // By way of constants: V8 puts a function literal assigned to a property in old space, as if it were a method,
    // and there it keeps the whole ended call alive through every scavenge.
    const gone = () => this.callerLeft();
    const drained = () => this.attempt?.resume();
    sink.onGone = gone;
    sink.onDrain = drained;
  }

  /** Admits the call, holds its money and starts the first attempt. Refusals are answered here; nothing is thrown. */
  async begin(): Promise<void> {
    this.deps.ticker.add(this);
    try {
      const admission = await admit(this.deps, this.incoming as Incoming, this.record);
      if ('replay' in admission) return this.replay(admission.replay);
      this.admitted = admission.call;
      this.held = true;
      if (!this.over) this.keepContent = contentKeeper(this.deps, this.incoming as Incoming, this.record);
      // The process may have ended the call meanwhile (shutDown), or its caller may have gone.
      if (this.over) return this.release();
    } catch (error) {
      return this.refuse(error);
    }
    if (this.answer.sink.gone) this.endCancelled();
    else this.startAttempt();
  }

  // ---- attempts ----

  private startAttempt(media = this.media): void {
    if (this.over) return;
    this.media = media;
    try {
      const admitted = this.admitted as Admitted;
      const planned = admitted.plan[this.tries.at] as Planned;
      const { record } = this;
      const lane = nextLane(this.deps, this.incoming as Incoming, admitted, { planned, record, media });
      if (lane instanceof Promise) {
        // An attempt that has failed is over: a caller that leaves meanwhile owes nothing for it.
        this.attempt = null;
        return void lane
          .then(
            (media) => this.startAttempt(media),
            (error: unknown) => this.unfetched(error, media),
          )
          .catch((error: unknown) => this.refuse(error));
      }
      startNow(lane.record, this.deps.health);
      this.lane = lane;
      this.facts = { meta: lane.meta, credential: lane.credential, kept: lane.kept };
      this.record.attempts.push(lane.record);
      this.record.endpoint = planned.endpoint;
      this.attempt = new Attempt(lane.record, lane.reading, {
        lane: lane.raw,
        classify: lane.classify,
        times: admitted.times,
        listener: this,
      });
      this.attempt.exchange = lane.send(this.attempt);
    } catch (error) {
      this.refuse(error);
    }
  }

  progressed(attempt: Attempt, output: Buffer | string): void {
    if (this.over || attempt !== this.attempt) return;
    const { state } = attempt.relay as Relay;
    if (state.fault !== null && !this.shown()) return;
    if (this.streams() && this.left_at === null) {
      if (state.semantic) {
        if (!this.answer.send(output)) attempt.pause();
        this.forgetPrompt();
      } else {
        this.answer.hold(output);
      }
    }
    if (state.stop === null && state.fault === null) this.watchOutput(attempt, state.output_bytes);
  }

  completed(attempt: Attempt): void {
    if (this.over || attempt !== this.attempt) return;
    const read = attempt.read as NonNullable<Attempt['read']>;
    const usage = soundUsage(read.usage);
    endAttempt(attempt.record, 'ok', '');
    learn(this.deps, this.record, attempt.record, { usage, output_bytes: read.output_bytes });
    if (usage === null) {
      warn(this.record, 'usage_estimated', 'The provider reported no usage; the text was counted.');
      return this.settle(this.estimate(attempt, read.output_bytes), { estimated: true, stop: read.stop });
    }
    this.settle(usage, { estimated: false, stop: read.stop });
  }

  failed(attempt: Attempt, fault: UpstreamFault): void {
    if (this.over || attempt !== this.attempt) return;
    const { record } = attempt;
    const chosen = outcome.isChosenLimit(attempt, fault, this.admitted as Admitted);
    endAttempt(record, outcome.attemptOutcome(fault), fault.class);
    // A limit of the caller's own choosing says nothing of the endpoint: one tenant must not close it for all.
    if (!chosen) outcome.blame(this.deps, record.endpoint, this.facts?.credential ?? null, fault);
    const semantic = attempt.state?.semantic === true;
    if (this.left_at !== null) {
      // Draining failed: the caller pays for what the provider produced until then.
      return semantic ? this.settleLeft(attempt) : this.endCancelled();
    }
    this.tries.faults.push({ fault, endpoint: record.endpoint });
    // Only what a stream has shown cannot be taken back: a whole answer is still ours alone, and so is content that
    // came in one read with its error.
    if (semantic && this.shown()) {
      if (chosen) return this.timeIsUp(attempt);
      return this.failInStream(outcome.streamFaultOf(this.deps, fault, record.endpoint), attempt);
    }
    if (this.tryAgain(attempt)) return;
    if (chosen) return this.timeIsUp(attempt);
    this.refuse(outcome.refusalOf(this.deps, this.tries.faults, this.record.attempts));
  }

  crashed(attempt: Attempt, error: unknown): void {
    if (this.over || attempt !== this.attempt) return;
    endAttempt(attempt.record, 'error', 'protocol');
    const semantic = attempt.state?.semantic === true;
    if (!semantic || !this.streams()) return this.refuse(error);
    this.deps.log.error({ request_id: this.record.request_id, error }, 'relay failed');
    this.failInStream({ code: 'internal', message: 'The gateway failed. Nothing was charged.' }, attempt);
  }

  private tryAgain(attempt: Attempt): boolean {
    this.answer.dropHeld();
    const facts = { sent: attempt.sent, raw: attempt.lane !== null, made: this.record.attempts.length };
    if (!this.tries.next(this.deps, this.admitted as Admitted, facts)) return false;
    this.startAttempt();
    return true;
  }

  /** Media that an endpoint wants as bytes cannot be had: the attempt has failed, and others take them by address. */
  private unfetched(error: unknown, media: FetchedMedia | null): void {
    if (this.over) return;
    const facts = { admitted: this.admitted as Admitted, record: this.record, media, error };
    const refusal = passUnfetched(this.deps, this.incoming as Incoming, this.tries, facts);
    if (refusal === null) this.startAttempt();
    else this.refuse(refusal);
  }

  private streams(): boolean {
    return this.admitted?.stream === true;
  }

  /** Whether the caller has seen content; before that, what came in one read with an error is not told. */
  private shown(): boolean {
    return this.streams() && this.incoming === null;
  }

  /** Content has gone out, so no other endpoint is tried. */
  private forgetPrompt(): void {
    if (this.incoming === null) return;
    this.incoming = this.lane = this.media = null;
  }

  // ---- credit and cap while the answer runs ----

  private watchOutput(attempt: Attempt, bytes: number): void {
    const { endpoint } = attempt.record;
    const { watch } = this.admitted as Admitted;
    if (watch.isQuiet(endpoint, bytes)) return;
    const reached = watch.look(endpoint, bytes, this.deps.ratioOf(endpoint.id));
    if (reached !== null) this.cut(attempt, reached);
  }

  /** The gateway itself ends a running answer: credit is used up, or the endpoint ignores its cap. */
  private cut(attempt: Attempt, why: keyof typeof outcome.CUT): void {
    if (this.over || attempt !== this.attempt) return;
    attempt.abort();
    endAttempt(attempt.record, 'ok', '');
    const { code, message } = outcome.CUT[why];
    warn(this.record, code, message);
    this.settle(this.estimate(attempt), { estimated: true, stop: { reason: 'max_tokens' }, forced: true });
  }

  private estimate(attempt: Attempt, output_bytes = attempt.state?.output_bytes ?? 0): Usage {
    const { prompt_bytes } = this.admitted as Admitted;
    const ratio = this.deps.ratioOf(attempt.record.endpoint.id);
    return estimateUsage(attempt.state?.early_usage ?? null, { prompt_bytes, output_bytes, ratio });
  }

  // ---- ends ----

  private settle(reported: Usage, how: Ending): void {
    if (this.over) return;
    this.over = true;
    this.settled(reported, how).catch((error: unknown) => {
      // The money is settled or in the ledger's hands and only the answer's last bytes failed, or no settle was sent.
      this.deps.log.error({ request_id: this.record.request_id, error }, 'answer not finished');
      this.release();
      this.answer.sink.destroy();
      this.finish('error', 500, 'internal');
    });
  }

  private async settled(reported: Usage, how: Ending): Promise<void> {
    const { deps, record } = this;
    const attempt = this.attempt as Attempt;
    const { kept, meta } = this.facts as NonNullable<Call['facts']>;
    const end = await settleCall({
      deps,
      record,
      attempt: attempt.record,
      started: this.started,
      admitted: this.admitted as Admitted,
      reported,
      how,
      meta,
      kept,
      left: () => this.left_at !== null,
    });
    this.held = false;
    if (how.fault === undefined) this.admitted?.remember(attempt.record.endpoint);
    if (this.left_at !== null) return this.finish('cancelled', 499, 'client_closed');
    if (how.fault !== undefined) return this.sendFault(how.fault, attempt, end);
    if (this.streams()) this.answer.endStream(attempt.relay as Relay, end);
    else this.answer.endWhole(answerOf(attempt, this.lane as Lane, meta, end), end);
    this.finish('ok', 200, '');
  }

  /** The answer of an earlier call with the same Idempotency-Key: same id, same cost, no new row. */
  private replay(replayed: Replayed): void {
    this.over = true;
    this.deps.ticker.delete(this);
    this.deps.replayed(replayed.id);
    sendReplay(this.answer.sink, (this.incoming as Incoming).dialect, replayed, this.record);
  }

  /** After content there is no failover: the dialect's in-stream error, and nothing is charged. */
  private failInStream(fault: StreamFault, attempt: Attempt): void {
    this.over = true;
    this.release();
    const usage = soundUsage(attempt.state?.usage ?? null) ?? this.estimate(attempt);
    this.record.usage = usage;
    const cost = noCost(attempt.record.endpoint);
    this.sendFault(fault, attempt, { usage, cost, warnings: this.record.warnings });
  }

  private sendFault(fault: StreamFault, attempt: Attempt, end: ReplyEnd): void {
    const cost = end.cost.total_micro_usd > 0 ? { cost: end.cost } : {};
    const error = new ServiceError(fault.code, fault.message, { details: { ...fault.details, ...cost } });
    const relay = this.shown() ? attempt.relay : null;
    this.finish('error', this.answer.fail(error, relay, this.facts?.meta ?? null, end), fault.code);
  }

  /** A refusal before the first content, or a defect. */
  private refuse(error: unknown, told?: 'error'): void {
    if (this.over) return;
    this.over = true;
    this.release();
    const status = told ?? (this.record.attempts.length === 0 ? 'rejected' : 'error');
    const { request_id } = this.record;
    const refusal = refusalFor(error, { log: this.deps.log, request_id, body: this.incoming?.body ?? null });
    const end = { usage: emptyUsage(), cost: noCost(this.record.endpoint), warnings: this.record.warnings };
    const http_status = this.answer.fail(refusal, null, this.facts?.meta ?? null, end);
    this.finish(refusal.code === 'internal' ? 'error' : status, http_status, refusal.code);
  }

  // ---- the caller leaves ----

  private callerLeft(): void {
    if (this.left_at !== null) return;
    this.left_at = monotonicMs();
    // Before admission is done, `begin` finds the caller gone.
    if (this.over || this.admitted === null) return;
    const { attempt } = this;
    this.answer.dropHeld();
    if (attempt === null || !attempt.sent) {
      attempt?.abort();
      if (attempt !== null) forgetAttempt(this.record);
      return this.endCancelled();
    }
    const { endpoint } = attempt.record;
    const stops = endpoint.cancel_billing === 'stops' && !endpoint.hidden_reasoning;
    if (attempt.relay !== null && stops && this.admitted.idempotency === null) {
      attempt.abort();
      endAttempt(attempt.record, 'cancelled', 'client_gone');
      return this.settleLeft(attempt);
    }
    // Otherwise the provider bills the whole answer: it is drained and settled from the reported usage.
    attempt.resume();
    if (!this.streams() && this.incoming !== null) this.deps.drained.add(this.incoming, this);
  }

  /** The same caller asks again for the whole answer that is being drained: it gets this one and pays once. */
  reattach(sink: Sink): void {
    this.left_at = null;
    this.answer.sink = sink;
    this.listenTo(sink);
  }

  private settleLeft(attempt: Attempt): void {
    this.settle(this.estimate(attempt), { estimated: true, stop: null, forced: true });
  }

  private endCancelled(): void {
    if (this.over) return;
    this.over = true;
    this.release();
    this.finish('cancelled', 499, 'client_closed');
  }

  tick(now: number): void {
    if (this.over || this.admitted === null) return;
    const { attempt } = this;
    if (this.left_at !== null) {
      if (attempt === null || now - this.left_at <= DRAIN_MAX_MS) return attempt?.tick(now);
      attempt.abort();
      return this.settleLeft(attempt);
    }
    if (now - this.started > this.admitted.total_ms) return this.deadline();
    attempt?.tick(now);
    if (!this.over && this.streams()) this.answer.keepAlive(now, this.attempt?.relay ?? null);
  }

  /** Time is up: the standard limit is our fault and free; a lower one that the caller chose ends as if it had left. */
  private deadline(): void {
    const { attempt } = this;
    // A caller that does not read has left in all but name: it pays for what was produced (else it could have whole
    // answers for nothing by reading all but the last byte).
    if (attempt?.paused) {
      this.callerLeft();
      return this.answer.sink.destroy();
    }
    if (attempt !== null) {
      attempt.abort();
      endAttempt(attempt.record, 'timeout', 'timeout');
    }
    if (attempt?.sent && (this.admitted as Admitted).chosen.total) return this.timeIsUp(attempt);
    if (attempt?.state?.semantic && this.streams()) return this.failInStream(outcome.TIME_IS_UP, attempt);
    this.refuse(new ServiceError(outcome.TIME_IS_UP.code, outcome.TIME_IS_UP.message), 'error');
  }

  /**
   * A limit that the caller chose: what was produced is paid for, as if it had left, but counted now and not drained
   * first: this caller waits for its error, which tells the cost.
   */
  private timeIsUp(attempt: Attempt): void {
    this.settle(this.estimate(attempt), { estimated: true, stop: null, fault: outcome.TIME_IS_UP });
  }

  /** The process is going down and the call did not finish in time: ended as a fault of ours, uncharged. */
  shutDown(): void {
    if (this.over) return;
    const { attempt } = this;
    attempt?.abort();
    if (attempt?.state?.semantic && this.streams()) return this.failInStream(outcome.RESTARTING, attempt);
    this.refuse(new ServiceError(outcome.RESTARTING.code, outcome.RESTARTING.message), 'error');
  }

  private release(): void {
    if (!this.held) return;
    this.held = false;
    this.deps.ledger.release(this.record.grant.subject, this.record.request_id);
  }

  private finish(status: CallRecord['status'], http_status: number, code: string): void {
    const { record, answer } = this;
    endRecord(record, status, http_status, code);
    timeTaken(record, monotonicMs() - this.started);
    record.trace = this.admitted?.trace(record.attempts) ?? record.trace;
    // Like the tokens: of a call that ends without usage nothing is counted.
    if (record.usage !== null) record.tool_calls = this.attempt?.read?.tool_calls ?? 0;
    this.keepContent?.(record, this.facts?.kept ?? null);
    this.deps.ticker.delete(this);
    this.deps.drained.delete(this);
    answer.sink.onDrain = answer.sink.onGone = null;
    this.admitted?.fetching?.abort();
    this.deps.record(record);
  }
}
