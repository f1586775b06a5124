// Business values of mandates: defaults of the release under what staff have set (docs/money/auto-topup.md).
import { readSetting } from '../db/index.ts';
import type { Db } from '../kernel/index.ts';
import type { MandateMethod, RailName } from '../topups/index.ts';

/** What one way of being charged allows. */
interface MethodTerms {
  /** The most of one debit, tax included, in the smallest unit. */
  readonly cap_minor: number;
  /** How long the payer knows of a debit before it is made. */
  readonly notify_hours: number;
}

type MandateTerms = Readonly<Record<RailName, Readonly<Partial<Record<MandateMethod, MethodTerms>>>>>;

/**
 * Up to 15,000 rupees cards and UPI are debited in India without a new authentication, a day after a notice. The hub of the
 * cards wants 36 hours and five minutes from the delivery, else it refuses the debit
 * (BAD_REQUEST_MANDATE_PROMISED_DEBIT_DATE_NOT_HONOURED).
 * @see https://razorpay.com/docs/api/payments/recurring-payments/cards/create-subsequent-payments
 */
const DEFAULTS: MandateTerms = {
  'rail-a': {
    card: { cap_minor: 1_500_000, notify_hours: 37 },
    upi: { cap_minor: 1_500_000, notify_hours: 24 },
    emandate: { cap_minor: 10_000_000, notify_hours: 24 },
  },
  'rail-b': { card: { cap_minor: 500_000, notify_hours: 0 } },
};

/** The business values of one method at a rail; null where the rail does not have it. */
export async function readMethodTerms(
  db: Db,
  rail: RailName,
  method: MandateMethod,
): Promise<MethodTerms | null> {
  const base = DEFAULTS[rail][method];
  if (base === undefined) return null;
  const set = await readSetting<Partial<MandateTerms>>(db, 'mandates');
  return { ...base, ...set?.[rail]?.[method] };
}
