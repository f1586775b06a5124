// The caller reads a stream and has seen content. No other endpoint can be tried any more, so nothing here refers to
// the request: a running stream keeps neither its body nor its canonical form in memory.
import type { Relay } from '../../canonical/contract.ts';
import type { UpstreamFault } from '../../canonical/types.ts';
import type { Attempt, AttemptListener, Pieces, Read, Telling } from '../attempt/attempt.ts';
import { RESTARTING, streamFaultOf, TIME_IS_UP } from '../attempt/outcome.ts';
import { endAttempt } from '../record.ts';
import type { Stage } from './call.ts';
import { leave } from './draining.ts';
import { failByDefect, failInStream } from './ends.ts';
import { noteFailure, type Run, reachedOf, type Try } from './run.ts';
import { settleComplete, settleCut, settleTimeIsUp } from './settling.ts';

export class Streaming implements Stage, AttemptListener {
  readonly asked = true;
  private readonly run: Run;
  private readonly now: Try;
  private readonly relay: Relay;

  constructor(run: Run, now: Try, relay: Relay) {
    this.run = run;
    this.now = now;
    this.relay = relay;
  }

  progressed(attempt: Attempt, pieces: Pieces, output: Buffer | string): void {
    if (!this.run.call.answer.send(output)) attempt.pause();
    const why = reachedOf(this.run, attempt, pieces);
    if (why !== null) settleCut(this.run, this.now, { why, telling: pieces.telling, away: false });
  }

  completed(_attempt: Attempt, read: Read, telling: Telling): void {
    settleComplete(this.run, this.now, { read, telling, away: false });
  }

  failed(attempt: Attempt, fault: UpstreamFault): void {
    const { run, now, relay } = this;
    if (noteFailure(run, now, fault)) return settleTimeIsUp(run, now, relay);
    failInStream(run, now, streamFaultOf(run.call.deps, fault, attempt.record.endpoint), relay);
  }

  crashed(_attempt: Attempt, error: unknown): void {
    failByDefect(this.run, this.now, error, this.relay);
  }

  roomAgain(): void {
    this.now.attempt.resume();
  }

  left(): void {
    leave(this.run, this.now, null);
  }

  /** Only whole answers wait for a caller. */
  returned(): void {}

  tick(now: number): void {
    const { call, terms } = this.run;
    if (now - call.started > terms.total_ms) return this.deadline();
    this.now.attempt.tick(now);
    if (call.isIn(this)) call.answer.keepAlive(now, this.relay);
  }

  /**
   * The default limit counts as our fault and is free (docs/outcomes.md#time-is-up). At a lower limit that the caller
   * chose, the call ends as if the caller had left.
   */
  private deadline(): void {
    const { run, now, relay } = this;
    const { attempt } = now;
    // A caller that does not read is treated as one that left: it pays for what was produced. Otherwise it could get
    // answers for nothing by reading all but the last byte.
    if (attempt.paused) {
      this.left();
      return run.call.answer.sink.destroy();
    }
    attempt.abort();
    endAttempt(attempt.record, 'timeout', 'timeout');
    if (run.terms.chosen.total) return settleTimeIsUp(run, now, relay);
    failInStream(run, now, TIME_IS_UP, relay);
  }

  /** Ends as a fault of ours, uncharged (docs/outcomes.md#gateway-stops). */
  shutDown(): void {
    this.now.attempt.abort();
    failInStream(this.run, this.now, RESTARTING, this.relay);
  }
}
