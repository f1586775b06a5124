export {
  creditOperations,
  getBalanceOperation,
  listEntriesOperation,
  refillSandboxOperation,
} from './operations.ts';
export { BalanceView, EntryView } from './schema.ts';
export {
  findOrgsOperation,
  getStaffBalanceOperation,
  getStaffOrgOperation,
  grantCreditOperation,
  listStaffEntriesOperation,
  StaffOrgView,
  staffCreditOperations,
} from './staff.ts';
