// The catalog: models with their prices, and the endpoints that serve each.
import {
  EndpointView,
  endpointStatuses,
  getNamedModelOperation,
  listEndpointsOperation,
  listModelsOperation,
  ModelView,
  modelCapabilities,
  modelModalities,
  modelSorts,
  modelStatuses,
} from '@svc/core/catalog/index.ts';
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

const Endpoint = derive.output('ModelEndpoint', EndpointView);

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
  }),
});

builder.queryFields((t) => ({
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
