// Carries out one refund: sends it to the rail, and waits until the rail says that the money went back or did not. The
// credits were taken before it starts; document and mail are written in the transaction that books the outcome. Every step decides from the row, so that it can be repeated.
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
import type { RefundActivities, RefundReport } from './activities.ts';

export interface RefundState {
  readonly refund_id: string;
  readonly status: RefundReport['status'] | 'starting';
  readonly at_rail: boolean;
  readonly polls: number;
}

/** Sent when a refund was booked as gone back or failed. */
export const railRefund = defineSignal('railRefund');
/** Sent when the installation's clock was moved (development). */
const clockMoved = defineSignal('clock_moved');
export const state = defineQuery<RefundState>('state');

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** A refund without an end so long after it was asked for is put before the staff; it stays pending. */
const SILENT_MS = 14 * DAY_MS;
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

const { readRefund } = proxyActivities<RefundActivities>({ ...defaults, summary: 'where it stands' });
const { reportRefund } = proxyActivities<RefundActivities>({ ...defaults, summary: 'a person must look' });
const { sendRefund } = proxyActivities<RefundActivities>({
  ...defaults,
  scheduleToCloseTimeout: '7 days',
  summary: 'send it to the rail, once',
});
const { pollRefund } = proxyActivities<RefundActivities>({
  ...defaults,
  scheduleToCloseTimeout: POLL_PATIENCE_MS,
  summary: 'ask the rail',
});
/** Whether the workflow continues after this failed activity. It does not when the refund does not exist. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof ActivityFailure) || isCancellation(error)) return false;
  return !(error.cause instanceof ApplicationFailure && error.cause.type === 'NotFound');
}

class Follower {
  private readonly args: { readonly refund_id: RefundReport['refund_id'] };
  private report: RefundReport | null = null;
  /** When `report` was read, by the workflow's clock. */
  private read_ms = 0;
  private polls = 0;
  private news = 0;
  private is_signalled = false;

  constructor(args: { readonly refund_id: RefundReport['refund_id'] }) {
    this.args = args;
    setHandler(railRefund, () => {
      this.is_signalled = true;
      this.news++;
    });
    setHandler(clockMoved, () => {
      this.news++;
    });
    setHandler(state, () => this.state());
  }

  private state(): RefundState {
    const { report, polls } = this;
    const { status, at_rail } = report ?? { status: 'starting' as const, at_rail: false };
    return { refund_id: this.args.refund_id, status, at_rail, polls };
  }

  private note(report: RefundReport): RefundReport {
    this.report = report;
    this.read_ms = Date.now();
    const where = report.at_rail ? 'the rail has it' : 'not at the rail yet';
    showState(report.status);
    setCurrentDetails(`${report.status}; ${where}; asked ${this.polls} times`);
    return report;
  }

  private ageMs(report: RefundReport): number {
    return report.age_ms + (Date.now() - this.read_ms);
  }

  private async send(): Promise<RefundReport> {
    try {
      return this.note(await sendRefund(this.args));
    } catch (error) {
      if (!isPassing(error)) throw error;
      log.error('the refund could not be sent', this.args);
      return this.note(await reportRefund(this.args));
    }
  }

  /** Asks the rail, and sends what it never got. When the rail cannot answer, the next turn asks again. */
  private async poll(): Promise<RefundReport> {
    this.polls++;
    try {
      return this.note(await pollRefund(this.args));
    } catch (error) {
      if (!isPassing(error)) throw error;
      return this.note(await readRefund(this.args));
    }
  }

  /** Until the rail has said what became of it, or has been silent for too long. */
  private async awaitEnd(first: RefundReport): Promise<RefundReport> {
    let report = first;
    let due_ms = this.ageMs(report) + HOUR_MS;
    while (report.status === 'pending') {
      const seen = this.news;
      const wait_ms = Math.min(due_ms, SILENT_MS) - this.ageMs(report);
      const summary = 'until the rail is asked';
      if (wait_ms > 0 && (await condition(() => this.news !== seen, wait_ms, { summary }))) {
        report = this.note(await readRefund(this.args));
        continue;
      }
      report = await this.poll();
      due_ms = this.ageMs(report) + HOUR_MS;
      if (report.status === 'pending' && this.ageMs(report) >= SILENT_MS)
        return this.note(await reportRefund(this.args));
    }
    return report;
  }

  async run(): Promise<RefundState> {
    let report = this.note(await readRefund(this.args));
    if (report.status === 'pending' && !report.at_rail) report = await this.send();
    report = await this.awaitEnd(report);
    if (report.status === 'pending') return this.state();
    const summary = 'the signal of the booking';
    await condition(() => this.is_signalled, SIGNAL_PATIENCE_MS, { summary });
    return this.state();
  }
}

/** The workflow of a refund. Its id is `refund-{rfd}`, its task queue `money`. */
export async function refund(args: { readonly refund_id: RefundReport['refund_id'] }): Promise<RefundState> {
  return new Follower(args).run();
}
