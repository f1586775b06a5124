// The side effects of the workflow `invoiceIssue`. Each is a function of core that can be repeated and decides from the
// document's row.
import {
  abandonRegistration,
  drawRegistered,
  type RegistrationProgress,
  readRegistration,
  registerDocument,
} from '@svc/core/e-invoices/index.ts';
import { type Context, nowMs } from '@svc/core/kernel/index.ts';

interface Args {
  readonly invoice_id: RegistrationProgress['invoice_id'];
}

/** Where a document stands: only ids, integers and words of ours, because Temporal stores and shows it. */
export interface RegistrationReport {
  readonly invoice_id: RegistrationProgress['invoice_id'];
  readonly irn_status: RegistrationProgress['irn_status'];
  readonly is_refused: boolean;
  readonly age_ms: number;
}

export interface InvoiceActivities {
  readRegistration(args: Args): Promise<RegistrationReport>;
  registerDocument(args: Args): Promise<RegistrationReport>;
  abandonRegistration(args: Args): Promise<RegistrationReport>;
  drawRegistered(args: Args): Promise<RegistrationReport>;
}

function reportOf({ issued_at_ms, ...progress }: RegistrationProgress): RegistrationReport {
  return { ...progress, age_ms: nowMs() - issued_at_ms };
}

/** The activities; each run gets its context from `open`. */
export function invoiceActivities(open: () => Context): InvoiceActivities {
  return {
    readRegistration: async (args) => reportOf(await readRegistration(open(), args)),
    registerDocument: async (args) => reportOf(await registerDocument(open(), args)),
    abandonRegistration: async (args) => reportOf(await abandonRegistration(open(), args)),
    drawRegistered: async (args) => reportOf(await drawRegistered(open(), args)),
  };
}
