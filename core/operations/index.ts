export { admit, admittingRoles } from './access.ts';
export { createContext, runOperation } from './context.ts';
export { admitOrNote } from './denials.ts';
export { runOnce } from './idempotency.ts';
export { registerJobMetrics } from './job-metrics.ts';
export { type Jobs, relayParts, startJobs, sweepHolds } from './jobs.ts';
export { openApiDocument, PRODUCT } from './openapi/document.ts';
export { errorTable } from './openapi/errors.ts';
export {
  callbackRoutes,
  fileOperations,
  inferenceRoutes,
  operations,
  signInOperations,
  staffListenerOperations,
  staffOperations,
} from './registry.ts';
export { type Shape, shapeOf } from './shape.ts';
