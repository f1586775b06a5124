export { billingChangeIn, billingMembers, changeBilling } from './billing.ts';
export { applyFact, closingWorkflowId } from './booking.ts';
export { takeCallback, takeNamed } from './callback.ts';
export {
  cancelTopup,
  createTopup,
  displayBalance,
  insertPriced,
  priceForSale,
  quoteFor,
} from './create.ts';
export {
  type Currency,
  decimalOf,
  exponentOf,
  formatAmount,
  formatCredits,
  isCurrency,
} from './currency.ts';
export { DisputeView, disputeExample, viewDispute } from './disputes/schema.ts';
export {
  claimRailDispute,
  closeDispute,
  type DisputeParts,
  disputesOf,
  earlyDisputes,
  endLoss,
  findDispute,
  hasLoss,
  hasOpenDispute,
  hasPaymentHold,
  insertDispute,
  keepRailDispute,
  listDisputes,
  newestDisputes,
  noteDispute,
  noteLoss,
  topupsWithEarlyDisputes,
  unansweredLosses,
} from './disputes/store.ts';
export type {
  Dispute,
  DisputeFact,
  DisputeStatus,
  RailDispute,
} from './disputes/types.ts';
export {
  applyCharge,
  expireTopup,
  pollTopup,
  readProgress,
  receiptMail,
  runRailTasks,
  type TopupProgress,
} from './follow.ts';
export { minorFor, rateText, staticRates } from './fx/rates.ts';
export { acceptFxDay, refreshFx } from './fx/refresh.ts';
export { planRates, setRates, type WantedRates } from './fx/set.ts';
export { openFx, readRates } from './fx/source.ts';
export { findFetch, listDays } from './fx/store.ts';
export { closeItem, listOpenItems, lockItem, type OpenItem } from './items-store.ts';
export { type MoneyIn, moneyIn, openMoneyIn, railFailure, railOrRefuse } from './money-in.ts';
export {
  cancelTopupOperation,
  createTopupOperation,
  getTopupOperation,
  listTopupsOperation,
  quoteTopupOperation,
  topupOperations,
} from './operations.ts';
export { checkoutUrl, isPayToken, payUrl } from './pay-link.ts';
export { type OpenPage, type OverPage, readPayPage, readPayReturn } from './pay-page.ts';
export { fxDisplayOperation, pricingOperation, publicOperations } from './public-operations.ts';
export { currencyOf, type Priced, type Quote, railOf } from './quote.ts';
export {
  addStaffItem,
  addTask as addRailTask,
  type EventFacts,
  listStaffItems,
  listWaitingTasks,
  purgeRailEvents,
  putStaffItem,
  readRailBacklog,
  readSilences,
  resolveStaffItem,
} from './rail-store.ts';
export type { Payout, RailPayment, SettledLine, Time } from './rails/books.ts';
export {
  type Charge,
  type ChargeRequest,
  type MandateFact,
  type MandateMethod,
  mandateMethods,
  type NoticeFact,
  type RailMandates,
} from './rails/mandate-types.ts';
export { openRails } from './rails/open.ts';
export type { RefundFact } from './rails/refund-types.ts';
export { type Callback, type CheckoutOpening, type Rail, RailError } from './rails/types.ts';
export { acceptReview, listReviews, refuseReview } from './review/decide.ts';
export {
  ACCEPT,
  acceptTopupOperation,
  listReviewsOperation,
  REFUSE,
  ReviewView,
  refuseTopupOperation,
  staffTopupOperations,
} from './review/operations.ts';
export { repriced } from './review/reprice.ts';
export { QuoteView, TopupView, viewTopup } from './schema.ts';
export {
  findTopup,
  findTopupByOrder,
  hasPaid,
  listPaid,
  listTopups,
  lockTopup,
  nameOrder,
  nameTopups,
  noteFee,
  purgeQuotes,
  type TopupNames,
} from './store.ts';
export { readTerms } from './terms.ts';
export { type LossTotal, type PaymentTotal, sumLosses, sumPayments } from './totals-store.ts';
export {
  type CallbackAnswer,
  type RailName,
  railNames,
  type Topup,
  type TopupStatus,
  topupStatuses,
} from './types.ts';
