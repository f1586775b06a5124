import { listAccrualsOperation } from './accruals/operations.ts';
import { allocationOperations } from './allocations/operations.ts';
import { resellerAnnouncementOperations } from './announcements.ts';
import { childOperations } from './children/operations.ts';
import { childUsageOperation, resellerUsageOperation } from './children/usage.ts';
import { resellerInviteOperations } from './invites.ts';
import { resellerInvoiceOperations } from './invoicing/documents.ts';
import { invoicingOperations } from './invoicing/operations.ts';
import { setOrgKindOperation } from './kind.ts';
import { resellerOverviewOperation } from './overview.ts';
import { mailSenderOperations } from './sender/operations.ts';
import { resellerStaffOperations } from './staff.ts';
import {
  listResellersOperation,
  listStaffCustomersOperation,
  listStaffMonthsOperation,
} from './staff-list.ts';
import { statementOperation } from './statement/operations.ts';
import { resellerTicketOperations } from './tickets.ts';
import { tierOperations } from './tiers/operations.ts';
import { tierPricesOperation } from './tiers/prices.ts';

export { countAccruals, creditAccruals } from './accruals/count.ts';
export { AccrualView, accrualStates, listAccrualsOperation } from './accruals/operations.ts';
export { reclaimAll, settleAllocations } from './allocations/allocate.ts';
export {
  AllocationView,
  createAllocationOperation,
  listAllocationsOperation,
  reclaimOperation,
} from './allocations/operations.ts';
export {
  createResellerAnnouncementOperation,
  deleteResellerAnnouncementOperation,
  listResellerAnnouncementsOperation,
  ResellerAnnouncementView,
  updateResellerAnnouncementOperation,
} from './announcements.ts';
export { holders, resellerCaller } from './audience.ts';
export {
  ChildView,
  createChildOperation,
  getChildOperation,
  listChildrenOperation,
  setChildTierOperation,
  updateChildOperation,
} from './children/operations.ts';
export { listByClosed } from './children/store.ts';
export {
  ChildUsageView,
  childGroupings,
  childUsageOperation,
  resellerUsageOperation,
} from './children/usage.ts';
export {
  createResellerInviteOperation,
  deleteResellerInviteOperation,
  foundingParents,
  listResellerInvitesOperation,
  ResellerInviteView,
} from './invites.ts';
export {
  getResellerInvoiceOperation,
  listResellerInvoicesOperation,
} from './invoicing/documents.ts';
export { getInvoicingOperation, InvoicingView, setInvoicingOperation } from './invoicing/operations.ts';
export { setOrgKindOperation } from './kind.ts';
export { ResellerOverview, resellerOverviewOperation } from './overview.ts';
export { mailFromOf, recheckSenders } from './sender/look.ts';
export {
  deleteMailSenderOperation,
  getMailSenderOperation,
  MailSenderRecordView,
  MailSenderView,
  setMailSenderOperation,
  verifyMailSenderOperation,
} from './sender/operations.ts';
export {
  listResellerStaffOperation,
  ResellerStaffView,
  setResellerStaffOperation,
} from './staff.ts';
export {
  listResellersOperation,
  listStaffCustomersOperation,
  listStaffMonthsOperation,
  StaffCustomerView,
  StaffMonthView,
  StaffResellerView,
} from './staff-list.ts';
export { StatementView, statementOperation } from './statement/operations.ts';
export {
  listResellerTicketsOperation,
  ResellerTicketView,
  replyToResellerTicketOperation,
  resolveResellerTicketOperation,
} from './tickets.ts';
export {
  createTierOperation,
  deleteTierOperation,
  listTiersOperation,
  TierView,
  updateTierOperation,
} from './tiers/operations.ts';
export { TierPriceList, tierPricesOperation } from './tiers/prices.ts';
export { findDefaultTier, findTier, putDefaultTier } from './tiers/store.ts';

/** What people of a reseller do. */
export const resellerOperations = [
  resellerOverviewOperation,
  ...resellerStaffOperations,
  ...tierOperations,
  tierPricesOperation,
  ...childOperations,
  ...allocationOperations,
  resellerUsageOperation,
  childUsageOperation,
  listAccrualsOperation,
  ...resellerAnnouncementOperations,
  ...resellerInviteOperations,
  ...resellerTicketOperations,
  ...invoicingOperations,
  ...resellerInvoiceOperations,
  ...mailSenderOperations,
  statementOperation,
] as const;

/** What staff do about resellers. */
export const staffResellerOperations = [
  setOrgKindOperation,
  listResellersOperation,
  listStaffCustomersOperation,
  listStaffMonthsOperation,
] as const;
