// A rail's callback with all that it may report: payments, money that went back, disputes, mandates and notices.
import type { Context } from '../kernel/index.ts';
import { takeMandateFact, takeNoticeFact } from '../mandates/index.ts';
import { type Callback, type CallbackAnswer, type Rail, takeCallback } from '../topups/index.ts';
import { takeDisputeFact, takeEarlyDisputes } from './disputes/take.ts';
import { takeRefundFact } from './rail-refunds.ts';

const takers = {
  moneyBack: takeRefundFact,
  dispute: takeDisputeFact,
  mandate: takeMandateFact,
  notice: takeNoticeFact,
  booked: takeEarlyDisputes,
};

/**
 * Handles a callback of `rail` and returns the answer to it.
 * @throws ServiceError signature_invalid, signature_expired, invalid_json; anything else means "send it again".
 */
export function takeRailCallback(context: Context, rail: Rail, callback: Callback): Promise<CallbackAnswer> {
  return takeCallback(context, rail, callback, takers);
}
