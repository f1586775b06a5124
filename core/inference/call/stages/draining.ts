// The caller has left, but the provider bills the whole answer anyway: it is read to its end and settled by the
// reported usage (docs/outcomes.md#left-while-drained). The caller of a whole answer may come back for it.
import { stopsWhenLeft } from '../../../catalog/index.ts';
import { ServiceError } from '../../../kernel/index.ts';
import type { RouteLeft } from '../../../routing/index.ts';
import type { UpstreamFault } from '../../canonical/types.ts';
import type { Attempt, AttemptListener, Pieces, Read, Telling } from '../attempt/attempt.ts';
import { RESTARTING } from '../attempt/outcome.ts';
import { endAttempt } from '../record.ts';
import type { Incoming } from '../types.ts';
import type { Stage } from './call.ts';
import { cancel, failByDefect, failInStream, refuse } from './ends.ts';
import { noteFailure, type Run, reachedOf, type Try } from './run.ts';
import { settleComplete, settleCut, settleLeft } from './settling.ts';

/** How long the answer of a call whose caller left is read from the provider. */
const DRAIN_MAX_MS = 600_000;

/** The stage in which the caller left, and to which the call goes back when it returns. */
interface Left extends Stage, AttemptListener {
  readonly incoming: Incoming;
}

/**
 * The caller left while an attempt was running. When the provider stops billing on cancellation, the answer ends
 * here; otherwise it is drained. `left` is the stage in which a whole answer continues if its caller comes back.
 */
export function leave(run: Run, now: Try, left: Left | null): void {
  const { call, terms } = run;
  const { attempt } = now;
  call.answer.dropHeld();
  const { endpoint } = attempt.record;
  const cut = attempt.pieces !== null || endpoint.cancel_billing === 'stops_all';
  const stops = stopsWhenLeft(endpoint);
  if (cut && stops && terms.idempotency === null) {
    attempt.abort();
    endAttempt(attempt.record, 'cancelled', 'client_gone');
    return settleLeft(run, now);
  }
  if (call.record.left !== null) call.record.left.read_on = readOnFor(run, now, stops);
  const draining = new Draining(run, now, left);
  call.enter(draining);
  attempt.listener = draining;
  attempt.resume();
  if (left !== null) call.deps.drained.add(left.incoming, call);
}

/** Why an answer is read although its caller has left. */
function readOnFor({ terms }: Run, { attempt }: Try, stops: boolean): RouteLeft['read_on'] {
  if (!stops) return 'billed_whole';
  return terms.idempotency === null && attempt.pieces === null ? 'whole_answer' : 'idempotency_key';
}

class Draining implements Stage, AttemptListener {
  readonly asked = true;
  private readonly since: number;
  private readonly run: Run;
  private readonly now: Try;
  private readonly before: Left | null;

  constructor(run: Run, now: Try, before: Left | null) {
    this.run = run;
    this.now = now;
    this.before = before;
    this.since = run.call.deps.clock.monotonicMs();
  }

  left(): void {}
  roomAgain(): void {}

  returned(): void {
    if (this.before === null) return;
    this.run.call.enter(this.before);
    this.now.attempt.listener = this.before;
  }

  tick(now: number): void {
    const { attempt } = this.now;
    if (now - this.since <= DRAIN_MAX_MS) return attempt.tick(now);
    attempt.abort();
    settleLeft(this.run, this.now);
  }

  shutDown(): void {
    this.now.attempt.abort();
    if (this.isStreamWithContent()) return failInStream(this.run, this.now, RESTARTING, null);
    this.refuse(new ServiceError(RESTARTING.code, RESTARTING.message), 'error');
  }

  progressed(attempt: Attempt, pieces: Pieces): void {
    const why = reachedOf(this.run, attempt, pieces);
    if (why !== null) settleCut(this.run, this.now, { why, telling: pieces.telling, away: true });
  }

  completed(_attempt: Attempt, read: Read, telling: Telling): void {
    settleComplete(this.run, this.now, { read, telling, away: true });
  }

  /** The caller pays for what the provider has produced so far. */
  failed(attempt: Attempt, fault: UpstreamFault): void {
    noteFailure(this.run, this.now, fault);
    if (attempt.state?.semantic === true) settleLeft(this.run, this.now);
    else cancel(this.run, this.now);
  }

  crashed(attempt: Attempt, error: unknown): void {
    if (this.isStreamWithContent()) return failByDefect(this.run, this.now, error, null);
    endAttempt(attempt.record, 'error', 'gateway_defect');
    this.refuse(error);
  }

  private isStreamWithContent(): boolean {
    return this.run.terms.stream && this.now.attempt.state?.semantic === true;
  }

  private refuse(error: unknown, status?: 'error'): void {
    const body = this.before?.incoming.body ?? null;
    refuse(this.run, this.now, { error, body, ...(status === undefined ? {} : { status }) });
  }
}
