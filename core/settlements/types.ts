// What the comparison with a rail's books finds.
import type { EventFacts, RailName } from '../topups/index.ts';

/** Findings that a person must look at; each is a staff item. */
const askedKinds = [
  'unknown_topup',
  'names_disagree',
  'payment_not_at_rail',
  'payment_unsettled',
  'refund_unsettled',
  'settlement_differs',
  'settlement_unknown',
  'payout_differs',
  'payout_failed',
] as const;
type AskedKind = (typeof askedKinds)[number];

/** Findings that were booked by the ordinary ways: an event of the rail never came. */
const bookedKinds = ['payment_booked', 'payment_taken', 'refund_taken', 'dispute_taken'] as const;
type BookedKind = (typeof bookedKinds)[number];

/** Something that the rail's books say and ours did not, or the other way round. */
export interface Finding {
  readonly kind: AskedKind | BookedKind;
  /** The rail and its name of the thing. */
  readonly subject: string;
  readonly details: EventFacts;
}

/** How much of each the rail listed. */
export interface Counts {
  readonly payments: number;
  readonly refunds: number;
  readonly disputes: number;
  readonly lines: number;
  readonly payouts: number;
}

/** A row of `rail_comparison`. */
export interface Comparison {
  readonly rail: RailName;
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
  readonly asked_at: Date | null;
  readonly compared_at: Date | null;
  readonly failed_at: Date | null;
  readonly failure: string | null;
  readonly counts: Partial<Counts>;
  readonly findings: readonly Finding[];
}

/** Whether a person must look at a finding. */
export function isAsked({ kind }: Pick<Finding, 'kind'>): boolean {
  return (askedKinds as readonly string[]).includes(kind);
}
