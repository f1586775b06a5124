// The side effects of the workflow `refund`. Each is a function of core that can be repeated and decides from the
// refund's row.
import { type Context, type Id, nowMs } from '@svc/core/kernel/index.ts';
import {
  pollRefund,
  type RefundProgress,
  readRefund,
  reportSilence,
  sendRefund,
} from '@svc/core/refunds/index.ts';

interface Args {
  readonly refund_id: Id<'refund'>;
}

/** The state of a refund: only ids, integers and words of ours, because Temporal stores and shows it. */
export interface RefundReport {
  readonly refund_id: Id<'refund'>;
  readonly status: RefundProgress['status'];
  readonly at_rail: boolean;
  readonly age_ms: number;
}

export interface RefundActivities {
  readRefund(args: Args): Promise<RefundReport>;
  sendRefund(args: Args): Promise<RefundReport>;
  pollRefund(args: Args): Promise<RefundReport>;
  reportRefund(args: Args): Promise<RefundReport>;
}

function reportOf({ refund_id, status, at_rail, created_at_ms }: RefundProgress): RefundReport {
  return { refund_id, status, at_rail, age_ms: nowMs() - created_at_ms };
}

/** The activities; each run gets its context from `open`. */
export function refundActivities(open: () => Context): RefundActivities {
  return {
    readRefund: async (args) => reportOf(await readRefund(open(), args)),
    sendRefund: async (args) => reportOf(await sendRefund(open(), args)),
    pollRefund: async (args) => reportOf(await pollRefund(open(), args)),
    reportRefund: async (args) => reportOf(await reportSilence(open(), args)),
  };
}
