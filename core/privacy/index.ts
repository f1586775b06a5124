export { privacyOperations, updateOrgOperation } from './operations.ts';
