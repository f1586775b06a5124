// What an automatic top-up does next, as a pure function of its age on the product's clock.
import type { AttemptReport } from './activities.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const POLLS_MS = [MINUTE_MS, 2 * MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS];
/** A debit without an end so long after it was sent is put before the staff. */
const SILENT_MS = 36 * HOUR_MS;
/** From then on the rail is asked less often. */
const SLOW_MS = 6 * HOUR_MS;

export interface Step {
  readonly do: 'announce' | 'charge' | 'poll' | 'report';
  /** Age at which the step is due. */
  readonly due_ms: number;
}

/** Age at which a debit that was sent is asked for next, after the poll that was due at `done_ms`. */
function pollAt(sent_ms: number, done_ms: number, age_ms: number): number {
  const early = POLLS_MS.map((after) => sent_ms + after).find((due) => due > done_ms);
  if (early !== undefined) return early;
  const every_ms = age_ms - sent_ms < SILENT_MS ? HOUR_MS : SLOW_MS;
  return Math.max(done_ms + every_ms, age_ms);
}

/**
 * The step after the poll that was due at age `done_ms` (-1: none yet). A debit that the rail was asked for is asked for
 * until it has an end; before that nothing else may be debited.
 */
export function nextStep(
  { status, age_ms, due_ms, sent_ms }: AttemptReport,
  done_ms: number,
  is_reported: boolean,
): Step {
  if (status === 'announcing') return { do: 'announce', due_ms: age_ms };
  if (status === 'waiting' || sent_ms === null) return { do: 'charge', due_ms };
  if (!is_reported && age_ms - sent_ms >= SILENT_MS) return { do: 'report', due_ms: age_ms };
  return { do: 'poll', due_ms: pollAt(sent_ms, done_ms, age_ms) };
}
