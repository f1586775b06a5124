export { closeOrg, refuseCustomers } from './close.ts';
export {
  closeOrgByStaffOperation,
  closeOrgOperation,
  closingOperations,
  staffClosingOperations,
} from './operations.ts';
export { endAccess, endCredit, reportClosing } from './steps.ts';
export { findClosing } from './store.ts';
export type { Closing, ClosingProgress } from './types.ts';
