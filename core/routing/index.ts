export { type Circuit, createHealth, type Health, type HealthView, type Success } from './health.ts';
export { type Limited, withinLimits } from './limits.ts';
export { routingOperations } from './operations.ts';
export { choose, planRoute, previewRoute, timeoutsOf } from './plan.ts';
export { suggestions } from './refusal.ts';
export { type TraceFacts, type TraceTry, traceLine } from './trace.ts';
export {
  type Excluded,
  type ExclusionReason,
  exclusionReasons,
  type RankedEndpoint,
  type RouteFeatures,
  type RouteInput,
  type RouteLoss,
  type RoutePlan,
  type RouteWarning,
  type RouteWish,
  type Sort,
  type Timeouts,
} from './types.ts';
