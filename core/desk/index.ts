export {
  ApprovalView,
  approvalStates,
  approveActOperation,
  listApprovalsOperation,
  refuseActOperation,
} from './approvals.ts';
export { BudgetsView, listStaffBudgetsOperation } from './budgets.ts';
export { findMailsOperation, MailView, releaseAddressOperation, resendMailOperation } from './mails.ts';
export { getOutboxOperation, OutboxView, outboxQueues } from './operate/outbox.ts';
export { decodePayloads } from './operate/payloads.ts';
export {
  FxView,
  fxDayStates,
  fxSources,
  getFxOperation,
  listPricesOperation,
  PriceVersionView,
} from './operate/prices.ts';
export { listWorkflowsOperation, WorkflowsView, workflowStates } from './operate/workflows.ts';
export {
  deskOperations,
  listStaffActsOperation,
  listStaffDocumentsOperation,
  listStaffItemsOperation,
  listStaffTopupsOperation,
  resolveItemOperation,
} from './operations.ts';
export {
  getProposedPriceOperation,
  listSetPricesOperation,
  previewPriceOperation,
  proposePriceOperation,
  SetPriceView,
  setPriceStates,
} from './prices/operations.ts';
export { proposeRatesOperation } from './prices/rates.ts';
export { PricePlanView } from './prices/schema.ts';
export { ActView, DocumentView, ItemView } from './schema.ts';
export {
  allowShadows,
  getShadowAllowanceOperation,
  SHADOW_ALLOWANCE_MAX,
  ShadowAllowanceView,
  setShadowAllowanceOperation,
} from './shadows.ts';
