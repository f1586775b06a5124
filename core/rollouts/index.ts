export { diffPolicyOperation, PolicyDiff, rolloutOperations } from './operations.ts';
