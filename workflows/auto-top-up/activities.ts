// The side effects of the workflow `autoTopup`. Each is a function of core that can be repeated and decides from the rows
// of the attempt; receipt and polls are those of every top-up.
import { type Context, type Id, nowMs } from '@svc/core/kernel/index.ts';
import {
  type AttemptProgress,
  announceAttempt,
  chargeAttempt,
  endAttempt,
  readAttempt,
  reportAttempt,
} from '@svc/core/mandates/index.ts';

interface Args {
  readonly org_id: Id<'org'>;
  readonly attempt_no: number;
}

/** The state of an attempt: only ids, integers and words of ours, because Temporal stores and shows it. */
export interface AttemptReport {
  readonly topup_id: Id<'topup'>;
  readonly status: AttemptProgress['status'];
  readonly paid: boolean;
  readonly fee_known: boolean;
  readonly age_ms: number;
  /** Age at which the debit is due, or its notice given up. */
  readonly due_ms: number;
  /** Age at which the rail was first asked for the debit; null before. */
  readonly sent_ms: number | null;
}

export interface AutoTopupActivities {
  readAttempt(args: Args): Promise<AttemptReport>;
  announceAttempt(args: Args): Promise<AttemptReport>;
  chargeAttempt(args: Args): Promise<AttemptReport>;
  endAttempt(args: Args): Promise<AttemptReport>;
  reportAttempt(args: Args): Promise<AttemptReport>;
}

function reportOf(progress: AttemptProgress): AttemptReport {
  const { topup_id, status, paid, fee_known, created_at_ms, due_at_ms, sent_at_ms } = progress;
  return {
    ...{ topup_id, status, paid, fee_known },
    age_ms: nowMs() - created_at_ms,
    due_ms: due_at_ms - created_at_ms,
    sent_ms: sent_at_ms === null ? null : sent_at_ms - created_at_ms,
  };
}

/** The activities; each run gets its context from `open`. */
export function autoTopupActivities(open: () => Context): AutoTopupActivities {
  const read = async (args: Args) => reportOf(await readAttempt(open(), args));
  return {
    readAttempt: read,
    async announceAttempt(args) {
      await announceAttempt(open(), args);
      return read(args);
    },
    chargeAttempt: async (args) => reportOf(await chargeAttempt(open(), args)),
    async endAttempt(args) {
      await endAttempt(open(), args);
      return read(args);
    },
    reportAttempt: async (args) => reportOf(await reportAttempt(open(), args)),
  };
}
