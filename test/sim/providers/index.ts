export type { CallRecord, SimFamily } from './record.ts';
export {
  type Sim,
  type SimOptions,
  type SimStats,
  startAnthropicSim,
  startOpenAiSim,
  startProviderSim,
} from './server.ts';
