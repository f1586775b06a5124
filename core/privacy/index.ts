export { changeMark, lowBalanceMember, privacyOperations, updateOrgOperation } from './operations.ts';
