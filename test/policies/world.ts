// Two gateway processes over one database, each with the same three providers: two that answer and one that is dead.
import { rmSync } from 'node:fs';
import { type Exchange, open, type Reply } from '../calls/caller.ts';
import { type Sim, startProviderSim } from '../sim/providers/index.ts';
import { createTestDatabase } from '../support/database.ts';
import { atFileEnd } from '../support/ends.ts';
import { freshDataDir, type GatewayProcess } from '../support/gateway.ts';
import { type Provisioned, provision } from '../support/provision.ts';
import { startSharedGateway } from '../support/shared-gateway.ts';

/** Micro-USD per token of the models; output costs twice as much. */
export const prices = { 'acme/cheap': 1, 'acme/dead': 20 } as const;

function providersYaml(sim: Sim): string {
  const provider = (id: string, base: string) => `
  - id: ${id}
    name: ${id}
    kind: openai
    base_url: ${base}
    api_key_env: [POLICIES_KEY]
    regions: [local]
    data_policy: { trains: false, retention_days: 0, zdr: ${id === 'quiet'} }`;
  const endpoint = (name: string, at: string, price: number) => `
      - provider: ${at}
        upstream_model: ${name}
        region: local
        cancel_billing: stops
        price: { input: "${price}", output: "${2 * price}" }`;
  const model = (id: keyof typeof prices, at: readonly string[]) => `
  - id: ${id}
    name: ${id}
    context_length: 128000
    max_output: 8192
    capabilities: { tools: true, json_schema: true }
    endpoints:${at.map((one) => endpoint(id.slice(5), one, prices[id])).join('')}`;
  return `version: 1
providers:${provider('loud', `${sim.url}/v1`)}${provider('quiet', `${sim.url}/v1`)}
${provider('dead', 'http://127.0.0.1:9/v1')}
models:${model('acme/cheap', ['loud', 'quiet'])}${model('acme/dead', ['dead'])}
`;
}

export interface PolicyWorld {
  readonly database_url: string;
  readonly one: GatewayProcess;
  readonly two: GatewayProcess;
  /** Starts a further gateway; ended after the file. */
  gateway(): Promise<GatewayProcess>;
  org(): Promise<Provisioned>;
  /** A management request at `gateway`; the answer's status and JSON. */
  ask(
    gateway: GatewayProcess,
    key: string,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; json: Record<string, unknown> & { error?: Record<string, unknown> } }>;
  /** Creates and activates `yaml` as `name` at `gateway`; returns its version. */
  rule(gateway: GatewayProcess, org: Provisioned, name: string, yaml: string): Promise<number>;
  chat(gateway: GatewayProcess, key: string, model: string, more?: object): Exchange;
}

/** Starts the world of a file; ended after it. */
export async function openPolicyWorld(): Promise<PolicyWorld> {
  const database_url = await createTestDatabase();
  const sim = await startProviderSim();
  atFileEnd(() => sim.close());
  const providers = providersYaml(sim);
  let orgs = 0;
  const gateway = async (): Promise<GatewayProcess> => {
    const data_dir = freshDataDir();
    const env = { POLICIES_KEY: 'sk-policies' };
    const started = await startSharedGateway({ database_url, providers, data_dir, env });
    atFileEnd(async () => {
      await started.kill();
      rmSync(data_dir, { recursive: true, force: true });
    });
    return started;
  };
  const [one, two] = await Promise.all([gateway(), gateway()]);
  const ask: PolicyWorld['ask'] = async (at, key, method, path, body) => {
    const reply = await fetch(`${at.base_url}/v1/policies${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    return { status: reply.status, json: text === '' ? {} : JSON.parse(text) };
  };
  return {
    ...{ database_url, one, two, gateway, ask },
    org: () => provision({ database_url, slug: `org-${++orgs}`, live_micro_usd: 10_000_000 }),
    async rule(at, org, name, yaml) {
      let made = await ask(at, org.live_key, 'POST', '', { name, yaml });
      if (made.status === 409) made = await ask(at, org.live_key, 'POST', `/${name}/versions`, { yaml });
      if (made.status !== 201) throw new Error(JSON.stringify(made.json));
      const { version } = made.json as { version: number };
      const active = await ask(at, org.live_key, 'POST', `/${name}/activate`, { version });
      if (active.status !== 200) throw new Error(JSON.stringify(active.json));
      return version;
    },
    chat: (at, key, model, more = {}) =>
      open(at.base_url, {
        path: '/v1/chat/completions',
        headers: { authorization: `Bearer ${key}`, 'x-svc-debug': '1' },
        body: JSON.stringify({ model, max_tokens: 32, messages: [{ role: 'user', content: 'Hi' }], ...more }),
      }),
  };
}

/** Field `name` of an answer's route trace. */
export function traced(reply: Reply, name: string): string | undefined {
  return new RegExp(`(?:^|; )${name}=([^;]*)`).exec(reply.headers['x-svc-route-trace'] ?? '')?.[1];
}
