export { admitKey, admittingRoles, admittingScopes } from './access.ts';
export { type ContextParts, createContext } from './context.ts';
export { type Answer, runOnce } from './idempotency.ts';
export { openApiDocument } from './openapi.ts';
export { type InferenceRoute, inferenceRoutes, operations } from './registry.ts';
export { type Shape, shapeOf } from './shape.ts';
export { purgeAnswers } from './store.ts';
