export { askSecondPerson, propose } from './ask.ts';
export { decideApproval, findApproval, listApprovals, lockApproval } from './store.ts';
export type { Approval } from './types.ts';
