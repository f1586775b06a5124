// What the stages of a call with held money share: the terms, the running attempt, and the handling of its events
// that is the same in every stage.

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
  /** Passes the content to the organisation's log at the end; null when it is not logged. */
  readonly keepContent: ContentKeeper | null;
}

/** What an end needs of the attempt that it ends, or of the last one before it. */
export type Said = Pick<Lane, 'meta' | 'kept'>;

/** A running attempt, with those parts of its lane that are needed until the end of the answer. */
export interface Try {
  readonly attempt: Attempt;
  readonly meta: ReplyMeta;
  readonly kept: Kept | null;
  readonly credential: string | null;
}

/** Usage estimated from the text so far; `output_bytes` when the attempt is read only at its end. */
export function estimate({ call, terms }: Run, attempt: Attempt, output_bytes?: number): Usage {
  const { state } = attempt;
  return estimateUsage(state?.early_usage ?? null, {
    prompt_bytes: terms.prompt_bytes,
    output_bytes: output_bytes ?? state?.output_bytes ?? 0,
    ratio: call.deps.ratioOf(attempt.record.endpoint.id),
  });
}

/** The limit that the answer has reached; null: none yet. Checked after every read. */
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

/** Records how the attempt failed; true when a limit that the caller chose ended it. */
export function noteFailure(
  { call, terms }: Run,
  { attempt, credential }: Try,
  fault: UpstreamFault,
): boolean {
  const { record } = attempt;
  const chosen = isChosenLimit(attempt, fault, terms);
  endAttempt(record, attemptOutcome(fault), fault.class);
  // A limit that the caller chose says nothing about the endpoint: one tenant must not close it for all.
  if (!chosen) blame(call.deps, viewerOf(call.record), { endpoint: record.endpoint, credential, fault });
  return chosen;
}
