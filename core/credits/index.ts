export { callersBook } from './book.ts';
export {
  CheckinStatusView,
  CheckinView,
  checkInOperation,
  getCheckinOperation,
} from './checkin/operations.ts';
export { notifyExpiring } from './expiry/notices.ts';
export { purgeNotices } from './expiry/store.ts';
export { LotView, listLotsOperation, lotKinds } from './lots.ts';
export {
  creditOperations,
  getBalanceOperation,
  listEntriesOperation,
  refillSandboxOperation,
} from './operations.ts';
export { reconcileDaily } from './reconciliation/daily.ts';
export {
  ReconciliationView,
  reconciliationCsv,
  reconciliationOperation,
  viewReconciliation,
} from './reconciliation/operation.ts';
export { rangeOf, reconcile } from './reconciliation/report.ts';
export { BalanceView, EntryView } from './schema.ts';
export {
  findOrgsOperation,
  GRANT,
  getStaffBalanceOperation,
  getStaffOrgOperation,
  grantApproved,
  grantCreditOperation,
  listStaffEntriesOperation,
  StaffOrgView,
  staffCreditOperations,
} from './staff.ts';
export { listStaffLotsOperation, staffReconciliationOperation } from './staff-accounts.ts';
export { auditTargetOf, getStaffOrg, lookInto } from './staff-org.ts';
