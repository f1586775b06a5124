// A balance as people read it. Pure.
import { mulDivFloor } from '../kernel/index.ts';
import type { Balance } from '../ledger/index.ts';
import type { BalanceView } from './schema.ts';

/** Whole US cents of an amount that is never negative, rounded down: nothing shown is not there. */
export function dollars(micro_usd: number): string {
  const cents = mulDivFloor(micro_usd, 1, 10_000);
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
}

/** `balance` with what is shown to people; credits are US dollars, so the rate is 1. */
export function viewBalance(balance: Balance): BalanceView {
  return {
    available_micro_usd: balance.available_micro_usd,
    held_micro_usd: balance.held_micro_usd,
    granted_micro_usd: balance.granted_micro_usd,
    display: { currency: 'USD', amount: dollars(balance.available_micro_usd) },
    currency: 'USD',
    fx_rate: '1.00000000',
  };
}
