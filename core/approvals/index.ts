export { askSecondPerson } from './ask.ts';
export { decideApproval, listApprovals, lockApproval } from './store.ts';
export type { Approval } from './types.ts';
