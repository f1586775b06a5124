export { Canary, canaryStates, listCanariesOperation } from './canary-operations.ts';
export { judgeCanaries } from './judge.ts';
export { diffPolicyOperation, PolicyDiff, rolloutOperations } from './operations.ts';
