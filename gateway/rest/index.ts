export { type AppOptions, createApp, sendRefusal } from './app.ts';
export { credentialOf } from './authenticate.ts';
export { type BindOptions, bindOperations } from './bind.ts';
export { errorBody, errorHeaders, refusalOf, type Surface, surfaceOf } from './errors.ts';
export { answerHeaders, crossOriginHeaders, preflightHeaders } from './headers.ts';
export type { Check } from './health.ts';
