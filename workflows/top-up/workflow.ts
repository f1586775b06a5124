// Follows one top-up from its checkout to its end: asks the rail for what no callback has reported, expires a top-up
// that nobody paid, mails the receipt. A callback could book everything that the workflow books. It can be lost,
// repeated or late without harm, because every step decides from the row.
import {
  ActivityFailure,
  type ActivityOptions,
  ApplicationFailure,
  condition,
  defineQuery,
  defineSignal,
  isCancellation,
  log,
  proxyActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import { showState } from '../search.ts';
import type { TopUpActivities, TopUpReport } from './activities.ts';
import { nextStep, type Step } from './schedule.ts';

export interface TopUpState {
  readonly topup_id: string;
  readonly status: TopUpReport['status'] | 'starting';
  readonly polls: number;
  readonly polls_failed: number;
  readonly receipt: 'none' | 'sent' | 'not_needed' | 'failed';
  readonly next: Step | null;
}

/** Sent when the top-up was paid and booked. */
export const booked = defineSignal('booked');
/** Sent when its organization cancelled it. */
export const cancelled = defineSignal('cancelled');
/** Sent when the installation's clock was moved (development). */
const clockMoved = defineSignal('clock_moved');
export const state = defineQuery<TopUpState>('state');

const MINUTE_MS = 60_000;
/** Each attempt may take half a minute; attempts are not limited. */
const defaults: ActivityOptions = {
  startToCloseTimeout: '30 seconds',
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '5 minutes',
    nonRetryableErrorTypes: ['RailDeclined', 'Validation', 'NotFound', 'StateConflict'],
  },
};
/**
 * How long the end waits for the signal of a booking that a poll made, so that the signal does not come after the
 * end.
 */
const SIGNAL_PATIENCE_MS = 5 * MINUTE_MS;
/** How long one poll is retried before it waits for the next in the schedule; the last poll has an hour. */
const POLL_PATIENCE_MS = 5 * MINUTE_MS;
const LAST_PATIENCE_MS = 60 * MINUTE_MS;

const { readTopup } = proxyActivities<TopUpActivities>({ ...defaults, summary: 'where it stands' });
const { expireTopup } = proxyActivities<TopUpActivities>({ ...defaults, summary: 'nobody paid in time' });
const { mailReceipt } = proxyActivities<TopUpActivities>({
  ...defaults,
  scheduleToCloseTimeout: '24 hours',
  summary: 'receipt to the billing address',
});

function pollWithin(scheduleToCloseTimeout: number): Pick<TopUpActivities, 'pollTopup'> {
  return proxyActivities<TopUpActivities>({ ...defaults, scheduleToCloseTimeout, summary: 'ask the rail' });
}

/** Whether the workflow continues after this failed activity. It does not when the top-up does not exist. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof ActivityFailure) || isCancellation(error)) return false;
  return !(error.cause instanceof ApplicationFailure && error.cause.type === 'NotFound');
}

class Follower {
  private readonly topup_id: TopUpReport['topup_id'];
  private progress: TopUpReport | null = null;
  /** When `progress` was read, by the workflow's clock. */
  private read_ms = 0;
  private done_ms = -1;
  private next: Step | null = null;
  private polls = 0;
  private polls_failed = 0;
  private receipt: TopUpState['receipt'] = 'none';
  private news = 0;
  private booked_signalled = false;

  constructor(topup_id: TopUpReport['topup_id']) {
    this.topup_id = topup_id;
    setHandler(booked, () => {
      this.booked_signalled = true;
      this.news++;
    });
    setHandler(cancelled, () => {
      this.news++;
    });
    setHandler(clockMoved, () => {
      this.news++;
    });
    setHandler(state, () => this.state());
  }

  state(): TopUpState {
    const { topup_id, polls, polls_failed, receipt, next } = this;
    return { topup_id, status: this.progress?.status ?? 'starting', polls, polls_failed, receipt, next };
  }

  private note(progress: TopUpReport): TopUpReport {
    this.progress = progress;
    showState(progress.status);
    this.read_ms = Date.now();
    return progress;
  }

  private async read(): Promise<TopUpReport> {
    return this.note(await readTopup(this.args()));
  }

  private args(): { topup_id: TopUpReport['topup_id'] } {
    return { topup_id: this.topup_id };
  }

  private ageMs(progress: TopUpReport): number {
    return progress.age_ms + (Date.now() - this.read_ms);
  }

  private plan(progress: TopUpReport): Step {
    this.next = nextStep({ ...progress, age_ms: this.ageMs(progress) }, this.done_ms);
    const { polls, polls_failed } = this;
    setCurrentDetails(
      `${progress.status}; asked the rail ${polls} times, ${polls_failed} in vain; receipt: ${this.receipt}`,
    );
    return this.next;
  }

  /** Asks the rail. When the rail cannot answer, the schedule asks again. */
  private async poll(patience_ms: number): Promise<TopUpReport> {
    this.polls++;
    try {
      return this.note(await pollWithin(patience_ms).pollTopup(this.args()));
    } catch (error) {
      if (!isPassing(error)) throw error;
      this.polls_failed++;
      log.warn('the rail could not be asked', this.args());
      return this.read();
    }
  }

  private async pollStep(step: Step, before: TopUpReport): Promise<TopUpReport> {
    this.done_ms = step.due_ms;
    const is_last = nextStep({ ...before, age_ms: this.ageMs(before) }, step.due_ms).do === 'end';
    const progress = await this.poll(is_last ? LAST_PATIENCE_MS : POLL_PATIENCE_MS);
    if (progress.status !== 'pending' || this.ageMs(progress) < progress.open_ms) return progress;
    return this.note(await expireTopup(this.args()));
  }

  private async sendReceipt(): Promise<void> {
    try {
      const { sent } = await mailReceipt(this.args());
      this.receipt = sent ? 'sent' : 'not_needed';
    } catch (error) {
      if (!isPassing(error)) throw error;
      this.receipt = 'failed';
      log.error('the receipt could not be mailed', this.args());
    }
  }

  /** What follows a booking; runs once. */
  private async afterBooking(progress: TopUpReport): Promise<TopUpReport> {
    await this.sendReceipt();
    const reported = progress.fee_known ? progress : await this.poll(POLL_PATIENCE_MS);
    const summary = 'the signal of the booking';
    await condition(() => this.booked_signalled, SIGNAL_PATIENCE_MS, { summary });
    return reported;
  }

  async run(): Promise<TopUpState> {
    let progress = await this.read();
    for (;;) {
      if (progress.status === 'paid' && this.receipt === 'none') progress = await this.afterBooking(progress);
      const seen = this.news;
      const step = this.plan(progress);
      const wait_ms = step.due_ms - this.ageMs(progress);
      const summary = step.do === 'end' ? 'no more is expected' : 'until the rail is asked';
      if (wait_ms > 0 && (await condition(() => this.news !== seen, wait_ms, { summary }))) {
        progress = await this.read();
        continue;
      }
      if (step.do === 'end') return this.state();
      progress = await this.pollStep(step, progress);
    }
  }
}

/** The workflow of a top-up that is paid at a checkout. Its id is `topup-{tup}`, its task queue `money`. */
export async function topUp(args: { readonly topup_id: TopUpReport['topup_id'] }): Promise<TopUpState> {
  return new Follower(args.topup_id).run();
}
