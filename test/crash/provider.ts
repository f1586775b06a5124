// The provider of the crash test: a simulator that is never killed, the witness of what was really produced.
import { type Sim, startProviderSim } from '../sim/providers/index.ts';

/** Prices of every model but `crash/exact`, whose input is free: whole micro-USD a token. */
const INPUT_MICRO = 3;
const OUTPUT_MICRO = 2;

/** A provider key that an organization brings: of its calls a share of the list cost is charged. */
export const OWN_SECRET = 'sk-crash-own-0001';
const OWN_SHARE = 0.05;

/** What is charged of a call of `list_micro_usd` with such a key. */
export const ownCostOf = (list_micro_usd: number): number => Math.floor(list_micro_usd * OWN_SHARE + 0.5);

export interface Served {
  /** Times the call reached a provider; above 1 after a failover or a retry. */
  readonly attempts: number;
  /** The whole answer went out. */
  readonly finished: boolean;
  /** Price of the answer that finished, else of what a whole one would have been. */
  readonly cost_micro_usd: number;
}

/** What each call, by its number, produced and cost at the provider. */
export function servedBy(sim: Sim): Map<number, Served> {
  const served = new Map<number, Served>();
  for (const call of sim.calls) {
    const before = served.get(Number(call.mark));
    const { prompt_tokens, completion_tokens } = call.reported ?? call;
    const input = call.model === 'exact' ? 0 : prompt_tokens * INPUT_MICRO;
    const list = input + completion_tokens * OUTPUT_MICRO;
    const cost = call.key_hint === OWN_SECRET.slice(-4) ? ownCostOf(list) : list;
    const keeps = before?.finished === true && !call.finished;
    served.set(Number(call.mark), {
      attempts: (before?.attempts ?? 0) + 1,
      finished: before?.finished === true || call.finished,
      cost_micro_usd: keeps ? before.cost_micro_usd : cost,
    });
  }
  return served;
}

/** Starts the simulator of both wire formats. */
export function startCrashProvider(): Promise<Sim> {
  return startProviderSim();
}

/**
 * The providers file that points the models of the plan at the simulator. `crash/exact` prices output alone, so
 * that a call costs what was held for it; `crash/full` bills to the end whoever leaves, so that it is drained;
 * `crash/own` takes keys of callers.
 */
export function crashProviders(sim: Sim): string {
  const provider = (id: string, kind: 'openai' | 'anthropic', byok = 'no') => `
  - id: ${id}
    name: ${id}
    kind: ${kind}
    base_url: ${sim.url}/v1
    api_key_env: CRASH_API_KEY
    byok: ${byok}
    regions: [local]
    data_policy: { trains: false, retention_days: 0, zdr: true }`;
  const endpoint = (id: string, options: { upstream?: string; billing?: string; input?: string } = {}) => `
      - provider: ${id}
        upstream_model: ${options.upstream ?? 'crash'}
        region: local
        cancel_billing: ${options.billing ?? 'stops'}
        price: { input: "${options.input ?? '3.00'}", output: "2.00" }`;
  const model = (name: string, endpoints: string) => `
  - id: crash/${name}
    name: Crash ${name}
    context_length: 128000
    max_output: 8192
    endpoints:${endpoints}`;
  return `version: 1
providers:${provider('crash', 'openai')}${provider('crash-two', 'openai')}${provider('crash-a', 'anthropic')}${provider('crash-own', 'openai', 'capable')}
models:${model('chat', endpoint('crash'))}${model('messages', endpoint('crash-a'))}${model(
    'failover',
    endpoint('crash') + endpoint('crash-two'),
  )}${model('full', endpoint('crash', { billing: 'bills_full' }))}${model('own', endpoint('crash-own'))}${model(
    'exact',
    endpoint('crash', { upstream: 'exact', input: '0' }),
  )}
`;
}
