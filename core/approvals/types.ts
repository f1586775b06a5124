import type { Id } from '../kernel/index.ts';

/** An act of staff that one person asked for and another one decides. */
export interface Approval {
  readonly id: Id<'approval'>;
  /** Name of the operation that was asked for: `staff.credits.grant`. */
  readonly action: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly org_id: Id<'org'> | null;
  readonly org_name: string | null;
  /** What moves; null: a price or a rate. */
  readonly amount_micro_usd: number | null;
  readonly reason: string;
  readonly status: 'pending' | 'approved' | 'refused' | 'withdrawn';
  readonly asked_by: Id<'staff'>;
  /** Address of who asked. */
  readonly asked_by_email: string;
  readonly asked_at: Date;
  /** When nobody can approve it any more. */
  readonly expires_at: Date;
  readonly decided_by: Id<'staff'> | null;
  readonly decided_by_email: string | null;
  readonly decided_at: Date | null;
  /** What who decided had to say. */
  readonly note: string | null;
}
