export { announceAttempt, noteMailedNotice } from './announce.ts';
export {
  type AttemptProgress,
  chargeAttempt,
  readAttempt,
  reportAttempt,
  skipAttempt,
} from './attempt.ts';
export { lastAttempt, listAutoTopups } from './auto-store.ts';
export { takeMandateFact, takeNoticeFact } from './callback.ts';
export { endAttempt } from './end.ts';
export {
  lapseMandate,
  type MandateProgress,
  pollMandate,
  readMandate,
  releaseMandate,
  reportMandate,
} from './follow.ts';
export {
  cancelMandateOperation,
  createMandateOperation,
  getAutoTopupOperation,
  getMandateOperation,
  listMandatesOperation,
  mandateOperations,
  pauseMandateOperation,
  resumeMandateOperation,
  setAutoTopupOperation,
  skipAutoTopupOperation,
} from './operations.ts';
export { actOnMandate, createMandate } from './register.ts';
export { type RegisterPage, readRegisterPage, readRegisterReturn } from './register-page.ts';
export { AutoTopupView, MandateView, nextSteps } from './schema.ts';
export { skipUrl } from './skip-link.ts';
export { readSkipPage, type SkipPage, skipByLink } from './skip-page.ts';
export { findMandate } from './store.ts';
export {
  beginAttempt,
  cancelMandatesOf,
  cancelOfClosed,
  endAutoTopup,
  endMandates,
  lookAtBalances,
} from './trigger.ts';
export { type Attempt, type Mandate, mandateStatuses } from './types.ts';
export { readAutoTopup, setAutoTopup } from './view.ts';
