// The side effects of the workflow `mandate`. Each is a function of core that can be repeated and decides from the
// mandate's row.
import { type Context, type Id, nowMs } from '@svc/core/kernel/index.ts';
import {
  lapseMandate,
  type MandateProgress,
  pollMandate,
  readMandate,
  releaseMandate,
  reportMandate,
} from '@svc/core/mandates/index.ts';

interface Args {
  readonly mandate_id: Id<'mandate'>;
}

/** The state of a mandate: only ids, integers and words of ours, because Temporal stores and shows it. */
export interface MandateReport {
  readonly mandate_id: Id<'mandate'>;
  readonly status: MandateProgress['status'];
  readonly to_release: boolean;
  readonly setup_open: boolean;
  readonly age_ms: number;
  readonly open_ms: number;
}

export interface MandateActivities {
  readMandate(args: Args): Promise<MandateReport>;
  pollMandate(args: Args): Promise<MandateReport>;
  lapseMandate(args: Args): Promise<MandateReport>;
  releaseMandate(args: Args): Promise<MandateReport>;
  reportMandate(args: Args): Promise<MandateReport>;
}

function reportOf(progress: MandateProgress): MandateReport {
  const { mandate_id, status, to_release, setup_open, created_at_ms, expires_at_ms } = progress;
  const open_ms = expires_at_ms - created_at_ms;
  return { mandate_id, status, to_release, setup_open, age_ms: nowMs() - created_at_ms, open_ms };
}

/** The activities; each run gets its context from `open`. */
export function mandateActivities(open: () => Context): MandateActivities {
  return {
    readMandate: async (args) => reportOf(await readMandate(open(), args)),
    pollMandate: async (args) => reportOf(await pollMandate(open(), args)),
    lapseMandate: async (args) => reportOf(await lapseMandate(open(), args)),
    releaseMandate: async (args) => reportOf(await releaseMandate(open(), args)),
    reportMandate: async (args) => reportOf(await reportMandate(open(), args)),
  };
}
