export { cancelOrgErasure, requestOrgErasure } from './ask.ts';
export { countKept, eraseOrgBatch, lookAtErasure, reportErasure } from './erase.ts';
export { changed, kept, passing, steps } from './fates.ts';
export { countRows } from './kept-store.ts';
export { sweepErasedOrgs } from './late.ts';
export {
  cancelOrgErasureByStaffOperation,
  cancelOrgErasureOperation,
  getOrgErasureOperation,
  getOrgErasureTermsOperation,
  listOrgErasuresOperation,
  OrgErasureTermsView,
  OrgErasureView,
  orgErasureOperations,
  requestOrgErasureByStaffOperation,
  requestOrgErasureOperation,
  setOrgErasureTermsOperation,
  staffOrgErasureOperations,
} from './operations.ts';
export { linesOf, receiptDigest } from './receipt.ts';
export { eraseRows, findErasure } from './store.ts';
export { changeErasureTerms, readErasureTerms } from './terms.ts';
export type { OrgErasureProgress } from './types.ts';
