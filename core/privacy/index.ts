export { DataPolicyPatch } from './data-policy.ts';
export { changeMark, lowBalanceMember, privacyOperations, updateOrgOperation } from './operations.ts';
export { settingsMembers } from './settings.ts';
export {
  eraseBatch,
  failErasure,
  getRequest,
  requestErasure,
  sweepErased,
} from './subjects/erase.ts';
export {
  eraseSubjectOperation,
  exportSubjectOperation,
  getSubjectRequestOperation,
  listSubjectRequestsOperation,
  SubjectExportView,
  SubjectRequestView,
  viewRequest,
} from './subjects/operations.ts';
export { digestOfIds } from './subjects/receipt.ts';
export { listRequests } from './subjects/store.ts';
export { type ErasureProgress, subjectKinds, subjectStates } from './subjects/types.ts';
