// A catalog with one model of every family, whose upstream follows the script of test/sim/providers/agent.ts.
import type { Sim } from '../sim/providers/index.ts';

const REGION = 'eu-central-1';
const account = { access_key_id: 'AKIASIMULATED', secret: 'sim/secret', session_token: 'session==' };

export const KEYS = {
  bedrock: { accounts: [account], region: REGION },
  env: {
    AGENTS_KEY: 'sk-agents',
    AGENTS_AWS: `${account.access_key_id}:${account.secret}:${account.session_token}`,
  },
};

const wires = {
  chat: { kind: 'openai', path: '/v1', upstream: 'agent-1' },
  responses: { kind: 'openai-responses', path: '/v1', upstream: 'agent-1' },
  anthropic: { kind: 'anthropic', path: '/v1', upstream: 'agent-1' },
  gemini: { kind: 'gemini', path: '/v1beta', upstream: 'agent-1' },
  bedrock: { kind: 'bedrock', path: '', upstream: 'eu.anthropic.agent-1-v1:0' },
} as const;
type Wire = keyof typeof wires;

export const families = Object.keys(wires) as readonly Wire[];

export function providersYaml(sim: Sim, bedrock: Sim): string {
  const providers = families.map((name) => {
    const { kind, path } = wires[name];
    const [url, variable] = name === 'bedrock' ? [bedrock.url, 'AGENTS_AWS'] : [sim.url, 'AGENTS_KEY'];
    return `
  - id: ${name}
    name: ${name}
    kind: ${kind}
    base_url: ${url}${path}
    api_key_env: [${variable}]
    data_policy: { trains: false, retention_days: 0, zdr: true }`;
  });
  const models = families.map(
    (name) => `
  - id: fam/${name}
    name: ${name}
    context_length: 400000
    max_output: 64000
    capabilities: { tools: true, vision: true, pdf: true, cache: true, reasoning: true, json_schema: true }
    reasoning: { controls: [effort, budget, "off"]${name === 'bedrock' ? ', format: anthropic-claude-v1' : ''} }
    endpoints:
      - provider: ${name}
        upstream_model: "${wires[name].upstream}"
        region: ${REGION}
        cancel_billing: stops
        price: { input: "1.25", output: "4.75" }`,
  );
  return `version: 1\nproviders:${providers.join('')}\nmodels:${models.join('')}\n`;
}
