// Carries out one automatic top-up: gives notice, waits, makes the debit unless it is skipped or not needed any more, and
// waits until it is booked or has failed. Every step decides from the rows, so that it can be repeated.
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
import type { TopUpActivities } from '../top-up/activities.ts';
import type { AttemptReport, AutoTopupActivities } from './activities.ts';
import { nextStep } from './schedule.ts';

export interface AutoTopupState {
  readonly org_id: string;
  readonly attempt_no: number;
  readonly status: AttemptReport['status'] | 'starting';
  readonly polls: number;
  readonly receipt: 'none' | 'sent' | 'not_needed' | 'failed';
}

/** Sent when the debit was booked, when it failed, when a person skipped it, when the rail reported its notice. */
export const booked = defineSignal('booked');
const others = ['failed', 'skip', 'noticed'].map((name) => defineSignal(name));
/** Sent when the installation's clock was moved (development). */
const clockMoved = defineSignal('clock_moved');
export const state = defineQuery<AutoTopupState>('state');

const MINUTE_MS = 60_000;
const SIGNAL_PATIENCE_MS = 5 * MINUTE_MS;
const POLL_PATIENCE_MS = 5 * MINUTE_MS;
const defaults: ActivityOptions = {
  startToCloseTimeout: '30 seconds',
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '5 minutes',
    nonRetryableErrorTypes: ['RailDeclined', 'Validation', 'NotFound', 'StateConflict'],
  },
};

const { readAttempt } = proxyActivities<AutoTopupActivities>({ ...defaults, summary: 'where it stands' });
/** Up to five questions to a rail, of ten seconds at most: who still asks gets no successor that asks too. */
const asking: ActivityOptions = { ...defaults, startToCloseTimeout: '1 minute' };
const { announceAttempt } = proxyActivities<AutoTopupActivities>({ ...asking, summary: 'give notice' });
const { chargeAttempt } = proxyActivities<AutoTopupActivities>({
  ...asking,
  summary: 'make the debit, once',
});
const { endAttempt } = proxyActivities<AutoTopupActivities>({ ...defaults, summary: 'note how it ended' });
const { reportAttempt } = proxyActivities<AutoTopupActivities>({
  ...defaults,
  summary: 'a person must look',
});
const { pollTopup } = proxyActivities<TopUpActivities>({
  ...defaults,
  scheduleToCloseTimeout: POLL_PATIENCE_MS,
  summary: 'ask the rail',
});
const { mailReceipt } = proxyActivities<TopUpActivities>({
  ...defaults,
  scheduleToCloseTimeout: '24 hours',
  summary: 'receipt to the billing address',
});

/** Whether the workflow continues after this failed activity. It does not when the attempt does not exist. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof ActivityFailure) || isCancellation(error)) return false;
  return !(error.cause instanceof ApplicationFailure && error.cause.type === 'NotFound');
}

type Args = { readonly org_id: `org_${string}`; readonly attempt_no: number };

class Follower {
  private readonly args: Args;
  private report: AttemptReport | null = null;
  /** When `report` was read, by the workflow's clock. */
  private read_ms = 0;
  private done_ms = -1;
  private polls = 0;
  private news = 0;
  private is_booked = false;
  private is_reported = false;
  private receipt: AutoTopupState['receipt'] = 'none';

  constructor(args: Args) {
    this.args = args;
    setHandler(booked, () => {
      this.is_booked = true;
      this.news++;
    });
    for (const signal of [...others, clockMoved]) {
      setHandler(signal, () => {
        this.news++;
      });
    }
    setHandler(state, () => this.state());
  }

  private state(): AutoTopupState {
    const { args, report, polls, receipt } = this;
    return { ...args, status: report?.status ?? 'starting', polls, receipt };
  }

  private note(report: AttemptReport): AttemptReport {
    this.report = report;
    this.read_ms = Date.now();
    showState(report.status);
    setCurrentDetails(`${report.status}; asked the rail ${this.polls} times; receipt: ${this.receipt}`);
    return report;
  }

  private aged(report: AttemptReport): AttemptReport {
    return { ...report, age_ms: report.age_ms + (Date.now() - this.read_ms) };
  }

  /** A step that the rail may refuse for now: then the next turn decides from the row. */
  private async tried(call: () => Promise<AttemptReport>): Promise<AttemptReport> {
    try {
      return this.note(await call());
    } catch (error) {
      if (!isPassing(error)) throw error;
      log.warn('the rail could not be asked', this.args);
      return this.note(await readAttempt(this.args));
    }
  }

  private poll(report: AttemptReport): Promise<AttemptReport> {
    this.polls++;
    return this.tried(async () => {
      await pollTopup({ topup_id: report.topup_id });
      return endAttempt(this.args);
    });
  }

  private async step(before: AttemptReport): Promise<AttemptReport> {
    const report = this.aged(before);
    const next = nextStep(report, this.done_ms, this.is_reported);
    const seen = this.news;
    const wait_ms = next.due_ms - report.age_ms;
    const summary = `until: ${next.do}`;
    if (wait_ms > 0 && (await condition(() => this.news !== seen, wait_ms, { summary }))) {
      return this.note(await endAttempt(this.args));
    }
    switch (next.do) {
      case 'announce':
        return this.note(await announceAttempt(this.args));
      case 'charge':
        return this.tried(() => chargeAttempt(this.args));
      case 'report':
        this.is_reported = true;
        return this.note(await reportAttempt(this.args));
      case 'poll':
        this.done_ms = next.due_ms;
        return this.poll(report);
    }
  }

  private async afterBooking(report: AttemptReport): Promise<void> {
    const { topup_id } = report;
    try {
      const { sent } = await mailReceipt({ topup_id });
      this.receipt = sent ? 'sent' : 'not_needed';
    } catch (error) {
      if (!isPassing(error)) throw error;
      this.receipt = 'failed';
      log.error('the receipt could not be mailed', this.args);
    }
    if (!report.fee_known) await this.poll(report);
    const summary = 'the signal of the booking';
    await condition(() => this.is_booked, SIGNAL_PATIENCE_MS, { summary });
  }

  async run(): Promise<AutoTopupState> {
    let report = this.note(await endAttempt(this.args));
    while (['announcing', 'waiting', 'charging'].includes(report.status)) report = await this.step(report);
    if (report.paid) await this.afterBooking(report);
    return this.state();
  }
}

/** The workflow of an automatic top-up. Its id is `auto-{org}-{n}`, its task queue `money`. */
export async function autoTopup(args: Args): Promise<AutoTopupState> {
  return new Follower(args).run();
}
