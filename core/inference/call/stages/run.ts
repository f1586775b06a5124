// What the stages of a call whose money is held have in common: what was agreed, the running attempt, and what follows
// from its events in whatever stage they arrive.

import type { ReplyMeta, UpstreamFault, Usage } from '../../canonical/types.ts';
import type { Terms } from '../admit/admit.ts';
import type { Attempt, Pieces } from '../attempt/attempt.ts';
import type { Kept, Lane } from '../attempt/lane.ts';
import { attemptOutcome, blame, type CUT, isChosenLimit } from '../attempt/outcome.ts';
import { endAttempt, viewerOf } from '../record.ts';
import type { ContentKeeper } from '../settle/content.ts';
import { estimateUsage } from '../settle/usage.ts';
import type { Call } from './call.ts';

/** A call whose money is held. */
export interface Run {
  readonly call: Call;
  readonly terms: Terms;
  /** Hands the content to the organisation's log at the end; null where none is logged. */
  readonly keepContent: ContentKeeper | null;
}

/** What an end says of the attempt that it ends, or of the last one before it. */
export type Said = Pick<Lane, 'meta' | 'kept'>;

/** An attempt under way, and of its lane what is needed to the end of the answer. */
export interface Try {
  readonly attempt: Attempt;
  readonly meta: ReplyMeta;
  readonly kept: Kept | null;
  readonly credential: string | null;
}

/** Usage counted from the text so far; `output_bytes` where the attempt was read at its end. */
export function estimate({ call, terms }: Run, attempt: Attempt, output_bytes?: number): Usage {
  const { state } = attempt;
  return estimateUsage(state?.early_usage ?? null, {
    prompt_bytes: terms.prompt_bytes,
    output_bytes: output_bytes ?? state?.output_bytes ?? 0,
    ratio: call.deps.ratioOf(attempt.record.endpoint.id),
  });
}

/** What allows no longer answer than is there by now; null: nothing yet. Asked after every read. */
export function reachedOf(
  { call, terms: { watch } }: Run,
  attempt: Attempt,
  { relay: { state } }: Pieces,
): keyof typeof CUT | null {
  if (state.stop !== null || state.fault !== null) return null;
  const { endpoint } = attempt.record;
  if (watch.isQuiet(endpoint, state.output_bytes)) return null;
  return watch.look(endpoint, state.output_bytes, call.deps.ratioOf(endpoint.id));
}

/** Notes how the attempt failed; true: by a limit of the caller's own choosing. */
export function noteFailure(
  { call, terms }: Run,
  { attempt, credential }: Try,
  fault: UpstreamFault,
): boolean {
  const { record } = attempt;
  const chosen = isChosenLimit(attempt, fault, terms);
  endAttempt(record, attemptOutcome(fault), fault.class);
  // A limit of the caller's own choosing says nothing of the endpoint: one tenant must not close it for all.
  if (!chosen) blame(call.deps, viewerOf(call.record), { endpoint: record.endpoint, credential, fault });
  return chosen;
}
