// The catalog over REST.
import { type Static, Type } from 'typebox';
import {
  type Context,
  lineOf,
  listOf,
  named,
  nullable,
  oneOf,
  operation,
  orgCaller,
} from '../kernel/index.ts';
import { endpointExample, modelExample } from './examples.ts';
import { getNamedModel } from './named-model.ts';
import { selectRepriced } from './recent-store.ts';
import type { Model } from './types.ts';
import {
  capabilitiesOf,
  EndpointView,
  lowestPrice,
  ModelView,
  modelCapabilities,
  modelStatuses,
  viewEndpoint,
  viewModel,
} from './view.ts';

const audience = {
  kind: 'key',
  scopes: 'any',
  session: ['owner', 'admin', 'developer', 'billing', 'viewer'],
  x_api_key: true,
} as const;
const WEEK_MS = 7 * 86_400_000;

export const modelModalities = ['text', 'image', 'audio', 'video', 'embedding', 'ranking'] as const;
export const modelSorts = ['name', 'price', 'latency', 'throughput', 'popularity', 'newest'] as const;

const ListInput = Type.Object({
  vendor: Type.Optional(Type.String()),
  modality: Type.Optional(oneOf(modelModalities)),
  capability: Type.Optional(
    Type.Array(oneOf(modelCapabilities, 'ModelCapability'), { description: 'repeatable; all must match' }),
  ),
  zdr: Type.Optional(Type.Boolean()),
  no_train: Type.Optional(Type.Boolean()),
  new: Type.Optional(Type.Boolean({ description: 'released in the last 7 days' })),
  price_changed: Type.Optional(Type.Boolean({ description: 'in the last 7 days' })),
  status: Type.Optional(oneOf(modelStatuses, 'ModelStatus')),
  q: Type.Optional(lineOf(120, 0)),
  sort: Type.Optional(oneOf(modelSorts)),
});
type ListInput = Static<typeof ListInput>;

/** Models of the caller's environment: a test key sees the sandbox's stand-ins. */
function modelsOf(context: Context): ReadonlyMap<string, Model> {
  const catalog = context.services.catalog();
  return orgCaller(context).environment === 'test' ? catalog.sandbox : catalog.models;
}

/** The Anthropic client is known by its version header, or by where it puts the key. */
function isForAnthropic(context: Context): boolean {
  return context.requestHeader('anthropic-version') !== null || context.requestHeader('x-api-key') !== null;
}

function getModel(context: Context, name: string): Model {
  const { environment } = orgCaller(context);
  return getNamedModel(context.services.catalog(), { name, environment, param: 'model' });
}

function matches(
  model: Model,
  input: ListInput,
  now_ms: number,
  repriced: ReadonlySet<string> | null,
): boolean {
  const can = capabilitiesOf(model);
  const q = input.q?.toLowerCase();
  return (
    (input.vendor === undefined || model.vendor === input.vendor) &&
    (input.modality === undefined ||
      model.modalities.in.includes(input.modality) ||
      model.modalities.out.includes(input.modality)) &&
    (input.capability ?? []).every((capability) => can[capability]) &&
    (input.zdr !== true || can.zdr) &&
    (input.no_train !== true || can.no_train) &&
    (input.new !== true ||
      (model.released_at !== null && now_ms - Date.parse(model.released_at) < WEEK_MS)) &&
    (repriced === null || model.endpoints.some((endpoint) => repriced.has(endpoint.id))) &&
    (input.status === undefined || model.status === input.status) &&
    (q === undefined || model.id.toLowerCase().includes(q) || model.name.toLowerCase().includes(q))
  );
}

function byName(a: Model, b: Model): number {
  return a.name.localeCompare(b.name, 'en') || (a.id < b.id ? -1 : 1);
}

/** Latency, throughput and popularity need figures of traffic; without them the order is by name. */
function ordered(models: Model[], sort: ListInput['sort']): Model[] {
  models.sort(byName);
  if (sort === 'price') {
    const price = new Map(models.map((m) => [m.id, lowestPrice(m).input + lowestPrice(m).output]));
    models.sort((a, b) => (price.get(a.id) ?? 0) - (price.get(b.id) ?? 0));
  }
  if (sort === 'newest') {
    models.sort(
      (a, b) => Date.parse(b.released_at ?? '1970-01-01') - Date.parse(a.released_at ?? '1970-01-01'),
    );
  }
  return models;
}

export const listModelsOperation = operation({
  name: 'models.list',
  method: 'GET',
  path: '/v1/models',
  summary: 'List models with prices and capabilities',
  audience,
  input: ListInput,
  output: named(
    'ModelList',
    Type.Object({
      ...listOf(ModelView).properties,
      has_more: Type.Optional(Type.Boolean()),
      first_id: Type.Optional(nullable(Type.String())),
      last_id: Type.Optional(nullable(Type.String())),
    }),
  ),
  errors: [],
  cross_origin: true,
  example: { object: 'list', data: [modelExample] },
  async run(context, input) {
    const now_ms = context.now().getTime();
    const repriced =
      input.price_changed === true
        ? new Set(await selectRepriced(context.db, new Date(now_ms - WEEK_MS)))
        : null;
    const for_anthropic = isForAnthropic(context);
    const found = [...modelsOf(context).values()].filter((model) => matches(model, input, now_ms, repriced));
    const data = ordered(found, input.sort).map((model) => viewModel(model, for_anthropic));
    if (!for_anthropic) return { object: 'list' as const, data };
    return {
      object: 'list' as const,
      data,
      has_more: false,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
    };
  },
});

const idPath = Type.Object({ vendor: Type.String(), model: Type.String() });
const namePath = Type.Object({
  name: Type.String({
    description: 'a name without a vendor, as in calls: `gpt-4o-mini`, `claude-sonnet-4-5`',
  }),
});

function read(context: Context, name: string): ModelView {
  return viewModel(getModel(context, name), isForAnthropic(context));
}

const getModelOperation = operation({
  name: 'models.get',
  method: 'GET',
  path: '/v1/models/:vendor/:model',
  summary: 'Read a model; a slash in the id may be sent as %2F',
  audience,
  input: idPath,
  output: ModelView,
  errors: ['model_not_found'],
  cross_origin: true,
  example: modelExample,
  run: async (context, { vendor, model }) => read(context, `${vendor}/${model}`),
});

export const getNamedModelOperation = operation({
  name: 'models.get_named',
  method: 'GET',
  path: '/v1/models/:name',
  summary: 'Read the model that a call with this name would use',
  audience,
  input: namePath,
  output: ModelView,
  errors: ['model_not_found'],
  cross_origin: true,
  example: modelExample,
  run: async (context, { name }) => read(context, name),
});

const EndpointList = named(
  'EndpointList',
  Type.Object({
    object: Type.Literal('list'),
    model: Type.String(),
    data: Type.Array(EndpointView),
  }),
);

function endpointsOf(context: Context, name: string): Static<typeof EndpointList> {
  const model = getModel(context, name);
  const data = model.endpoints.map((endpoint) => viewEndpoint(endpoint, model.markup_bps));
  return { object: 'list' as const, model: model.id, data };
}

export const listEndpointsOperation = operation({
  name: 'models.endpoints',
  method: 'GET',
  path: '/v1/models/:vendor/:model/endpoints',
  summary: 'List the endpoints of a model',
  audience,
  input: idPath,
  output: EndpointList,
  errors: ['model_not_found'],
  cross_origin: true,
  example: { object: 'list', model: modelExample.id, data: [endpointExample] },
  run: async (context, { vendor, model }) => endpointsOf(context, `${vendor}/${model}`),
});

export const catalogOperations = [
  listModelsOperation,
  getModelOperation,
  getNamedModelOperation,
  listEndpointsOperation,
] as const;
