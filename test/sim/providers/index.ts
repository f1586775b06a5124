export { type BedrockSimOptions, startBedrockSim } from './bedrock/bedrock.ts';
export type { AwsAccount } from './bedrock/sigv4.ts';
export type { CallRecord, SimFamily } from './record.ts';
export {
  type Sim,
  type SimOptions,
  type SimStats,
  startAnthropicSim,
  startCohereSim,
  startGeminiSim,
  startOpenAiSim,
  startProviderSim,
} from './server.ts';
