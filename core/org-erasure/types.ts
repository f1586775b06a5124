// Erasures of organizations as the workflow and the store see them.
import type { Id } from '../kernel/index.ts';

export const erasureStates = ['asked', 'cancelled', 'closing', 'running', 'completed'] as const;

/** Rows by table. */
export type RowCounts = Readonly<Record<string, number>>;

export interface OrgErasure {
  readonly org_id: Id<'org'>;
  /** `closing`: it has begun, and what follows from the closing is waited for. */
  readonly status: (typeof erasureStates)[number];
  readonly refund_requested: boolean;
  readonly requested_at: Date;
  readonly due_at: Date;
  readonly began_at: Date | null;
  /** How many steps are behind it. */
  readonly step: number;
  readonly erased: RowCounts;
  readonly kept: RowCounts | null;
  readonly digest: string | null;
  readonly completed_at: Date | null;
}

/** What a step of the workflow says: ids, integers and words of ours. */
export interface OrgErasureProgress {
  readonly org_id: Id<'org'>;
  readonly status: OrgErasure['status'];
  readonly step: number;
  /** Until it is to be looked at again. */
  readonly wait_ms: number;
}
