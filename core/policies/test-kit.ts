// For tests of policies: a catalog with a few names, and calls where only what a test is about differs.
import type { Catalog, Endpoint, Model } from '../catalog/index.ts';
import type { CallFacts } from './index.ts';

function endpoint(id: string, provider: string, over: Partial<Endpoint> = {}): Endpoint {
  return {
    ...{ id, provider, region: 'us', quantization: null },
    data_policy: { trains: false, retention_days: 30, zdr: false },
    ...over,
  } as Endpoint;
}

const endpoints = [
  endpoint('ep_a', 'alpha'),
  endpoint('ep_b', 'beta', {
    region: 'eu-west',
    data_policy: { trains: false, retention_days: 0, zdr: true },
  }),
];
const models = ['acme/large', 'acme/small', 'other/medium'].map((id) => ({
  id,
  vendor: id.split('/')[0],
})) as Model[];

/** Models acme/large, acme/small, other/medium; endpoints ep_a of alpha, ep_b of beta (eu-west, zdr). */
export const knownNames: Catalog = {
  version: 'v',
  models: new Map(models.map((model) => [model.id, model])),
  endpoints: new Map(endpoints.map((one) => [one.id, one])),
  providers: new Map(endpoints.map((one) => [one.provider, {} as never])),
  sandbox: new Map(),
};

/** A whole chat call of acme/large with 1,000 input tokens at a Monday noon UTC, but for `over`. */
export function callOf(over: Partial<CallFacts> = {}): CallFacts {
  return {
    model: 'acme/large',
    project_id: 'prj_01KACZ3V8S6T5R4Q3P2N1M0K9J',
    key_id: 'key_01KACZ3V8S6T5R4Q3P2N1M0K9J',
    environment: 'live',
    dialect: 'chat',
    modalities_in: ['text'],
    modalities_out: ['text'],
    stream: false,
    has: { tools: false, json_schema: false, images: false, reasoning: false, cache: false, byok: false },
    input_tokens: 1_000,
    max_tokens: null,
    metadata: {},
    app: '',
    now_ms: Date.UTC(2026, 10, 23, 12),
    ...over,
  };
}
