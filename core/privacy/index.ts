export { changeMark, lowBalanceMember, privacyOperations, updateOrgOperation } from './operations.ts';
export { settingsMembers } from './settings.ts';
