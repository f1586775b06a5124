export { chargedRate, chargedRates, type ListRates } from '../catalog/index.ts';
export { textInputBound, type UsageBound, withinBound } from './bound.ts';
export { fitUsage, price, promptTokens, ratesFor } from './price.ts';
export { type Recomputed, recompute } from './recompute.ts';
export {
  affordableTokens,
  type EndpointReserve,
  HOLD_STEP_TOKENS,
  holdMicroUsd,
  isReserveOf,
  type Reserve,
  type Reserved,
  type ReserveInput,
  reserve,
} from './reserve.ts';
export { addText, countText, emptyPrompt, inputTokensBound, textTokens } from './size.ts';
export { createTokenRatios, isTooLong, type Produced, TokenRatio } from './token-ratio.ts';
export type { Cost, CostLine, PromptSize, Usage } from './types.ts';
