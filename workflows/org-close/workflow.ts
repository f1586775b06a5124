// What follows from the closing of an organization: mandates and sessions end, then, once no call is under way, paid credit goes
// back where that was asked for and given credit expires. Every step decides from rows, so that it can be repeated.
import {
  type ActivityOptions,
  condition,
  defineQuery,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import { showState } from '../search.ts';
import type { ClosingActivities, ClosingArgs } from './activities.ts';

type Progress = Awaited<ReturnType<ClosingActivities['endCredit']>>;

export interface OrgCloseState extends ClosingArgs {
  readonly status: Progress['status'] | 'starting';
  readonly refunds_open: number;
  readonly looks: number;
}

/** A payment was booked after the closing. */
const booked = defineSignal('booked');
/** The organization was open again and has been closed once more. */
const closed = defineSignal('closed');
/** Sent when the installation's clock was moved (development). */
const clockMoved = defineSignal('clock_moved');
export const state = defineQuery<OrgCloseState>('state');

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** What the staff know of is looked at so often. */
const RARE_MS = 6 * HOUR_MS;
/** Waits after the first looks; later each hour. */
const WAITS_MS = [6 * SECOND_MS, 15 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS] as const;
/** What has not come to its end by then is put before the staff. */
const REPORT_MS = 3 * DAY_MS;
/** The longest that a refund is followed; what is open then is the staff's. */
const PATIENCE_MS = 30 * DAY_MS;

const defaults: ActivityOptions = {
  // A worker that is killed in a step is missed after this time.
  startToCloseTimeout: '30 seconds',
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '5 minutes',
    nonRetryableErrorTypes: ['NotFound'],
  },
};
const { endAccess } = proxyActivities<ClosingActivities>({ ...defaults, summary: 'mandates and sessions' });
const { endCredit } = proxyActivities<ClosingActivities>({
  ...defaults,
  summary: 'refunds and given credit',
});
const { reportClosing } = proxyActivities<ClosingActivities>({ ...defaults, summary: 'a person must look' });

/** The workflow of a closing. Its id is `close-{org}`, its task queue `money`. */
export async function orgClose(args: ClosingArgs): Promise<OrgCloseState> {
  let now: OrgCloseState = { ...args, status: 'starting', refunds_open: 0, looks: 0 };
  let news = 0;
  let is_begun = false;
  let is_reported = false;
  for (const signal of [booked, clockMoved]) setHandler(signal, () => void news++);
  setHandler(closed, () => {
    news++;
    is_begun = false;
  });
  setHandler(state, () => now);
  for (;;) {
    const seen = news;
    if (!is_begun) {
      is_begun = true;
      await endAccess(args);
    }
    const { status, refunds_open, age_ms } = await endCredit(args);
    now = { ...args, status, refunds_open, looks: now.looks + 1 };
    showState(status);
    setCurrentDetails(`${status}; ${refunds_open} refunds open; looked ${now.looks} times`);
    if (status === 'waiting' && age_ms >= REPORT_MS && !is_reported) {
      is_reported = true;
      await reportClosing(args);
    }
    if (news !== seen) continue;
    if (status !== 'waiting' || age_ms >= PATIENCE_MS) return now;
    const later_ms = age_ms < REPORT_MS ? HOUR_MS : RARE_MS;
    const wait_ms = WAITS_MS[now.looks - 1] ?? later_ms;
    await condition(() => news !== seen, wait_ms, { summary: 'until it is looked at again' });
  }
}
