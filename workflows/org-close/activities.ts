// The side effects of the workflow `orgClose`, by functions of core that can be repeated.
import { type ClosingProgress, endAccess, endCredit, reportClosing } from '@svc/core/closing/index.ts';
import type { Context, Id } from '@svc/core/kernel/index.ts';

export interface ClosingArgs {
  readonly org_id: Id<'org'>;
}

export interface ClosingActivities {
  endAccess(args: ClosingArgs): Promise<ClosingProgress>;
  endCredit(args: ClosingArgs): Promise<ClosingProgress>;
  reportClosing(args: ClosingArgs): Promise<ClosingProgress>;
}

/** The activities; each run gets its context from `open`. */
export function closingActivities(open: () => Context): ClosingActivities {
  return {
    endAccess: (args) => endAccess(open(), args),
    endCredit: (args) => endCredit(open(), args),
    reportClosing: (args) => reportClosing(open(), args),
  };
}
