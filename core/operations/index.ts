export { admit, admittingRoles, admittingScopes } from './access.ts';
export { type ContextParts, createContext } from './context.ts';
export { type Answer, runOnce } from './idempotency.ts';
export { registerJobMetrics } from './job-metrics.ts';
export { type JobParts, type Jobs, startJobs } from './jobs.ts';
export { openApiDocument } from './openapi/document.ts';
export { type ErrorRow, errorTable } from './openapi/errors.ts';
export {
  type CallbackRoute,
  callbackRoutes,
  type InferenceRoute,
  inferenceRoutes,
  operations,
  signInOperations,
  staffListenerOperations,
  staffOperations,
} from './registry.ts';
export { type Shape, shapeOf } from './shape.ts';
export { purgeAnswers } from './store.ts';
