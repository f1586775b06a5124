// The catalog over REST.
import { type Static, Type } from 'typebox';
import { type Context, listOf, named, nullable, operation, orgCaller } from '../kernel/index.ts';
import { getNamedModel } from './named-model.ts';
import { endpointExample, modelExample } from './shown/examples.ts';
import { figuresOf } from './shown/figures.ts';
import { listProvidersOperation } from './shown/providers.ts';
import { ModelSearch, searchModels } from './shown/search.ts';
import type { Model } from './types.ts';
import { EndpointView, ModelView, viewEndpoint, viewModel } from './view.ts';

const audience = {
  kind: 'key',
  scopes: 'any',
  session: ['owner', 'admin', 'developer', 'billing', 'viewer'],
  x_api_key: true,
} as const;
/** A test key reads the sandbox's models, and the Anthropic client further fields. */
const cached = { scope: 'private' } as const;

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

export const listModelsOperation = operation({
  name: 'models.list',
  method: 'GET',
  path: '/v1/models',
  summary: 'List models with prices and capabilities',
  audience,
  input: ModelSearch,
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
    const for_anthropic = isForAnthropic(context);
    const { models, figures } = await searchModels(context, modelsOf(context), input);
    const data = models.map((model) => viewModel(model, for_anthropic, figures.models.get(model.id)));
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
