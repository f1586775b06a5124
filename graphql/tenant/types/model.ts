// The catalog: models with their prices, and the endpoints that serve each.
import {
  EndpointView,
  endpointStatuses,
  getNamedModelOperation,
  listEndpointsOperation,
  listModelsOperation,
  listProvidersOperation,
  ModelView,
  modelCapabilities,
  modelModalities,
  modelSorts,
  modelStatuses,
  ProviderView,
} from '@svc/core/catalog/index.ts';
import {
  changeKinds,
  ModelStats,
  modelStatsOperation,
  RankingsView,
  rankingsOperation,
} from '@svc/core/figures/index.ts';
import { type Environment, ServiceError } from '@svc/core/kernel/index.ts';
import { toWire } from '../../derive.ts';
import { builder, derive } from '../builder.ts';
import type { TenantContext } from '../context.ts';
import { EnvironmentEnum } from './common.ts';

derive.enum('ModelCapability', modelCapabilities);
derive.enum('ModelModality', modelModalities);
derive.enum('ModelSort', modelSorts);
derive.enum('ModelStatus', modelStatuses);
derive.enum('EndpointStatus', endpointStatuses);
derive.enum('ModelChangeKind', changeKinds);

const Endpoint = derive.output('ModelEndpoint', EndpointView);

const Stats = derive.output('ModelStats', ModelStats, { omit: ['model'] });
const Provider = derive.output('CatalogProvider', ProviderView);
const Rankings = derive.output('Rankings', RankingsView);

/** A model, and the environment whose catalog it was read from: a test key sees the stand-ins of the sandbox. */
interface Shown {
  readonly id: string;
  readonly endpoints: number;
  readonly environment: Environment | null;
}

const Model = derive.output('Model', ModelView, {
  names: { pricing_from: 'ModelPrice' },
  // Members that clients of other services look for in REST, and the count, whose name the endpoints have here.
  omit: [
    ...['object', 'type', 'display_name', 'created_at', 'deprecated_at', 'retires_at', 'lifecycle'],
    ...['max_input_tokens', 'max_tokens', 'endpoints'],
  ],
  extra: (t) => ({
    endpointCount: t.field({ type: 'Count', resolve: ({ endpoints }: Shown) => endpoints }),
    endpoints: t.field({
      type: [Endpoint],
      nullable: true,
      description: 'The endpoints that serve it, each with its price.',
      complexity: { field: 1, multiplier: 5 },
      extensions: { operation: listEndpointsOperation.name },
      resolve: async ({ id, environment }: Shown, _args: unknown, { runner }: TenantContext) => {
        const [vendor, ...rest] = id.split('/');
        const input = { vendor, model: rest.join('/') };
        return (await runner.run(listEndpointsOperation, input, { environment })).data;
      },
    }),
    stats: t.field({
      type: Stats,
      nullable: true,
      description: 'How it did day by day, who uses it, and what changed and will.',
      complexity: { field: 50 },
      extensions: { operation: modelStatsOperation.name },
      resolve: ({ id, environment }: Shown, _args: unknown, { runner }: TenantContext) => {
        const [vendor, ...rest] = id.split('/');
        return runner.run(modelStatsOperation, { vendor, model: rest.join('/') }, { environment });
      },
    }),
  }),
});

builder.queryFields((t) => ({
  providers: t.field({
    type: [Provider],
    nullable: true,
    description: 'The providers that models are served by, and what they do with what they are sent.',
    extensions: { operation: listProvidersOperation.name },
    resolve: async (_root, _args, { runner }) => (await runner.run(listProvidersOperation, {})).data,
  }),
  rankings: t.field({
    type: Rankings,
    nullable: true,
    description: 'Apps and models by tokens.',
    args: { days: t.arg.int(), category: t.arg.string() },
    complexity: { field: 50 },
    extensions: { operation: rankingsOperation.name },
    resolve: (_root, { days, category }, { runner }) =>
      runner.run(rankingsOperation, {
        ...(days == null ? {} : { days }),
        ...(category == null ? {} : { category }),
      }),
  }),
  models: t.field({
    type: [Model],
    nullable: true,
    description: 'Models that calls can name, with prices and capabilities.',
    args: {
      ...(derive.args(t.arg, 'Models', listModelsOperation.input) as Record<string, never>),
      environment: t.arg({ type: EnvironmentEnum }),
    },
    complexity: { field: 1, multiplier: 50 },
    extensions: { operation: listModelsOperation.name },
    resolve: async (_root, { environment = null, ...args }, { runner }) => {
      const input = toWire(listModelsOperation.input, args);
      const { data } = await runner.run(listModelsOperation, input, { environment });
      return data.map((model) => ({ ...model, environment }));
    },
  }),
  model: t.field({
    type: Model,
    nullable: true,
    description: 'The model that a call with this name would use, with or without its vendor.',
    args: { name: t.arg.string({ required: true }), environment: t.arg({ type: EnvironmentEnum }) },
    extensions: { operation: getNamedModelOperation.name },
    resolve: async (_root, { name, environment = null }, { runner }) => {
      try {
        const model = await runner.run(getNamedModelOperation, { name }, { environment });
        return { ...model, environment };
      } catch (error) {
        if (error instanceof ServiceError && error.code === 'model_not_found') return null;
        throw error;
      }
    },
  }),
}));
