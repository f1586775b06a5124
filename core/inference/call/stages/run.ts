// What the stages of a call with held money share: the terms, the running attempt, and the handling of its events
// that is the same in every stage.

import type { ReplyMeta, UpstreamFault, Usage } from '../../canonical/types.ts';
import type { Terms } from '../admit/admit.ts';
import type { Attempt, Pieces, Read } from '../attempt/attempt.ts';
import type { Kept, Lane } from '../attempt/lane.ts';
import { attemptOutcome, blame, type CUT, isChosenLimit } from '../attempt/outcome.ts';
import { endAttempt, viewerOf } from '../record.ts';
import type { ContentKeeper } from '../settle/content.ts';
import { estimateUsage } from '../settle/usage.ts';
import type { Call } from './call.ts';

/** Of a whole answer that has not come yet. */
const NOTHING = { output_bytes: 0, content_events: 0 };

/** A call whose money is held. */
export interface Run {
  readonly call: Call;
  readonly terms: Terms;
  /** Passes the content to the organization's log at the end; null when it is not logged. */
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

/** Usage counted from the text so far; `read` where the attempt was read at its end. */
export function estimate({ call, terms }: Run, attempt: Attempt, read?: Read): Usage {
  const { state } = attempt;
  const { output_bytes: bytes, content_events: events } = read ?? state ?? NOTHING;
  return estimateUsage(state?.early_usage ?? null, {
    prompt_bytes: terms.prompt_bytes,
    produced: { bytes, events, ended: read !== undefined },
    ratio: call.deps.ratioOf(attempt.record.endpoint.id),
  });
}

/**
 * Usage counted from the text of several answers, where the provider reports that of one, which tells the prompt that all
 * have in common; several prompts are counted too.
 */
export function estimateOfAll(run: Run, attempt: Attempt, read: Read, of_one: Usage): Usage {
  const counted = estimate(run, attempt, read);
  const { input_tokens, cache_read_tokens, cache_write_tokens } = of_one;
  const others = run.terms.prompts > 1 ? counted.input_tokens - cache_read_tokens - cache_write_tokens : 0;
  return {
    ...counted,
    ...{ cache_read_tokens, cache_write_tokens },
    input_tokens: Math.max(input_tokens, others),
    output_tokens: Math.max(of_one.output_tokens, counted.output_tokens),
  };
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
