// The answer is complete and its charge is being settled; the last bytes of the answer wait for that. Meanwhile the
// caller may leave, or come back for an answer that was drained: whoever is connected when the settle is done gets
// the end of the answer.

import { isTooLong } from '../../../pricing/index.ts';
import type { Relay } from '../../canonical/contract.ts';
import type { StreamFault, Usage } from '../../canonical/types.ts';
import type { Attempt, Read, Telling } from '../attempt/attempt.ts';
import { CUT, REPLACED, TIME_IS_UP } from '../attempt/outcome.ts';
import { endAttempt, warn } from '../record.ts';
import { type Ending, settleCall } from '../settle/settlement.ts';
import { doubt, learn, soundUsage } from '../settle/usage.ts';
import type { Stage } from './call.ts';
import { finishRun, tellFault } from './ends.ts';
import { estimate, estimateOfAll, type Run, type Try } from './run.ts';

/** What waits for the settle: the end of an answer, an error that costs, or nobody. */
type Closing =
  | Telling
  | { readonly as: 'fault'; readonly fault: StreamFault; readonly shown: Relay | null }
  | { readonly as: 'nothing' };

/** Why a call is settled, and for how much. */
interface Due {
  readonly reported: Usage;
  readonly how: Ending;
  readonly closing: Closing;
  /** The caller has left. */
  readonly away: boolean;
}

class Settling implements Stage {
  readonly asked = true;
  private away: boolean;
  private readonly run: Run;
  private readonly now: Try;
  private readonly due: Due;

  constructor(run: Run, now: Try, due: Due) {
    this.run = run;
    this.now = now;
    this.due = due;
    this.away = due.away;
  }

  tick(): void {}
  roomAgain(): void {}
  shutDown(): void {}

  left(): void {
    this.away = true;
  }

  returned(): void {
    this.away = false;
  }

  async settle(): Promise<void> {
    const { run, now, due } = this;
    const { deps, record, started } = run.call;
    let settled: Awaited<ReturnType<typeof settleCall>>;
    try {
      settled = await settleCall({
        deps,
        record,
        attempt: now.attempt.record,
        started,
        terms: run.terms,
        reported: due.reported,
        how: due.how,
        meta: now.meta,
        kept: now.kept,
        left: () => this.away,
      });
    } catch (error) {
      // No settle was sent.
      run.call.release();
      return this.unfinished(error);
    }
    try {
      this.tell(settled);
    } catch (error) {
      // The charge is settled, or the ledger will settle it.
      this.unfinished(error);
    }
  }

  private tell({ end, replaced }: Awaited<ReturnType<typeof settleCall>>): void {
    const { run, now, due } = this;
    const { closing } = due;
    if (due.how.fault === undefined) run.terms.remember(now.attempt.record.endpoint);
    if (this.away || closing.as === 'nothing') {
      return finishRun(run, now, { status: 'cancelled', http_status: 499, code: 'client_closed' });
    }
    if (closing.as === 'fault') return tellFault(run, now, { ...closing, end });
    if (replaced) {
      const shown = closing.as === 'stream' && closing.relay.state.semantic ? closing.relay : null;
      return tellFault(run, now, { fault: REPLACED, shown, end });
    }
    if (closing.as === 'stream') run.call.answer.endStream(closing.relay, end);
    else run.call.answer.endWhole(closing.body(now.meta, end), end);
    finishRun(run, now, { status: 'ok', http_status: 200, code: '' });
  }

  /** Ends a call whose last bytes cannot be written. */
  private unfinished(error: unknown): void {
    const { call } = this.run;
    call.deps.log.error({ request_id: call.record.request_id, error }, 'answer not finished');
    call.answer.sink.destroy();
    finishRun(this.run, this.now, { status: 'error', http_status: 500, code: 'internal' });
  }
}

function settle(run: Run, now: Try, tool_calls: number, due: Due): void {
  const settling = new Settling(run, now, due);
  run.call.enter(settling);
  run.call.record.tool_calls = tool_calls;
  void settling.settle();
}

/** Settles a complete answer by the provider's usage, or by an estimate when that is missing or implausible. */
export function settleComplete(
  run: Run,
  now: Try,
  done: { readonly read: Read; readonly telling: Telling; readonly away: boolean },
): void {
  const { call } = run;
  const { attempt } = now;
  const { read, telling: closing, away } = done;
  const { stop, tool_calls } = read;
  const usage = soundUsage(read.usage);
  endAttempt(attempt.record, 'ok', '');
  const reported = meteredOf(run, attempt, { ...read, usage });
  const estimated = reported !== usage;
  if (estimated) warn(call.record, 'usage_estimated', NOT_REPORTED[usage === null ? 'all' : 'others']);
  settle(run, now, tool_calls, { reported, how: { estimated, stop }, closing, away });
}

const NOT_REPORTED = {
  all: 'The provider reported no usage; the text was counted.',
  others: 'The provider reported the usage of one answer of several; the text of all was counted.',
};

/** What the provider reports of a complete answer, or a count where that is missing or tells a part. */
function meteredOf(run: Run, attempt: Attempt, read: Read): Usage {
  const { call, terms } = run;
  const { usage, output_bytes: bytes, content_events: events } = read;
  if (usage?.of_one_choice === true && terms.candidates > 1) return estimateOfAll(run, attempt, read, usage);
  learn(call.deps, call.record, attempt.record, {
    usage,
    produced: { bytes, events },
    prompt_bytes: terms.open_input ? null : terms.prompt_bytes,
    bound: terms.boundOf(attempt.record.endpoint),
  });
  if (usage === null) return estimate(run, attempt, read);
  if (isTooLong(bytes, usage.output_tokens)) {
    warn(call.record, 'usage_inconsistent', 'The provider reported fewer tokens than the answer can have.');
    doubt(call.deps, call.record, attempt.record, 'too_few');
  }
  return usage;
}

/**
 * Settles a running answer that the gateway itself ends: credit is used up, or the endpoint ignores its cap
 * (docs/outcomes.md#credit-reached-mid-stream, docs/outcomes.md#cap-ignored).
 */
export function settleCut(
  run: Run,
  now: Try,
  cut: { readonly why: keyof typeof CUT; readonly telling: Telling; readonly away: boolean },
): void {
  const { attempt } = now;
  attempt.abort();
  endAttempt(attempt.record, 'ok', '');
  const { code, message } = CUT[cut.why];
  warn(run.call.record, code, message);
  const how: Ending = { estimated: true, stop: { reason: 'max_tokens' }, forced: true };
  const due = { reported: estimate(run, attempt), how, closing: cut.telling, away: cut.away };
  settle(run, now, toolCallsOf(attempt), due);
}

/**
 * Settles an answer that a limit chosen by the caller ended. The caller pays for what was produced, as if it had
 * left, but by an estimate made now and without draining: this caller waits for its error, which states the cost
 * (docs/outcomes.md#chosen-time-is-up).
 */
export function settleTimeIsUp(run: Run, now: Try, shown: Relay | null): void {
  const { attempt } = now;
  const how: Ending = { estimated: true, stop: null, fault: TIME_IS_UP };
  const closing: Closing = { as: 'fault', fault: TIME_IS_UP, shown };
  settle(run, now, toolCallsOf(attempt), { reported: estimate(run, attempt), how, closing, away: false });
}

/**
 * Settles an answer that stops because the caller left: it pays for what was produced
 * (docs/outcomes.md#left-mid-stream).
 */
export function settleLeft(run: Run, now: Try): void {
  const { attempt } = now;
  // No answer is left for a retry of the client to wait for.
  run.call.deps.drained.delete(run.call);
  const how: Ending = { estimated: true, stop: null, forced: true };
  const due: Due = { reported: estimate(run, attempt), how, closing: { as: 'nothing' }, away: true };
  settle(run, now, toolCallsOf(attempt), due);
}

function toolCallsOf({ state }: Attempt): number {
  return state?.tool_calls ?? 0;
}
