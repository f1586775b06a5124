export { createAffinity } from './affinity.ts';
export type { Viewer } from './health/circuit.ts';
export { mayFollow } from './health/failover.ts';
export { createHealth, type Figures, type Health, type OpenFor } from './health/health.ts';
export { affordsUnder, type Limited, withinLimits } from './limits.ts';
export { dryRunPolicyOperation, routingOperations } from './operations.ts';
export { choose, named, planRoute, previewRoute } from './plan.ts';
export { type DrawnShadow, drawShadow, preferencesOfCopy } from './shadows/shadow.ts';
export {
  type Decided,
  Route,
  type RouteAttempt,
  type RouteLeft,
  readOnReasons,
  routeLine,
  routeOf,
} from './trace.ts';
export { routeInputOf, tryRoute } from './trial.ts';
export {
  type AccountState,
  type AffinityKind,
  type AffinityMemory,
  type AffinitySource,
  type Excluded,
  type ExclusionReason,
  exclusionReasons,
  type OwnKeys,
  type OwnKeyUse,
  type RouteAffinity,
  type RouteFeatures,
  type RouteInput,
  type RouteLoss,
  type RoutePlan,
  type RoutePreferences,
  type Sort,
} from './types.ts';
