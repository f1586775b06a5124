// For tests of routing: models, endpoints and requests where only what a test is about differs from the usual.

import type { Catalog, Endpoint, Model, TargetCapabilities, WireFacts } from '../catalog/index.ts';
import { builtIn } from '../inference/index.ts';
import { nanoUsd, ServiceError } from '../kernel/index.ts';
import {
  type Actions,
  activePolicy,
  type CallFacts,
  decide,
  type PolicyDocument,
  type Ruling,
} from '../policies/index.ts';
import {
  choose,
  createHealth,
  type Health,
  planRoute,
  type RouteInput,
  type RouteLoss,
  type Viewer,
} from './index.ts';

export const able: TargetCapabilities = {
  tools: true,
  parallel_tools: true,
  json_schema: true,
  vision: true,
  audio: true,
  pdf: true,
  reasoning: true,
  cache: true,
  parameters: [],
  betas: [],
  server_tools: ['web_search'],
  prefill: false,
  reasoning_controls: [],
  max_output: 10_000,
};

export function endpoint(
  name: string,
  over: Partial<Endpoint> = {},
  rates = { input: 1000, output: 1000 },
): Endpoint {
  const id = `ep_${name}` as const;
  return {
    id,
    endpoint_no: 1,
    model_id: 'acme/large',
    provider: name,
    provider_name: name,
    family: 'openai_chat',
    wire: builtIn.catalog.families.get(over.family ?? 'openai_chat') as WireFacts,
    upstream_model: 'large',
    region: 'global',
    status: 'active',
    quantization: null,
    context_length: 100_000,
    max_output: 10_000,
    capabilities: able,
    price: {
      id: `pv_${name}`,
      price_no: 1,
      endpoint_id: id,
      rates: { input: nanoUsd(rates.input), output: nanoUsd(rates.output) },
      bands: [],
    },
    data_policy: { trains: false, retention_days: 30, zdr: false },
    cancel_billing: 'unknown',
    hidden_reasoning: false,
    flags: [],
    missing: null,
    ...over,
  };
}
export function model(endpoints: Endpoint[], id = 'acme/large'): Model {
  return {
    id,
    model_no: 1,
    vendor: 'acme',
    name: id,
    context_length: 100_000,
    max_output: 10_000,
    modalities: { in: ['text'], out: ['text'] },
    status: 'active',
    markup_bps: 0,
    released_at: null,
    known_since: '2026-01-01T00:00:00.000Z',
    deprecated_at: null,
    retires_at: null,
    endpoints,
  };
}
export function catalogOf(...models: Model[]): Catalog {
  const map = new Map(models.map((one) => [one.id, one]));
  return { version: 'v', models: map, sandbox: map, providers: new Map(), endpoints: new Map() };
}
export function input(over: Partial<RouteInput> = {}): RouteInput {
  return {
    request_id: '01J00000000000000000000000',
    environment: 'live',
    model: 'acme/large',
    preferences: {},
    data_policy: { zdr: false, no_train: false, regions: null },
    compat: 'warn',
    features: {
      modalities_in: ['text'],
      tools: false,
      json_schema: false,
      images: false,
      audio: false,
      pdf: false,
      reasoning: false,
      server_tools: [],
      stream: true,
      input_tokens_bound: 1_000,
      max_tokens: null,
      expected_output_tokens: 500,
      signed_format: null,
    },
    losses: () => [],
    health: healthOf(),
    now_ms: 1_000_000,
    ...over,
  };
}
export function run(endpoints: Endpoint[], over: Partial<RouteInput> = {}) {
  const one = model(endpoints);
  return choose({ catalog: catalogOf(one), models: [one] }, input(over));
}
/** Health as the calls of one organization see it, and what is noted of them. */
export function healthOf(health: Health = createHealth(), viewer: Viewer = { org_id: 'org', path: 'chat' }) {
  return {
    ...health,
    ...health.seenBy(viewer),
    failed: (id: string, fault_class: string, now_ms: number) =>
      health.failed(id, viewer, fault_class, now_ms),
    probe: (id: string, now_ms: number) => health.probe(id, viewer, now_ms),
    succeeded: (id: string, facts: Parameters<Health['succeeded']>[2], now_ms: number) =>
      health.succeeded(id, viewer, facts, now_ms),
  };
}
export const order = (choice: ReturnType<typeof run>) => choice.plan.map((item) => item.endpoint.provider);
export const drops = (choice: ReturnType<typeof run>) =>
  choice.excluded.map((item) => `${item.provider}:${item.reason}`);
export const features = (over: Partial<RouteInput['features']>) => ({
  features: { ...input().features, ...over },
});
export function refusal(endpoints: Endpoint[], over: Partial<RouteInput> = {}): ServiceError {
  const full = input(over);
  try {
    planRoute(catalogOf(model(endpoints)), { ...full, health: healthOf() });
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('was not refused');
}
export const loss = (kind: RouteLoss['class']): RouteLoss => ({
  class: kind,
  code: 'x_dropped',
  param: 'x',
  message: 'x is lost',
});

/** Facts of a call that policies match. */
export const policyFacts: CallFacts = {
  ...{ model: 'acme/large', project_id: 'prj_x', key_id: 'key_x', environment: 'live' as const },
  ...{ dialect: 'chat', modalities_in: ['text'], modalities_out: ['text'], stream: true },
  has: { tools: false, json_schema: false, images: false, reasoning: false, cache: false, byok: false },
  ...{ input_tokens: 1_000, max_tokens: null, metadata: {}, app: '', now_ms: 1_000_000 },
};
/** What a policy with these defaults says of that call. */
export function ruling(defaults: Actions, document: PolicyDocument = {}): Ruling {
  return decide(activePolicy('p', 7, { ...document, defaults }), policyFacts);
}
/** Three endpoints alike. */
export const three = () => [endpoint('a'), endpoint('b'), endpoint('c')];
