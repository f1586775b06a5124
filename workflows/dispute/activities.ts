// The side effects of the workflow `dispute`. Each is a function of core that can be repeated and decides from the
// dispute's row.
import { type Context, type Id, nowMs } from '@svc/core/kernel/index.ts';
import {
  type DisputeProgress,
  pollDispute,
  readDispute,
  remindOfDispute,
  settleDispute,
} from '@svc/core/refunds/index.ts';

interface Args {
  readonly dispute_id: Id<'dispute'>;
}

/** The state of a dispute: only ids, integers and words of ours, because Temporal stores and shows it. */
export interface DisputeReport {
  readonly dispute_id: Id<'dispute'>;
  readonly status: DisputeProgress['status'];
  readonly settled: boolean;
  readonly age_ms: number;
  /** Until the rail takes no answer any more; null: it has not said when. */
  readonly respond_in_ms: number | null;
}

export interface DisputeActivities {
  readDispute(args: Args): Promise<DisputeReport>;
  pollDispute(args: Args): Promise<DisputeReport>;
  settleDispute(args: Args): Promise<DisputeReport>;
  remindOfDispute(args: Args & { kind: 'dispute_due' | 'dispute_silent' }): Promise<DisputeReport>;
}

function reportOf(progress: DisputeProgress): DisputeReport {
  const { dispute_id, status, settled, opened_at_ms, respond_by_ms } = progress;
  const now_ms = nowMs();
  const respond_in_ms = respond_by_ms === null ? null : respond_by_ms - now_ms;
  return { dispute_id, status, settled, age_ms: now_ms - opened_at_ms, respond_in_ms };
}

/** The activities; each run gets its context from `open`. */
export function disputeActivities(open: () => Context): DisputeActivities {
  return {
    readDispute: async (args) => reportOf(await readDispute(open(), args)),
    pollDispute: async (args) => reportOf(await pollDispute(open(), args)),
    settleDispute: async (args) => reportOf(await settleDispute(open(), args)),
    remindOfDispute: async (args) => reportOf(await remindOfDispute(open(), args)),
  };
}
