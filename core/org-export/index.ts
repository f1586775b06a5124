export { derived, exported, ours, passing, secret } from './fates.ts';
export { listOrgExportsOperation, OrgExportView } from './list-operation.ts';
export { createOrgExportOperation, orgExportOperations } from './operations.ts';
