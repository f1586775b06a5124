export { topupWorkflowId } from './booking.ts';
export { takeCallback } from './callback.ts';
export { cancelTopup, createTopup, displayBalance, quoteFor } from './create.ts';
export { type Currency, decimalOf, isCurrency } from './currency.ts';
export {
  expireTopup,
  pollTopup,
  readProgress,
  receiptMail,
  runRailTasks,
  type TopupProgress,
} from './follow.ts';
export { type FxSource, minorFor, openFx, rateText, staticRates } from './fx.ts';
export { type MoneyIn, moneyIn, openMoneyIn } from './money-in.ts';
export {
  createTopupOperation,
  getTopupOperation,
  listTopupsOperation,
  quoteTopupOperation,
  topupOperations,
} from './operations.ts';
export type { Quote } from './quote.ts';
export { listStaffItems, purgeRailEvents, type StaffItem } from './rail-store.ts';
export { noRails, openRails, type Rails } from './rails/open.ts';
export { type Rail, RailError } from './rails/types.ts';
export { CreatedView, QuoteView, TopupView, viewTopup } from './schema.ts';
export { findTopup, listTopups, purgeQuotes } from './store.ts';
export {
  type CallbackAnswer,
  type RailName,
  railNames,
  type Topup,
  type TopupStatus,
  topupStatuses,
} from './types.ts';
