// Business values of the daily check-in: those of the release under what staff have set.
import { readSetting } from '../../db/index.ts';
import type { Db } from '../../kernel/index.ts';

/** Setting `checkin`. */
export interface CheckinTerms {
  readonly enabled: boolean;
  readonly amount_micro_usd: number;
  /** Days until the credit of a check-in ends. */
  readonly credit_days: number;
  /** Only organizations that have paid a top-up check in: else an account costs nothing and earns every day. */
  readonly needs_topup: boolean;
}

const DEFAULTS: CheckinTerms = {
  enabled: false,
  amount_micro_usd: 100_000,
  credit_days: 30,
  needs_topup: true,
};

/** The values in force. */
export async function readCheckinTerms(db: Db): Promise<CheckinTerms> {
  return { ...DEFAULTS, ...(await readSetting<Partial<CheckinTerms>>(db, 'checkin')) };
}
