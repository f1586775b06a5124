// Follows the fee of a plan for one month to its end: paid, or after its days of grace the end of the plan. The fee was
// ordered before it starts; mails and the change of plan are written in the transaction that decides them.
import {
  ActivityFailure,
  ApplicationFailure,
  condition,
  defineQuery,
  defineSignal,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import { showState } from '../search.ts';
import type { PeriodArgs, PlanPeriodActivities } from './activities.ts';

type Progress = Awaited<ReturnType<PlanPeriodActivities['advancePeriod']>>;

export interface PlanPeriodState extends PeriodArgs {
  readonly status: Progress['status'] | 'starting';
  readonly tries: number;
  readonly looks: number;
}

/** Sent when the installation's clock was moved (development). */
const clockMoved = defineSignal('clock_moved');
export const state = defineQuery<PlanPeriodState>('state');

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Credit that came is noticed within the hour; an owner who does not want to wait asks for the plan again. */
const LOOK_MS = HOUR_MS;
/** The ledger was asked and has not answered. */
const ANSWER_MS = MINUTE_MS;

const { advancePeriod } = proxyActivities<PlanPeriodActivities>({
  startToCloseTimeout: '30 seconds',
  scheduleToCloseTimeout: '5 minutes',
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
    nonRetryableErrorTypes: ['NotFound'],
  },
  summary: 'the step that is due',
});

/** Whether the workflow goes on after this failed activity. It does not when the month was not charged. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof ActivityFailure) || isCancellation(error)) return false;
  return !(error.cause instanceof ApplicationFailure && error.cause.type === 'NotFound');
}

const OPEN: readonly PlanPeriodState['status'][] = ['starting', 'pending', 'grace'];

/** The workflow of a month's fee. Its id is `plan-{org}-{yyyymm}`, its task queue `money`. */
export async function planPeriod(args: PeriodArgs): Promise<PlanPeriodState> {
  let now: PlanPeriodState = { ...args, status: 'starting', tries: 0, looks: 0 };
  let news = 0;
  setHandler(clockMoved, () => {
    news++;
  });
  setHandler(state, () => now);
  for (;;) {
    const seen = news;
    let wait_ms = ANSWER_MS;
    try {
      const { status, tries, grace_ends_in_ms } = await advancePeriod(args);
      now = { ...args, status, tries, looks: now.looks + 1 };
      if (grace_ends_in_ms !== null) wait_ms = Math.max(MINUTE_MS, Math.min(LOOK_MS, grace_ends_in_ms));
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
    showState(now.status);
    setCurrentDetails(`${now.status}; the ledger was asked ${now.tries} times`);
    if (!OPEN.includes(now.status)) return now;
    await condition(() => news !== seen, wait_ms, { summary: 'until the fee is tried again' });
  }
}
