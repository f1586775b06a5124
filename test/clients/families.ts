// One gateway before the sandbox and a provider simulator of every family, for clients that shall not notice which
// family answers them.
import { afterAll, beforeAll } from 'vitest';
import { type Sim, startBedrockSim, startProviderSim } from '../sim/providers/index.ts';
import { createTestDatabase } from '../support/database.ts';
import { startTestGateway, type TestGateway } from '../support/shared-gateway.ts';

/** A family as a client sees it: a key and the names of its models. */
export interface Served {
  readonly base_url: string;
  readonly key: string;
  /** Answers with text. */
  readonly text: string;
  /** Calls a tool, then says something about its result. */
  readonly tools: string;
  /** Keeps to a schema. */
  readonly json: string;
}

const REGION = 'eu-central-1';
const account = { access_key_id: 'AKIASIMULATED', secret: 'sim/secret', session_token: 'session==' };
const kinds = { openai: 'openai', responses: 'openai-responses', anthropic: 'anthropic', gemini: 'gemini' };
const paths = { openai: '/v1', responses: '/v1', anthropic: '/v1', gemini: '/v1beta' };

export const families = ['sandbox', 'openai', 'responses', 'anthropic', 'gemini', 'bedrock'] as const;
export type FamilyName = (typeof families)[number];

const provider = (id: string, kind: string, base_url: string, variable: string) => `
  - id: ${id}
    name: ${id}
    kind: ${kind}
    base_url: ${base_url}
    api_key_env: [${variable}]
    data_policy: { trains: false, retention_days: 0, zdr: true }`;

const model = (id: string, upstream: string, more = '') => `
  - id: fam/${id}
    name: ${id}
    context_length: 200000
    max_output: 8192${more}
    endpoints:
      - provider: ${id.replace('-embed', '')}
        upstream_model: "${upstream}"
        region: ${REGION}
        cancel_billing: stops
        price: { input: "1.25", output: "4.75" }`;

function providersYaml(sim: Sim, bedrock: Sim): string {
  const able = (format: string) => `
    capabilities: { tools: true, vision: true, pdf: true, cache: true, reasoning: true, json_schema: true }
    reasoning: { controls: [effort, budget, "off"]${format} }`;
  const names = Object.keys(kinds) as (keyof typeof kinds)[];
  const providers = names.map((name) => provider(name, kinds[name], `${sim.url}${paths[name]}`, 'FAM_KEY'));
  const models = names.map((name) => model(name, `${name}-1`, able('')));
  const wires = model('openai', 'openai-1', able('')).replace('fam/openai', 'fam/wires');
  const second = wires
    .slice(wires.indexOf('      - provider'))
    .replace('region:', 'family: openai_responses\n        region:');
  const embed = model('openai-embed', 'embed-1', '\n    modalities: { in: [text], out: [embedding] }');
  return `version: 1
providers:${providers.join('')}${provider('bedrock', 'bedrock', bedrock.url, 'FAM_AWS')}
models:${models.join('')}${wires}\n${second}${embed}${model('bedrock', 'eu.anthropic.claude-sim-v1:0', able(', format: anthropic-claude-v1'))}
`;
}

export interface FamilyGateway extends TestGateway {
  readonly sim: Sim;
  readonly bedrock: Sim;
  served(family: FamilyName): Served;
}

function servedBy(gateway: TestGateway, family: FamilyName): Served {
  const { base_url, live_key, sandbox_key } = gateway;
  if (family !== 'sandbox') {
    const id = `fam/${family}`;
    return { base_url, key: live_key, text: id, tools: id, json: id };
  }
  return {
    ...{ base_url, key: sandbox_key, text: 'sandbox/lorem', tools: 'sandbox/tools' },
    json: 'sandbox/json',
  };
}

/** Starts simulators and a gateway before the tests of the file; call the result inside tests. */
export function useFamilies(): () => FamilyGateway {
  let all: FamilyGateway | null = null;
  beforeAll(async () => {
    const [sim, bedrock] = await Promise.all([
      startProviderSim(),
      startBedrockSim({ accounts: [account], region: REGION }),
    ]);
    const gateway = await startTestGateway({
      database_url: await createTestDatabase(),
      providers: providersYaml(sim, bedrock),
      env: {
        FAM_KEY: 'sk-families',
        FAM_AWS: `${account.access_key_id}:${account.secret}:${account.session_token}`,
      },
    });
    all = { ...gateway, sim, bedrock, served: (family) => servedBy(gateway, family) };
  });
  afterAll(async () => {
    await all?.stop();
    await Promise.all([all?.sim.close(), all?.bedrock.close()]);
  });
  return () => {
    if (all === null) throw new Error('the gateway has not been started');
    return all;
  };
}
