// Mandates, automatic top-up and its attempts.
import type { Id } from '../kernel/index.ts';
import type { MandateMethod, RailName } from '../topups/index.ts';

export const mandateStatuses = ['pending', 'active', 'paused', 'cancelled', 'rejected', 'expired'] as const;
export type MandateStatus = (typeof mandateStatuses)[number];

/** A row of `mandate`: leave to charge somebody who is not there. */
export interface Mandate {
  readonly id: Id<'mandate'>;
  readonly org_id: Id<'org'>;
  readonly gateway: RailName;
  readonly method: MandateMethod;
  readonly status: MandateStatus;
  readonly reason: string | null;
  readonly setup_ref: string | null;
  readonly registration_url: string | null;
  readonly customer_ref: string | null;
  readonly token_ref: string | null;
  readonly max_amount_minor: number;
  readonly currency: string;
  readonly notify_hours: number;
  readonly consecutive_failures: number;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly registered_at: Date | null;
  readonly ends_at: Date | null;
  readonly released_at: Date | null;
}

/** Why nothing is bought although the balance is below the threshold. */
export const blockReasons = [
  'no_active_mandate',
  'mandate_paused',
  'dispute_open',
  'org_inactive',
  'too_soon',
  'daily_limit',
  'amount_above_cap',
  'amount_too_small',
  'price_unavailable',
  'legal_acceptance_required',
  'rail_unavailable',
] as const;
export type BlockReason = (typeof blockReasons)[number];

/** A row of `auto_topup`. */
export interface AutoTopup {
  readonly org_id: Id<'org'>;
  readonly enabled: boolean;
  readonly threshold_micro: number;
  readonly amount_minor: number;
  readonly attempts: number;
  readonly disabled_reason: string | null;
  readonly blocked_reason: BlockReason | null;
  readonly blocked_at: Date | null;
  readonly blocked_until: Date | null;
}

export const attemptStatuses = [
  'announcing',
  'waiting',
  'charging',
  'succeeded',
  'failed',
  'skipped',
  'not_needed',
] as const;
export type AttemptStatus = (typeof attemptStatuses)[number];

/** A row of `auto_topup_attempt`: one automatic top-up, from its notice to its end. */
export interface Attempt {
  readonly org_id: Id<'org'>;
  readonly attempt_no: number;
  readonly mandate_id: Id<'mandate'>;
  readonly topup_id: Id<'topup'>;
  readonly status: AttemptStatus;
  readonly created_at: Date;
  readonly notified_at: Date | null;
  readonly notice_failed: boolean;
  readonly due_at: Date | null;
  readonly skipped_at: Date | null;
  readonly sent_at: Date | null;
  readonly ended_at: Date | null;
}
