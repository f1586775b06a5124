export { takeRailCallback } from './callback.ts';
export {
  type DisputeProgress,
  pollDispute,
  readDispute,
  remindOfDispute,
  settleDispute,
} from './disputes/follow.ts';
export { endLossBy, settleLosses } from './disputes/loss.ts';
export { adoptEarlyDisputes, takeDisputeFact } from './disputes/take.ts';
export {
  pollRefund,
  type RefundProgress,
  readRefund,
  reportSilence,
  sendRefund,
} from './follow.ts';
export {
  getRefundOperation,
  listRefundsOperation,
  refundOperations,
  refundTopupOperation,
} from './operations.ts';
export { adoptRailRefunds, takeRefundFact } from './rail-refunds.ts';
export { requestRefund } from './request.ts';
export { RefundView } from './schema.ts';
export {
  liftDisputeOperation,
  listStaffDisputesOperation,
  listStaffRefundsOperation,
  payDisputeOperation,
  StaffDisputeView,
  StaffRefundView,
  staffRefundOperations,
} from './staff-operations.ts';
export { findRefund, listStaffRefunds, refundsOf } from './store.ts';
export { type Refund, refundStatuses } from './types.ts';
