// The side effects of the workflow `topUp`. Each is a function of core that can be repeated and decides from the
// top-up's row.
import { type Context, type Id, nowMs } from '@svc/core/kernel/index.ts';
import {
  expireTopup,
  pollTopup,
  readProgress,
  receiptMail,
  type TopupProgress,
} from '@svc/core/topups/index.ts';

interface Args {
  readonly topup_id: Id<'topup'>;
}

/** The state of a top-up: only ids, integers and words of ours, because Temporal stores and shows it. */
export interface TopUpReport {
  readonly topup_id: Id<'topup'>;
  readonly status: TopupProgress['status'];
  readonly fee_known: boolean;
  readonly age_ms: number;
  readonly open_ms: number;
}

export interface TopUpActivities {
  readTopup(args: Args): Promise<TopUpReport>;
  pollTopup(args: Args): Promise<TopUpReport>;
  expireTopup(args: Args): Promise<TopUpReport>;
  mailReceipt(args: Args): Promise<{ readonly sent: boolean }>;
}

function progressOf(progress: TopupProgress): TopUpReport {
  const { topup_id, status, fee_known, created_at_ms, expires_at_ms } = progress;
  const open_ms = expires_at_ms - created_at_ms;
  return { topup_id, status, fee_known, age_ms: nowMs() - created_at_ms, open_ms };
}

/** The activities; each run gets its context from `open`. */
export function topUpActivities(open: () => Context): TopUpActivities {
  return {
    readTopup: async (args) => progressOf(await readProgress(open(), args)),
    pollTopup: async (args) => progressOf(await pollTopup(open(), args)),
    expireTopup: async (args) => progressOf(await expireTopup(open(), args)),
    async mailReceipt(args) {
      const { queued, reason } = await receiptMail(open(), args);
      // `sent` is the word of histories that were written when this step sent the mail itself.
      return { sent: queued || reason === 'queued_before' };
    },
  };
}
