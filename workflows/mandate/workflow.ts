// Follows a mandate: asks the rail whether it was registered, lets it lapse after a day, and takes back at the rail what is
// over here. It ends when it is registered; a cancellation runs it once more.
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
import type { MandateActivities, MandateReport } from './activities.ts';

export interface MandateState {
  readonly mandate_id: string;
  readonly status: MandateReport['status'] | 'starting';
  readonly polls: number;
  readonly released: boolean;
}

/** What callbacks and people did: the workflow reads the row again. */
const signals = ['confirmed', 'rejected', 'paused', 'resumed', 'cancelled'].map((name) => defineSignal(name));
/** Sent when the installation's clock was moved (development). */
const clockMoved = defineSignal('clock_moved');
export const state = defineQuery<MandateState>('state');

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** When the rail is asked whether the payer has finished: what no callback has reported. */
const POLLS_MS = [2 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS];
/** After the end of a registration that somebody may still pay at the rail; banks report for up to three days. */
const LATE_POLLS_MS = [0, HOUR_MS, 24 * HOUR_MS, 96 * HOUR_MS];
const POLL_PATIENCE_MS = 5 * MINUTE_MS;
/** How long the end waits for the signal of what a poll booked, so that the signal does not come after the end. */
const SIGNAL_PATIENCE_MS = 5 * MINUTE_MS;
const defaults: ActivityOptions = {
  startToCloseTimeout: '30 seconds',
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '5 minutes',
    nonRetryableErrorTypes: ['RailDeclined', 'Validation', 'NotFound', 'StateConflict'],
  },
};

const { readMandate } = proxyActivities<MandateActivities>({ ...defaults, summary: 'where it stands' });
const { pollMandate } = proxyActivities<MandateActivities>({
  ...defaults,
  scheduleToCloseTimeout: POLL_PATIENCE_MS,
  summary: 'ask the rail',
});
const { lapseMandate } = proxyActivities<MandateActivities>({
  ...defaults,
  summary: 'nobody registered in time',
});
const { releaseMandate } = proxyActivities<MandateActivities>({
  ...defaults,
  scheduleToCloseTimeout: '7 days',
  retry: { ...defaults.retry, maximumInterval: '1 hour' },
  summary: 'take it back at the rail',
});
const { reportMandate } = proxyActivities<MandateActivities>({ ...defaults, summary: 'a person must look' });

/** Whether the workflow continues after this failed activity. It does not when the mandate does not exist. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof ActivityFailure) || isCancellation(error)) return false;
  return !(error.cause instanceof ApplicationFailure && error.cause.type === 'NotFound');
}

class Follower {
  private readonly args: { readonly mandate_id: MandateReport['mandate_id'] };
  private report: MandateReport | null = null;
  /** When `report` was read, by the workflow's clock. */
  private read_ms = 0;
  private polls = 0;
  private news = 0;
  private is_signalled = false;
  /** What was paid for the registration, if anything, has been seen. A worker of an earlier release says nothing of it. */
  private is_settled = false;

  constructor(args: { readonly mandate_id: MandateReport['mandate_id'] }) {
    this.args = args;
    for (const signal of signals) {
      setHandler(signal, () => {
        this.is_signalled = true;
        this.news++;
      });
    }
    setHandler(clockMoved, () => {
      this.news++;
    });
    setHandler(state, () => this.state());
  }

  private state(): MandateState {
    const { report, polls, args } = this;
    const released = report !== null && report.status !== 'pending' && !report.to_release;
    return { mandate_id: args.mandate_id, status: report?.status ?? 'starting', polls, released };
  }

  private note(report: MandateReport): MandateReport {
    this.report = report;
    if (report.setup_open !== true) this.is_settled = true;
    this.read_ms = Date.now();
    showState(report.status);
    setCurrentDetails(`${report.status}; asked the rail ${this.polls} times`);
    return report;
  }

  private ageMs(report: MandateReport): number {
    return report.age_ms + (Date.now() - this.read_ms);
  }

  private async poll(): Promise<MandateReport> {
    this.polls++;
    try {
      return this.note(await pollMandate(this.args));
    } catch (error) {
      if (!isPassing(error)) throw error;
      log.warn('the rail could not be asked', this.args);
      return this.note(await readMandate(this.args));
    }
  }

  /** Until it is registered, or over. */
  private async awaitRegistration(first: MandateReport): Promise<MandateReport> {
    let report = first;
    let asked_ms = this.ageMs(first);
    while (report.status === 'pending') {
      const seen = this.news;
      const age_ms = this.ageMs(report);
      const due_ms = Math.min(POLLS_MS.find((due) => due > asked_ms) ?? report.open_ms, report.open_ms);
      if (age_ms < due_ms) {
        const summary = 'until the rail is asked';
        const has_news = await condition(() => this.news !== seen, due_ms - age_ms, { summary });
        if (has_news && !this.is_signalled) {
          report = this.note(await readMandate(this.args));
          continue;
        }
      }
      this.is_signalled = false;
      asked_ms = Math.max(asked_ms, Math.min(due_ms, this.ageMs(report)));
      report = await this.poll();
      if (report.status === 'pending' && this.ageMs(report) >= report.open_ms)
        report = this.note(await lapseMandate(this.args));
    }
    return report;
  }

  /** What is over here must be over at the rail; after a week a person does it. */
  private async release(): Promise<MandateReport> {
    try {
      return this.note(await releaseMandate(this.args));
    } catch (error) {
      if (!isPassing(error)) throw error;
      log.error('the rail could not be made to forget the mandate', this.args);
      return this.note(await reportMandate(this.args));
    }
  }

  /** Until a moment of the mandate's age; what ends meanwhile is taken back. */
  private async awaitAge(due_ms: number): Promise<void> {
    for (let report = this.report; report !== null && this.ageMs(report) < due_ms; report = this.report) {
      const seen = this.news;
      const summary = 'until the rail is asked once more';
      await condition(() => this.news !== seen, due_ms - this.ageMs(report), { summary });
      if (this.news !== seen && this.note(await readMandate(this.args)).to_release) await this.release();
    }
  }

  /** Asks on about a registration that is over here and can still be paid at the rail: what was paid goes back. */
  private async askLate(report: MandateReport): Promise<void> {
    const ended_ms = this.ageMs(report);
    for (const due_ms of LATE_POLLS_MS) {
      if (this.is_settled) return;
      await this.awaitAge(ended_ms + due_ms);
      if ((await this.poll()).to_release) await this.release();
    }
  }

  async run(): Promise<MandateState> {
    const first = this.note(await readMandate(this.args));
    const report = await this.awaitRegistration(first);
    if (report.to_release) await this.release();
    await this.askLate(report);
    if (first.status === 'pending') {
      const summary = 'the signal of the change';
      await condition(() => this.is_signalled, SIGNAL_PATIENCE_MS, { summary });
      const after = this.note(await readMandate(this.args));
      if (after.to_release) await this.release();
    }
    return this.state();
  }
}

/** The workflow of a mandate. Its id is `mandate-{mnd}`, its task queue `money`. */
export async function mandate(args: {
  readonly mandate_id: MandateReport['mandate_id'];
}): Promise<MandateState> {
  return new Follower(args).run();
}
