// Models and endpoints as callers see them, with the fields that the OpenAI and
// the Anthropic clients look for in their own lists. Pure.
import { type Static, Type } from 'typebox';
import { named, nullable, oneOf } from '../kernel/index.ts';
import type { EndpointFigures, ModelFigures } from './shown/figures.ts';
import type { Endpoint, Model, Rates } from './types.ts';

const Usd = Type.Number({ description: 'USD per million tokens' });
const Figure = nullable(Type.Number());

export const modelCapabilities = [
  'tools',
  'json_schema',
  'vision',
  'audio',
  'reasoning',
  'cache',
  'zdr',
  'no_train',
] as const;
export const modelStatuses = ['active', 'deprecated'] as const;
export const endpointStatuses = ['active', 'degraded', 'disabled'] as const;
export type ModelCapability = (typeof modelCapabilities)[number];

export const PriceView = named(
  'Price',
  Type.Object({
    input: Usd,
    output: Usd,
    cache_read: Type.Optional(Usd),
    cache_write: Type.Optional(Usd),
  }),
);

export const ModelView = named(
  'Model',
  Type.Object({
    id: Type.String(),
    object: Type.Literal('model'),
    created: Type.Integer({
      description:
        'epoch seconds of the release; where that is not known, of when this installation first had the model',
    }),
    owned_by: Type.String(),
    vendor: Type.String(),
    name: Type.String(),
    modalities: Type.Object({ in: Type.Array(Type.String()), out: Type.Array(Type.String()) }),
    context_length: Type.Integer(),
    max_output: Type.Integer(),
    pricing_from: PriceView,
    endpoints: Type.Integer(),
    status: oneOf(modelStatuses, 'ModelStatus'),
    markup_bps: Type.Integer(),
    capabilities: Type.Object({
      tools: Type.Boolean(),
      json_schema: Type.Boolean(),
      vision: Type.Boolean(),
      audio: Type.Boolean(),
      reasoning: Type.Boolean(),
      cache: Type.Boolean(),
      zdr: Type.Boolean(),
      no_train: Type.Boolean(),
    }),
    uptime_30d: Figure,
    ttft_p50_ms: Figure,
    requests_7d: nullable(Type.Integer()),
    type: Type.Optional(Type.Literal('model')),
    display_name: Type.Optional(Type.String()),
    created_at: Type.Optional(Type.String({ format: 'date-time' })),
    deprecated_at: Type.Optional(nullable(Type.String())),
    retires_at: Type.Optional(nullable(Type.String())),
    lifecycle: Type.Optional(Type.String()),
    max_input_tokens: Type.Optional(Type.Integer()),
    max_tokens: Type.Optional(Type.Integer()),
  }),
);
export type ModelView = Static<typeof ModelView>;

export const EndpointStatus = oneOf(endpointStatuses, 'EndpointStatus');

export const EndpointView = named(
  'Endpoint',
  Type.Object({
    id: Type.String(),
    provider: Type.String(),
    provider_name: Type.String(),
    upstream_model: Type.String(),
    region: Type.String(),
    status: EndpointStatus,
    quantization: nullable(Type.String()),
    context_length: Type.Integer(),
    max_output: Type.Integer(),
    capabilities: Type.Object({
      tools: Type.Object({ function: Type.Boolean(), parallel: Type.Boolean() }),
      json_schema: Type.Boolean(),
      vision: Type.Boolean(),
      audio: Type.Boolean(),
      pdf: Type.Boolean(),
      reasoning: Type.Boolean(),
      cache: Type.Boolean(),
      prefill: Type.Boolean(),
      parameters: Type.Array(Type.String()),
      server_tools: Type.Array(Type.String()),
    }),
    price: PriceView,
    markup_bps: Type.Integer(),
    data_policy: Type.Object({
      trains: Type.Boolean(),
      retention_days: nullable(Type.Integer()),
      zdr: Type.Boolean(),
    }),
    uptime_30d: Figure,
    latency: Type.Object({ ttft_p50_ms: Figure, ttft_p95_ms: Figure }),
    attempts_30d: Type.Integer(),
  }),
);
export type EndpointView = Static<typeof EndpointView>;

type Price = Static<typeof PriceView>;

function usable(endpoint: Endpoint): boolean {
  return endpoint.status === 'active' && endpoint.missing === null;
}

/** Whether an endpoint can be called here, and whether it does well. One without credentials here is disabled. */
export function statusOf(
  endpoint: Endpoint,
  figures: Pick<EndpointFigures, 'degraded'> | undefined,
): EndpointView['status'] {
  if (!usable(endpoint)) return 'disabled';
  return figures?.degraded === true ? 'degraded' : 'active';
}

/** Nano-USD per token is USD per million × 1,000. */
export function priceOf(rates: Rates): Price {
  const price: Price = { input: rates.input / 1000, output: rates.output / 1000 };
  if (rates.cache_read !== undefined) price.cache_read = rates.cache_read / 1000;
  if (rates.cache_write !== undefined) price.cache_write = rates.cache_write / 1000;
  return price;
}

/** The lowest price of each kind; of the usable endpoints where there are any. */
export function lowestPrice(model: Model): Price {
  const usable_ones = model.endpoints.filter(usable);
  const prices = (usable_ones.length > 0 ? usable_ones : model.endpoints).map((e) => priceOf(e.price.rates));
  const lowest: Price = { ...(prices[0] ?? { input: 0, output: 0 }) };
  for (const price of prices) {
    for (const kind of ['input', 'output', 'cache_read', 'cache_write'] as const) {
      const value = price[kind];
      if (value !== undefined) lowest[kind] = Math.min(lowest[kind] ?? value, value);
    }
  }
  return lowest;
}

/** What at least one endpoint of `model` can do or promises. */
export function capabilitiesOf(model: Model): Record<ModelCapability, boolean> {
  const any = (holds: (endpoint: Endpoint) => boolean) => model.endpoints.some(holds);
  return {
    tools: any((e) => e.capabilities.tools),
    json_schema: any((e) => e.capabilities.json_schema),
    vision: any((e) => e.capabilities.vision),
    audio: any((e) => e.capabilities.audio),
    reasoning: any((e) => e.capabilities.reasoning),
    cache: any((e) => e.capabilities.cache),
    zdr: any((e) => e.data_policy.zdr),
    no_train: any((e) => !e.data_policy.trains),
  };
}

/** Clients show the time and sort by it; the epoch would be neither true nor useful. */
function createdMs(model: Model): number {
  return Date.parse(model.released_at ?? model.known_since);
}

/** `model` on the wire; `for_anthropic` adds the fields of that client's list. */
export function viewModel(model: Model, for_anthropic: boolean, figures?: ModelFigures): ModelView {
  const view: ModelView = {
    id: model.id,
    object: 'model',
    created: Math.floor(createdMs(model) / 1000),
    owned_by: model.vendor,
    vendor: model.vendor,
    name: model.name,
    modalities: { in: [...model.modalities.in], out: [...model.modalities.out] },
    context_length: model.context_length,
    max_output: model.max_output,
    pricing_from: lowestPrice(model),
    endpoints: model.endpoints.length,
    status: model.status,
    markup_bps: model.markup_bps,
    capabilities: capabilitiesOf(model),
    uptime_30d: figures?.uptime_30d ?? null,
    ttft_p50_ms: figures?.ttft_p50_ms ?? null,
    requests_7d: figures?.requests_7d ?? null,
  };
  if (!for_anthropic) return view;
  return {
    ...view,
    type: 'model',
    display_name: model.name,
    created_at: new Date(createdMs(model)).toISOString(),
    deprecated_at: model.deprecated_at,
    retires_at: model.retires_at,
    lifecycle: model.status,
    max_input_tokens: model.context_length,
    max_tokens: model.max_output,
  };
}

/** An endpoint on the wire. */
export function viewEndpoint(
  endpoint: Endpoint,
  markup_bps: number,
  figures?: EndpointFigures,
): EndpointView {
  const { capabilities } = endpoint;
  return {
    id: endpoint.id,
    provider: endpoint.provider,
    provider_name: endpoint.provider_name,
    upstream_model: endpoint.upstream_model,
    region: endpoint.region,
    status: statusOf(endpoint, figures),
    quantization: endpoint.quantization,
    context_length: endpoint.context_length,
    max_output: endpoint.max_output,
    capabilities: {
      tools: { function: capabilities.tools, parallel: capabilities.parallel_tools },
      json_schema: capabilities.json_schema,
      vision: capabilities.vision,
      audio: capabilities.audio,
      pdf: capabilities.pdf,
      reasoning: capabilities.reasoning,
      cache: capabilities.cache,
      prefill: capabilities.prefill,
      parameters: [...capabilities.parameters],
      server_tools: [...capabilities.server_tools],
    },
    price: priceOf(endpoint.price.rates),
    markup_bps,
    data_policy: {
      trains: endpoint.data_policy.trains,
      retention_days: endpoint.data_policy.retention_days,
      zdr: endpoint.data_policy.zdr,
    },
    uptime_30d: figures?.uptime_30d ?? null,
    latency: { ttft_p50_ms: figures?.ttft_p50_ms ?? null, ttft_p95_ms: figures?.ttft_p95_ms ?? null },
    attempts_30d: figures?.attempts_30d ?? 0,
  };
}
