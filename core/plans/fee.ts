// What a plan costs: the fee of a month, and the price of a change. Pure.
import { type MicroUsd, microUsd, mulDivFloor } from '../kernel/index.ts';
import { monthOf, type Plan } from '../orgs/index.ts';

/** Fees are in cents. */
const MICRO_PER_CENT = 10_000;

/** What a change or a month takes from the credits, and what it brings. */
interface Price {
  readonly fee_micro: MicroUsd;
  readonly included_micro: MicroUsd;
}

type Offer = Pick<Plan, 'monthly_minor' | 'included_micro'>;

/** The fee of a whole month and the credit in it; what is by agreement takes nothing from the credits. */
export function monthlyPrice({ monthly_minor, included_micro }: Offer): Price {
  return {
    fee_micro: microUsd((monthly_minor ?? 0) * MICRO_PER_CENT),
    included_micro: microUsd(monthly_minor === null ? 0 : (included_micro ?? 0)),
  };
}

/** Whether the month that begins at `starts_at` was given: it has no fee and brings no credit. */
export function isFree({ free_until }: { free_until: Date | null }, starts_at: Date): boolean {
  return free_until !== null && starts_at < free_until;
}

/** Which of two plans is the larger one; by agreement is above all. */
export function compareOffers(from: Offer, to: Offer): 'upgrade' | 'downgrade' {
  const rank = ({ monthly_minor }: Offer) => monthly_minor ?? Number.POSITIVE_INFINITY;
  return rank(to) > rank(from) ? 'upgrade' : 'downgrade';
}

/**
 * What an upgrade costs at `at`: what the larger plan costs and includes more than the present one, for the days that are
 * left of the month, rounded down. The present one is paid to the end of the month.
 */
export function upgradePrice(from: Offer, to: Offer, at: Date): Price {
  const [before, after] = [monthlyPrice(from), monthlyPrice(to)];
  const { days, days_left } = monthOf(at);
  const rest = (a: number, b: number) => microUsd(mulDivFloor(Math.max(0, b - a), days_left, days));
  return {
    fee_micro: rest(before.fee_micro, after.fee_micro),
    included_micro: rest(before.included_micro, after.included_micro),
  };
}
