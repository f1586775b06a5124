import { Answer } from '../answer/answer.ts';
import { endRecord, newRecord, timeTaken } from '../record.ts';
import type { Watched } from '../ticker.ts';
import type { CallDeps, CallRecord, Incoming, KeptCopy, Reattachable, Sink } from '../types.ts';

/**
 * What happens to a call in one stage of its life. Each stage is a class with exactly the facts that exist in it.
 * While an attempt runs, the stage is its listener.
 */
export interface Stage {
  /** Whether a provider may have been asked. Before that, a caller that leaves owes nothing. */
  readonly asked: boolean;
  /** Called about ten times a second, with the monotonic time in ms. */
  tick(now: number): void;
  /** The caller has disconnected. */
  left(): void;
  /** The caller has come back for its answer. */
  returned(): void;
  /** The caller's socket can take more data. */
  roomAgain(): void;
  /** The process stops and the call has not finished in time. */
  shutDown(): void;
}

/** The stage before the first and after the last: events have no effect. */
const NO_STAGE: Stage = {
  asked: false,
  tick() {},
  left() {},
  returned() {},
  roomAgain() {},
  shutDown() {},
};

export class Call implements Watched, Reattachable {
  slot = -1;
  readonly deps: CallDeps;
  readonly record: CallRecord;
  readonly answer: Answer;
  readonly started: number;
  /** Its request, where a shadow gets a copy of it; only then does a running stream keep its body. */
  copy: KeptCopy | null = null;
  private stage = NO_STAGE;

  constructor(deps: CallDeps, incoming: Incoming, sink: Sink) {
    this.deps = deps;
    this.started = deps.clock.monotonicMs();
    this.record = newRecord(incoming, deps.clock.nowMs());
    this.answer = new Answer(sink, this.record, {
      dialect: incoming.dialect,
      base_url: deps.base_url,
      started: this.started,
      clock: deps.clock,
      debug: incoming.headers['x-svc-debug'] === '1',
    });
    this.listenTo(sink);
  }

  /** Moves to `stage`. */
  enter(stage: Stage): void {
    this.stage = stage;
  }

  /** Whether the call is still in `stage`, so that what the stage waited for still matters. */
  isIn(stage: Stage): boolean {
    return this.stage === stage;
  }

  /** The end has been decided: later events have no effect. */
  leaveStages(): void {
    this.stage = NO_STAGE;
  }

  /** Only calls whose callers left are found by a retry. */
  readonly waits = true;
  readonly delivered = false;

  get asked(): boolean {
    return this.stage.asked;
  }

  tick(now: number): void {
    this.stage.tick(now);
  }

  shutDown(): void {
    this.stage.shutDown();
  }

  /** The same caller retries the whole answer that is being drained: it gets this answer and pays once. */
  reattach(sink: Sink): void {
    this.answer.sink = sink;
    this.listenTo(sink);
    this.record.left = null;
    this.stage.returned();
  }

  /** Releases the hold. */
  release(): void {
    const { grant, request_id } = this.record;
    this.deps.ledgers.at(grant.subject.shard).release(grant.subject, request_id);
  }

  /** Ends the call: writes its row and removes it from everything that refers to it. */
  finish(status: CallRecord['status'], http_status: number, code: string): void {
    const { deps, record, answer } = this;
    this.leaveStages();
    endRecord(record, status, http_status, code);
    timeTaken(record, deps.clock.monotonicMs() - this.started);
    deps.ticker.delete(this);
    deps.drained.delete(this);
    answer.sink.onDrain = answer.sink.onGone = null;
    deps.record(record);
    this.copy?.ended(record);
  }

  private goneAway(): void {
    const { deps, record, started } = this;
    record.left ??= { ms: Math.round(deps.clock.monotonicMs() - started), read_on: null };
    this.stage.left();
  }

  private listenTo(sink: Sink): void {
    // Assigned through constants: V8 allocates a function literal that is assigned to a property in old space, as if
    // it were a method, and there it keeps the whole ended call alive through every scavenge.
    const gone = () => this.goneAway();
    const drained = () => this.stage.roomAgain();
    sink.onGone = gone;
    sink.onDrain = drained;
  }
}
