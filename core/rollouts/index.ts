export { Canary, canaryStates, listCanariesOperation } from './canary-operations.ts';
export { countExperiments, dropExperimentHours } from './experiments/count.ts';
export {
  ExperimentArm,
  experimentDecisions,
  experimentMetrics,
  listExperimentsOperation,
} from './experiments/experiment-operations.ts';
export { judgeCanaries } from './judge.ts';
export { diffPolicyOperation, PolicyDiff, rolloutOperations } from './operations.ts';
export { countShadows, dropShadowHours } from './shadows/count.ts';
export { listShadowsOperation, Shadow } from './shadows/shadow-operations.ts';
