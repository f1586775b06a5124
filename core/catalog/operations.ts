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
import { type Figures, figuresOf } from './shown/figures.ts';
import { listProvidersOperation } from './shown/providers.ts';
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
/** A test key reads the sandbox's models, and the Anthropic client further fields. */
const cached = { scope: 'private' } as const;
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

const NEVER = '1970-01-01';

/** What a sort looks at, the best lowest; null comes last. */
function keyOf(sort: ListInput['sort'], figures: Figures): ((model: Model) => number | null) | null {
  const of = (model: Model) => figures.models.get(model.id);
  switch (sort) {
    case 'price':
      return (model) => lowestPrice(model).input + lowestPrice(model).output;
    case 'newest':
      return (model) => -Date.parse(model.released_at ?? NEVER);
    case 'latency':
      return (model) => of(model)?.ttft_p50_ms ?? null;
    case 'throughput':
      return (model) => of(model)?.tpot_p50_ms ?? null;
    case 'popularity':
      return (model) => {
        const requests = of(model)?.requests_7d ?? null;
        return requests === null ? null : -requests;
      };
    default:
      return null;
  }
}

/** By `sort`, and by name where it does not tell; models without the figure come last. */
function ordered(models: Model[], sort: ListInput['sort'], figures: Figures): Model[] {
  models.sort(byName);
  const key = keyOf(sort, figures);
  if (key === null) return models;
  const keys = new Map(models.map((model) => [model, key(model) ?? Number.POSITIVE_INFINITY]));
  const keyed = (model: Model) => keys.get(model) as number;
  return models.sort((a, b) => (keyed(a) === keyed(b) ? 0 : keyed(a) - keyed(b)));
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
  cached,
  example: { object: 'list', data: [modelExample] },
  async run(context, input) {
    const now_ms = context.now().getTime();
    const repriced =
      input.price_changed === true
        ? new Set(await selectRepriced(context.db, new Date(now_ms - WEEK_MS)))
        : null;
    const for_anthropic = isForAnthropic(context);
    const found = [...modelsOf(context).values()].filter((model) => matches(model, input, now_ms, repriced));
    const figures = await figuresOf(context);
    const data = ordered(found, input.sort, figures).map((model) =>
      viewModel(model, for_anthropic, figures.models.get(model.id)),
    );
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

async function read(context: Context, name: string): Promise<ModelView> {
  const model = getModel(context, name);
  const { models } = await figuresOf(context);
  return viewModel(model, isForAnthropic(context), models.get(model.id));
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
  cached,
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
  cached,
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

async function endpointsOf(context: Context, name: string): Promise<Static<typeof EndpointList>> {
  const model = getModel(context, name);
  const { endpoints } = await figuresOf(context);
  const data = model.endpoints.map((endpoint) =>
    viewEndpoint(endpoint, model.markup_bps, endpoints.get(endpoint.id)),
  );
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
  cached,
  example: { object: 'list', model: modelExample.id, data: [endpointExample] },
  run: async (context, { vendor, model }) => endpointsOf(context, `${vendor}/${model}`),
});

export const catalogOperations = [
  listModelsOperation,
  getModelOperation,
  getNamedModelOperation,
  listEndpointsOperation,
  listProvidersOperation,
] as const;
