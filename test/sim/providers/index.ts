export { type BedrockSimOptions, startBedrockSim } from './bedrock.ts';
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
export type { AwsAccount } from './sigv4.ts';
