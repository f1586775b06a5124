// The first stage: the request is read and its money held. Nothing is owed yet.
import { ServiceError } from '../../../kernel/index.ts';
import { type Admission, type Admitted, admit, type Replayed } from '../admit/admit.ts';
import { sendReplay } from '../answer/replay.ts';
import { Tries } from '../attempt/failover.ts';
import { RESTARTING } from '../attempt/outcome.ts';
import { tellLost } from '../record.ts';
import { contentKeeper } from '../settle/content.ts';
import type { Incoming } from '../types.ts';
import type { Call, Stage } from './call.ts';
import { cancel, refuseUnheld } from './ends.ts';
import { tryLane, tryNext } from './trying.ts';

export class Admitting implements Stage {
  readonly asked = false;
  private readonly call: Call;
  private readonly incoming: Incoming;

  constructor(call: Call, incoming: Incoming) {
    this.call = call;
    this.incoming = incoming;
  }

  /** Admits the call and starts its first attempt. Refusals are answered here; nothing is thrown. */
  async begin(): Promise<void> {
    const { call, incoming } = this;
    call.enter(this);
    call.deps.ticker.add(call);
    let admission: Admission;
    try {
      admission = await admit(call.deps, incoming, call.record);
    } catch (error) {
      if (call.isIn(this)) refuseUnheld(call, { error, body: incoming.body });
      return;
    }
    if (call.isIn(this)) this.admitted(admission);
    // The process has ended the call meanwhile.
    else if ('call' in admission) call.release();
  }

  private admitted(admission: Admission): void {
    if ('replay' in admission) return this.replay(admission.replay);
    this.start(admission.call);
  }

  private start({ terms, first, shadow }: Admitted): void {
    const { call, incoming } = this;
    const run = { call, terms, keepContent: contentKeeper(call.deps, incoming, call.record) };
    if (call.answer.sink.gone) return cancel(run, null);
    if (shadow !== null) call.copy = call.deps.shadows.keep(call.deps, incoming, shadow);
    const pursuit = { run, incoming, tries: new Tries(terms), media: null };
    if (first === null) return tryNext(pursuit, null);
    tellLost(call.record, first.lost);
    tryLane(pursuit, first);
  }

  /** Sends the answer of an earlier call with the same Idempotency-Key: same id, same cost, no new row. */
  private replay(replayed: Replayed): void {
    const { call, incoming } = this;
    call.leaveStages();
    call.deps.ticker.delete(call);
    call.deps.replayed(replayed.id);
    sendReplay(call.answer.sink, incoming.dialect, replayed, call.record);
  }

  tick(): void {}
  /** Nothing to do: the call notices it when admission is done. */
  left(): void {}
  returned(): void {}
  roomAgain(): void {}

  shutDown(): void {
    const error = new ServiceError(RESTARTING.code, RESTARTING.message);
    refuseUnheld(this.call, { error, body: this.incoming.body, status: 'error' });
  }
}
