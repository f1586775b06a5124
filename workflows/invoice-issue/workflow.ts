// Registers one document: asks the portal until it has registered the document, has something else under its number, or
// thirty days have passed. Then the file is drawn anew; the mail was asked for in the transaction that booked the end. Every
// step decides from the row, so that it can be repeated.
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
import type { InvoiceActivities, RegistrationReport } from './activities.ts';

export interface RegistrationState {
  readonly invoice_id: string;
  readonly irn_status: RegistrationReport['irn_status'] | 'starting';
  readonly tries: number;
}

/** Sent when the installation's clock was moved (development). */
const clockMoved = defineSignal('clock_moved');
const state = defineQuery<RegistrationState>('state');

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** The law takes documents for thirty days. */
const PATIENCE_MS = 30 * DAY_MS;
/** Waits after the first tries that got no answer; later each hour. */
const WAITS_MS = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS] as const;
const defaults: ActivityOptions = {
  // A worker that is killed in a step is missed after this time.
  startToCloseTimeout: '30 seconds',
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '5 minutes',
    nonRetryableErrorTypes: ['Validation', 'NotFound', 'StateConflict'],
  },
};

const { readRegistration } = proxyActivities<InvoiceActivities>({ ...defaults, summary: 'where it stands' });
const { abandonRegistration } = proxyActivities<InvoiceActivities>({
  ...defaults,
  summary: 'a person must look',
});
const { drawRegistered } = proxyActivities<InvoiceActivities>({ ...defaults, summary: 'draw the file anew' });
const { registerDocument } = proxyActivities<InvoiceActivities>({
  ...defaults,
  retry: { ...defaults.retry, maximumAttempts: 3 },
  summary: 'register it at the portal',
});

/** Whether the workflow continues after this failed activity. It does not when the document does not exist. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof ActivityFailure) || isCancellation(error)) return false;
  return !(error.cause instanceof ApplicationFailure && error.cause.type === 'NotFound');
}

class Registrar {
  private readonly args: { readonly invoice_id: RegistrationReport['invoice_id'] };
  private report: RegistrationReport | null = null;
  /** When `report` was read, by the workflow's clock. */
  private read_ms = 0;
  private tries = 0;
  private news = 0;

  constructor(args: { readonly invoice_id: RegistrationReport['invoice_id'] }) {
    this.args = args;
    setHandler(clockMoved, () => {
      this.news++;
    });
    setHandler(state, () => this.state());
  }

  private state(): RegistrationState {
    const irn_status = this.report?.irn_status ?? ('starting' as const);
    return { invoice_id: this.args.invoice_id, irn_status, tries: this.tries };
  }

  private note(report: RegistrationReport): RegistrationReport {
    this.report = report;
    this.read_ms = Date.now();
    showState(report.irn_status);
    setCurrentDetails(`${report.irn_status}; asked ${this.tries} times`);
    return report;
  }

  private ageMs(report: RegistrationReport): number {
    return report.age_ms + (Date.now() - this.read_ms);
  }

  private async register(): Promise<RegistrationReport> {
    this.tries++;
    try {
      return this.note(await registerDocument(this.args));
    } catch (error) {
      if (!isPassing(error)) throw error;
      return this.note(await readRegistration(this.args));
    }
  }

  /** Until the next try is due or thirty days have passed; a moved clock is looked at again. */
  private async pause(first: RegistrationReport): Promise<RegistrationReport> {
    const wait_ms = first.is_refused ? DAY_MS : (WAITS_MS[this.tries - 1] ?? HOUR_MS);
    const due_ms = Math.min(this.ageMs(first) + wait_ms, PATIENCE_MS);
    let report = first;
    while (this.ageMs(report) < due_ms) {
      const seen = this.news;
      const summary = 'until the portal is asked again';
      await condition(() => this.news !== seen, due_ms - this.ageMs(report), { summary });
      if (this.news !== seen) report = this.note(await readRegistration(this.args));
    }
    return report;
  }

  async run(): Promise<RegistrationState> {
    let report = this.note(await readRegistration(this.args));
    while (report.irn_status === 'pending') {
      report = await this.register();
      if (report.irn_status !== 'pending') break;
      if (this.ageMs(report) >= PATIENCE_MS) report = this.note(await abandonRegistration(this.args));
      else report = await this.pause(report);
    }
    if (report.irn_status === 'generated') this.note(await drawRegistered(this.args));
    return this.state();
  }
}

/** The workflow of a document's registration. Its id is `invoice-{inv}`, its task queue `money`. */
export async function invoiceIssue(args: {
  readonly invoice_id: RegistrationReport['invoice_id'];
}): Promise<RegistrationState> {
  return new Registrar(args).run();
}
