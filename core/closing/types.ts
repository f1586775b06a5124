// Closings as the workflow and the store see them.
import type { Id } from '../kernel/index.ts';

export interface Closing {
  readonly org_id: Id<'org'>;
  readonly closed_at: Date;
  readonly refund_requested: boolean;
  /** Null while steps wait. */
  readonly ended_at: Date | null;
}

/** What a step of the workflow says: ids, integers and words of ours. */
export interface ClosingProgress {
  readonly org_id: Id<'org'>;
  /** `waiting`: for calls under way or refunds; `reopened`: staff made the organization active again. */
  readonly status: 'waiting' | 'done' | 'reopened';
  readonly refunds_open: number;
  readonly held: boolean;
  readonly age_ms: number;
}
