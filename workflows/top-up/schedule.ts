// When the rail is asked about a top-up (docs/money/topups.md#callbacks), as a pure function of the top-up's age. Ages are
// used and not times, because the product's clock and Temporal's differ when the development clock is moved, and
// because a workflow that starts late must not begin again.
import type { TopupStatus } from '@svc/core/topups/index.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const FIRST_POLLS_MS = [2 * MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS];
/** The last poll for late money: 48 h for a top-up that is open for 23 h. */
const LAST_POLL_AFTER_OPEN_MS = 25 * HOUR_MS;
/** Leaves time for the last poll when the rail is down: 49 h for a top-up that is open for 23 h. */
const END_AFTER_OPEN_MS = 26 * HOUR_MS;

export interface PollState {
  readonly status: TopupStatus;
  /** Whether the rail's fee is known. */
  readonly fee_known: boolean;
  /** Milliseconds since the top-up was created. */
  readonly age_ms: number;
  /** Milliseconds from its creation to its expiry. */
  readonly open_ms: number;
}

export interface Step {
  readonly do: 'poll' | 'end';
  /** Age at which the step is due; an overdue step has an age that has passed. */
  readonly due_ms: number;
}

/**
 * The ages at which the rail is asked: at 2, 5, 15 and 60 min, hourly until expiry, at expiry, and for late money.
 */
export function pollAges(open_ms: number): number[] {
  const ages = FIRST_POLLS_MS.filter((age) => age < open_ms);
  for (let age = HOUR_MS; age < open_ms; age += HOUR_MS) ages.push(age);
  return [...ages, open_ms, open_ms + LAST_POLL_AFTER_OPEN_MS];
}

function pollsOf({ status, fee_known, open_ms }: PollState): number[] {
  const all = pollAges(open_ms);
  switch (status) {
    case 'pending':
      return all;
    case 'paid':
      return fee_known ? [] : all;
    case 'failed':
    case 'expired':
      // Money can still arrive late; nothing else can happen.
      return all.slice(-1);
    case 'review':
      return [];
  }
}

/**
 * The step after the one that was due at age `done_ms` (-1: none yet). Of several missed polls only the latest is
 * made up for. The end comes after the last poll, however late that is.
 */
export function nextStep(state: PollState, done_ms: number): Step {
  if (state.status === 'paid' && state.fee_known) return { do: 'end', due_ms: state.age_ms };
  const left = pollsOf(state).filter((due_ms) => due_ms > done_ms);
  const missed = left.filter((due_ms) => due_ms <= state.age_ms).at(-1);
  const due_ms = missed ?? left[0];
  if (due_ms !== undefined) return { do: 'poll', due_ms };
  return { do: 'end', due_ms: state.open_ms + END_AFTER_OPEN_MS };
}
