export { lowBalanceMember, privacyOperations, updateOrgOperation } from './operations.ts';
