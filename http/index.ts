export { type AppOptions, createApp, sendRefusal } from './app.ts';
export { credentialOf } from './authenticate.ts';
export { type BindOptions, bindOperations, servicesOf } from './bind.ts';
export {
  addressOf,
  type CallerParts,
  callerOf,
  headerOf,
  refuseForeignPage,
  requestContext,
  staffCallerOf,
} from './caller.ts';
export { errorBody, errorHeaders, refusalOf, type Surface, surfaceOf } from './errors.ts';
export { answerHeaders, crossOriginHeaders, preflightHeaders } from './headers.ts';
export { bindHealth, type Check } from './health.ts';
export { addAnswerHooks } from './hooks.ts';
export { type InputReader, inputReader, parseBody, type RawInput } from './input.ts';
export { type Metrics, openMetrics, SECONDS } from './metrics.ts';
export { type ManagementRate, takeTurn } from './rate.ts';
