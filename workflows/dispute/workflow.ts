// Follows one dispute until the bank has decided: asks the rail once a day, and reminds people before the rail takes no
// answer any more. Credits, mails and events are booked with the rail's fact, by its callback or by the asking. Every step
// decides from the row, so that it can be repeated.
import {
  ActivityFailure,
  type ActivityOptions,
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
import type { DisputeActivities, DisputeReport } from './activities.ts';

export interface DisputeState {
  readonly dispute_id: string;
  readonly status: DisputeReport['status'] | 'starting';
  /** A person was reminded that the rail takes an answer for a few days more. */
  readonly reminded: boolean;
  readonly polls: number;
}

/** Sent when the end of a dispute was booked. */
export const railDispute = defineSignal('railDispute');
/** Sent when the installation's clock was moved (development). */
const clockMoved = defineSignal('clock_moved');
export const state = defineQuery<DisputeState>('state');

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** People are reminded so long before the rail takes no answer any more. */
const REMIND_MS = 3 * DAY_MS;
/** A dispute without an end so long after it was opened is put before the staff; it stays open. */
const SILENT_MS = 120 * DAY_MS;
const POLL_PATIENCE_MS = 5 * MINUTE_MS;
/** How long the end waits for the signal of what a poll booked, so that the signal does not come after the end. */
const SIGNAL_PATIENCE_MS = 5 * MINUTE_MS;
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

const { readDispute } = proxyActivities<DisputeActivities>({ ...defaults, summary: 'where it stands' });
const { remindOfDispute } = proxyActivities<DisputeActivities>({
  ...defaults,
  summary: 'a person must look',
});
const { settleDispute } = proxyActivities<DisputeActivities>({ ...defaults, summary: 'what it cost' });
const { pollDispute } = proxyActivities<DisputeActivities>({
  ...defaults,
  scheduleToCloseTimeout: POLL_PATIENCE_MS,
  summary: 'ask the rail',
});

/** Whether the workflow continues after this failed activity. It does not when the dispute does not exist. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof ActivityFailure) || isCancellation(error)) return false;
  return !(error.cause instanceof ApplicationFailure && error.cause.type === 'NotFound');
}

class Follower {
  private readonly args: { readonly dispute_id: DisputeReport['dispute_id'] };
  private report: DisputeReport | null = null;
  /** When `report` was read, by the workflow's clock. */
  private read_ms = 0;
  private polls = 0;
  private news = 0;
  private reminded = false;
  private is_signalled = false;

  constructor(args: { readonly dispute_id: DisputeReport['dispute_id'] }) {
    this.args = args;
    setHandler(railDispute, () => {
      this.is_signalled = true;
      this.news++;
    });
    setHandler(clockMoved, () => {
      this.news++;
    });
    setHandler(state, () => this.state());
  }

  private state(): DisputeState {
    const { report, reminded, polls } = this;
    return { dispute_id: this.args.dispute_id, status: report?.status ?? 'starting', reminded, polls };
  }

  private note(report: DisputeReport): DisputeReport {
    this.report = report;
    this.read_ms = Date.now();
    showState(report.status);
    setCurrentDetails(
      `${report.status}; ${this.reminded ? 'people reminded; ' : ''}asked ${this.polls} times`,
    );
    return report;
  }

  /** How long ago `report` was read. */
  private sinceMs(): number {
    return Date.now() - this.read_ms;
  }

  /** How old the dispute is now, by the installation's clock: it is moved without the workflow's. */
  private ageMs(report: DisputeReport): number {
    return report.age_ms + this.sinceMs();
  }

  /** Asks the rail. When it cannot answer, the next turn asks again. */
  private async poll(): Promise<DisputeReport> {
    this.polls++;
    try {
      return this.note(await pollDispute(this.args));
    } catch (error) {
      if (!isPassing(error)) throw error;
      return this.note(await readDispute(this.args));
    }
  }

  /** Until people must be reminded; infinite where they were, or the rail has not said a time. */
  private remindInMs(report: DisputeReport): number {
    if (this.reminded || report.respond_in_ms === null) return Number.POSITIVE_INFINITY;
    return report.respond_in_ms - REMIND_MS - this.sinceMs();
  }

  private async remind(): Promise<DisputeReport> {
    this.reminded = true;
    return this.note(await remindOfDispute({ ...this.args, kind: 'dispute_due' }));
  }

  /** Until the rail has said the end, or has been silent for too long. */
  private async awaitEnd(first: DisputeReport): Promise<DisputeReport> {
    let report = first;
    // One that was started late is asked for at once.
    let poll_at_age_ms = Math.max(DAY_MS, report.age_ms);
    while (report.status === 'open') {
      if (this.remindInMs(report) <= 0) report = await this.remind();
      const seen = this.news;
      const age_ms = this.ageMs(report);
      const wait_ms = Math.min(poll_at_age_ms - age_ms, SILENT_MS - age_ms, this.remindInMs(report));
      const summary = 'until the rail is asked or people are reminded';
      if (wait_ms > 0 && (await condition(() => this.news !== seen, wait_ms, { summary }))) {
        report = this.note(await readDispute(this.args));
        continue;
      }
      if (this.remindInMs(report) <= 0) continue;
      report = await this.poll();
      poll_at_age_ms = this.ageMs(report) + DAY_MS;
      if (report.status === 'open' && report.age_ms >= SILENT_MS)
        return this.note(await remindOfDispute({ ...this.args, kind: 'dispute_silent' }));
    }
    return report;
  }

  /** What a lost dispute cost is known when the ledger has answered. */
  private async awaitLoss(first: DisputeReport): Promise<void> {
    let report = first;
    for (let wait_ms = 1_000; !report.settled; wait_ms = Math.min(wait_ms * 2, 5 * MINUTE_MS)) {
      report = this.note(await settleDispute(this.args));
      if (!report.settled) await condition(() => false, wait_ms, { summary: 'until the ledger answers' });
    }
  }

  async run(): Promise<DisputeState> {
    const report = await this.awaitEnd(this.note(await readDispute(this.args)));
    if (report.status === 'open') return this.state();
    await this.awaitLoss(report);
    const summary = 'the signal of the booking';
    await condition(() => this.is_signalled, SIGNAL_PATIENCE_MS, { summary });
    return this.state();
  }
}

/** The workflow of a dispute. Its id is `dispute-{dsp}`, its task queue `money`. */
export async function dispute(args: {
  readonly dispute_id: DisputeReport['dispute_id'];
}): Promise<DisputeState> {
  return new Follower(args).run();
}
