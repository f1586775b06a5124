export { createAffinity } from './affinity.ts';
export { mayFollow } from './failover.ts';
export {
  type Circuit,
  createHealth,
  type Figures,
  type Health,
  type HealthView,
  type Success,
} from './health.ts';
export { affordsUnder, type Limited, withinLimits } from './limits.ts';
export { routingOperations } from './operations.ts';
export { choose, named, planRoute, previewRoute, timeoutsOf } from './plan.ts';
export { suggestions } from './refusal.ts';
export { type Decided, Route, type RouteAttempt, routeLine, routeOf } from './trace.ts';
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
  type Passed,
  type RankedEndpoint,
  type RouteAffinity,
  type RouteFeatures,
  type RouteInput,
  type RouteLoss,
  type RoutePlan,
  type RouteWarning,
  type RouteWish,
  type Sort,
  type Timeouts,
} from './types.ts';
