// The caller has seen no content yet. An attempt runs, or media are being fetched for one, and after a failed attempt
// another may follow. A whole answer stays in this stage until it is complete.
import { ServiceError } from '../../../kernel/index.ts';
import type { CanonicalRequest, UpstreamFault } from '../../canonical/types.ts';
import { Attempt, type AttemptListener, type Pieces, type Read, type Telling } from '../attempt/attempt.ts';
import type { Tries } from '../attempt/failover.ts';
import type { Lane } from '../attempt/lane.ts';
import type { FetchedMedia } from '../attempt/media.ts';
import { type Fetch, nextLane, passUnfetched } from '../attempt/next-lane.ts';
import { RESTARTING, refusalOf, TIME_IS_UP } from '../attempt/outcome.ts';
import { readAgain, readAgainInSteps } from '../reading.ts';
import { endAttempt, forgetAttempt, startNow, viewerOf } from '../record.ts';
import { inTurn } from '../turns.ts';
import type { Incoming } from '../types.ts';
import type { Stage } from './call.ts';
import { leave } from './draining.ts';
import { cancel, failByDefect, refuse } from './ends.ts';
import { noteFailure, type Run, reachedOf, type Said, type Try } from './run.ts';
import { settleComplete, settleCut, settleTimeIsUp } from './settling.ts';
import { Streaming } from './streaming.ts';

/** What further attempts are made from; dropped at the first content of a stream. */
interface Pursuit {
  readonly run: Run;
  readonly incoming: Incoming;
  readonly tries: Tries;
  /** Media fetched for an attempt whose family accepts only bytes. */
  readonly media: FetchedMedia | null;
}

/** Refuses a call; `said` is its last attempt, if there was one. */
function giveUp({ run, incoming }: Pursuit, said: Said | null, error: unknown, status?: 'error'): void {
  refuse(run, said, { error, body: incoming.body, ...(status === undefined ? {} : { status }) });
}

/** Begins the next attempt, or what must come before it; `last` is the attempt before. Nothing is thrown. */
export function tryNext(pursuit: Pursuit, last: Said | null): void {
  readOnceMore(pursuit, last, (request) => {
    const { run, incoming, tries, media } = pursuit;
    const { deps, record } = run.call;
    const lane = nextLane(deps, incoming, run.terms, { request, planned: tries.planned, record, media });
    if ('media' in lane) new Fetching(pursuit, lane, last).begin();
    else tryLane(pursuit, lane);
  });
}

/**
 * Goes on with the request, read again from its bytes: at once, or for a large body in slices, between which the call
 * waits. What reading or `goOn` throws refuses the call.
 */
function readOnceMore(pursuit: Pursuit, last: Said | null, goOn: (request: CanonicalRequest) => void): void {
  const { incoming } = pursuit;
  if (incoming.in_slices) return new Rereading(pursuit, last).begin(goOn);
  try {
    goOn(readAgain(incoming));
  } catch (error) {
    giveUp(pursuit, last, error);
  }
}

/** Sends the attempt that `lane` was prepared for. Nothing is thrown. */
export function tryLane(pursuit: Pursuit, lane: Lane): void {
  const { call } = pursuit.run;
  try {
    startNow(lane.record, viewerOf(call.record), call.deps.health);
    call.record.attempts.push(lane.record);
    call.record.endpoint = lane.record.endpoint;
    const trying = new Trying(pursuit, lane);
    call.enter(trying);
    const { attempt } = trying.now;
    attempt.exchange = lane.send(attempt);
  } catch (error) {
    giveUp(pursuit, lane, error);
  }
}

class Trying implements Stage, AttemptListener {
  readonly now: Try;
  private readonly run: Run;
  private readonly pursuit: Pursuit;

  constructor(pursuit: Pursuit, lane: Lane) {
    const { run } = pursuit;
    const { raw, classify, meta, kept, credential } = lane;
    const { times } = run.terms;
    const attempt = new Attempt(lane.record, lane.reading, { lane: raw, classify, times, listener: this });
    this.pursuit = pursuit;
    this.run = run;
    this.now = { attempt, meta, kept, credential };
  }

  get asked(): boolean {
    return this.now.attempt.sent;
  }

  get incoming(): Incoming {
    return this.pursuit.incoming;
  }

  progressed(attempt: Attempt, pieces: Pieces, output: Buffer | string): void {
    const { state } = pieces.relay;
    // Content that arrived in the same read as an error is not shown: another endpoint may answer.
    if (state.fault !== null) return;
    if (this.run.terms.stream) {
      if (state.semantic) return this.show(attempt, pieces, output);
      this.run.call.answer.hold(output);
    }
    const why = reachedOf(this.run, attempt, pieces);
    if (why !== null) settleCut(this.run, this.now, { why, telling: pieces.telling, away: false });
  }

  /** Sends the first content of a stream. */
  private show(attempt: Attempt, pieces: Pieces, output: Buffer | string): void {
    const streaming = new Streaming(this.run, this.now, pieces.relay);
    this.run.call.enter(streaming);
    attempt.listener = streaming;
    streaming.progressed(attempt, pieces, output);
  }

  completed(_attempt: Attempt, read: Read, telling: Telling): void {
    settleComplete(this.run, this.now, { read, telling, away: false });
  }

  failed(attempt: Attempt, fault: UpstreamFault): void {
    const { run, pursuit } = this;
    const { deps, record, answer } = run.call;
    const chosen = noteFailure(run, this.now, fault);
    answer.dropHeld();
    const facts = { sent: attempt.sent, raw: attempt.lane !== null, made: record.attempts.length };
    const last = { fault, endpoint: attempt.record.endpoint };
    if (pursuit.tries.next(deps, last, facts)) return tryNext(pursuit, this.now);
    if (chosen) return settleTimeIsUp(run, this.now, null);
    giveUp(pursuit, this.now, refusalOf(deps, pursuit.tries.faults, record.attempts));
  }

  crashed(attempt: Attempt, error: unknown): void {
    if (this.run.terms.stream && attempt.state?.semantic === true) {
      return failByDefect(this.run, this.now, error, null);
    }
    endAttempt(attempt.record, 'error', 'gateway_defect');
    giveUp(this.pursuit, this.now, error);
  }

  left(): void {
    const { attempt } = this.now;
    if (attempt.sent) return leave(this.run, this.now, this.run.terms.stream ? null : this);
    attempt.abort();
    forgetAttempt(this.run.call.record);
    cancel(this.run, this.now);
  }

  returned(): void {}
  roomAgain(): void {}

  tick(now: number): void {
    const { call, terms } = this.run;
    if (now - call.started > terms.total_ms) return this.deadline();
    const { attempt } = this.now;
    attempt.tick(now);
    if (terms.stream && call.isIn(this)) call.answer.keepAlive(now, attempt.pieces?.relay ?? null);
  }

  /** At a limit that the caller chose it pays; the default limit is our fault (docs/outcomes.md#time-is-up). */
  private deadline(): void {
    const { attempt } = this.now;
    attempt.abort();
    endAttempt(attempt.record, 'timeout', 'timeout');
    if (attempt.sent && this.run.terms.chosen.total) return settleTimeIsUp(this.run, this.now, null);
    giveUp(this.pursuit, this.now, new ServiceError(TIME_IS_UP.code, TIME_IS_UP.message), 'error');
  }

  shutDown(): void {
    this.now.attempt.abort();
    giveUp(this.pursuit, this.now, new ServiceError(RESTARTING.code, RESTARTING.message), 'error');
  }
}

/** Between two attempts: no attempt runs, and a caller that leaves owes nothing. */
abstract class Between implements Stage {
  readonly asked = false;
  protected readonly pursuit: Pursuit;
  protected readonly last: Said | null;

  constructor(pursuit: Pursuit, last: Said | null) {
    this.pursuit = pursuit;
    this.last = last;
  }

  /** What is waited for is no longer needed. */
  protected abort(): void {}

  protected get isCurrent(): boolean {
    return this.pursuit.run.call.isIn(this);
  }

  left(): void {
    this.abort();
    this.pursuit.run.call.answer.dropHeld();
    cancel(this.pursuit.run, this.last);
  }

  returned(): void {}
  roomAgain(): void {}

  tick(now: number): void {
    const { call, terms } = this.pursuit.run;
    if (now - call.started > terms.total_ms) return this.stop(TIME_IS_UP);
    if (terms.stream) call.answer.keepAlive(now, null);
  }

  shutDown(): void {
    this.stop(RESTARTING);
  }

  private stop({ code, message }: typeof TIME_IS_UP): void {
    this.abort();
    giveUp(this.pursuit, this.last, new ServiceError(code, message), 'error');
  }
}

/** A large body is being read again, in slices. */
class Rereading extends Between {
  begin(goOn: (request: CanonicalRequest) => void): void {
    const { run, incoming } = this.pursuit;
    run.call.enter(this);
    inTurn(incoming, readAgainInSteps(incoming))
      .then((request) => {
        if (this.isCurrent) goOn(request);
      })
      .catch((error: unknown) => {
        if (this.isCurrent) giveUp(this.pursuit, this.last, error);
      });
  }
}

/** Media are being fetched for an attempt that is not prepared yet. */
class Fetching extends Between {
  private readonly fetch: Fetch;

  constructor(pursuit: Pursuit, fetch: Fetch, last: Said | null) {
    super(pursuit, last);
    this.fetch = fetch;
  }

  begin(): void {
    this.pursuit.run.call.enter(this);
    void this.fetch.media.then(
      (media) => this.fetched(media),
      (error: unknown) => this.unfetched(error),
    );
  }

  protected override abort(): void {
    this.fetch.abort();
  }

  private fetched(media: FetchedMedia): void {
    if (this.isCurrent) tryNext({ ...this.pursuit, media }, this.last);
  }

  /**
   * Media that an endpoint needs as bytes could not be fetched: the attempt has failed; other endpoints may accept
   * the address.
   */
  private unfetched(error: unknown): void {
    if (!this.isCurrent) return;
    this.abort();
    const { pursuit, last } = this;
    readOnceMore(pursuit, last, (request) => {
      const { run, tries, media } = pursuit;
      const { deps, record } = run.call;
      const facts = { attempt: this.fetch.attempt, record, media, error };
      const refusal = passUnfetched(deps, request, tries, facts);
      if (refusal === null) tryNext(pursuit, last);
      else giveUp(pursuit, last, refusal);
    });
  }
}
