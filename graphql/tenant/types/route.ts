// Why a call went where it went.
import { type RouteLeft, readOnReasons } from '@svc/core/routing/index.ts';
import { limits } from '../../limits.ts';
import { pageCost, rowsAsked } from '../../page.ts';
import { builder, derive } from '../builder.ts';
import type { Route, RouteEndpoint, RouteTry } from '../route.ts';

const RouteTryType = builder.objectRef<RouteTry>('RouteTry').implement({
  fields: (t) => ({
    outcome: t.exposeString('outcome'),
    httpStatus: t.field({ type: 'Count', resolve: (tried) => tried.http_status }),
    ms: t.field({ type: 'Count', description: 'to the first event', resolve: (tried) => tried.ms }),
  }),
});

const RouteEndpointType = builder.objectRef<RouteEndpoint>('RouteEndpoint').implement({
  fields: (t) => ({
    endpoint: t.exposeString('endpoint'),
    provider: t.string({
      nullable: true,
      description: 'of the catalog of today; null when it is no longer there',
      resolve: ({ endpoint }, _args, { runner }) => endpointOf(runner, endpoint)?.provider ?? null,
    }),
    region: t.string({
      nullable: true,
      resolve: ({ endpoint }, _args, { runner }) => endpointOf(runner, endpoint)?.region ?? null,
    }),
    plannedAt: t.field({
      type: 'Count',
      nullable: true,
      description: 'place in the plan, from 1; null when excluded',
      resolve: (endpoint) => endpoint.planned_at,
    }),
    score: t.float({ nullable: true, resolve: (endpoint) => endpoint.score }),
    excludedBy: t.string({
      nullable: true,
      description: 'the reason word; null when planned',
      resolve: (endpoint) => endpoint.excluded_by,
    }),
    tries: t.field({
      type: [RouteTryType],
      description: 'empty when it was not needed',
      complexity: { field: 1, multiplier: 2 },
      resolve: (endpoint) => [...endpoint.tries],
    }),
  }),
});

function endpointOf(runner: { context(environment: null): Ctx }, id: string) {
  return runner.context(null).services.catalog().endpoints.get(id) ?? null;
}

const ReadOnReason = derive.enum('ReadOnReason', readOnReasons);

const RouteLeftType = builder.objectRef<RouteLeft>('RouteLeft').implement({
  description: 'When the caller left, and what became of the attempt that ran.',
  fields: (t) => ({
    ms: t.field({ type: 'Count', description: 'from the beginning of the call', resolve: ({ ms }) => ms }),
    readOn: t.field({
      type: ReadOnReason,
      nullable: true,
      description: 'why the provider was read to its end; null where the attempt ended with the caller',
      resolve: ({ read_on }) => read_on,
    }),
  }),
});

interface Ctx {
  readonly services: {
    catalog(): { readonly endpoints: ReadonlyMap<string, { provider: string; region: string }> };
  };
}

export const RequestRoute = builder.objectRef<Route>('RequestRoute').implement({
  description: 'The decision of the router.',
  fields: (t) => ({
    policy: t.exposeString('policy'),
    version: t.string({
      nullable: true,
      description: 'null for the built-in policy',
      resolve: ({ version }) => (version === null ? null : String(version)),
    }),
    rule: t.exposeString('rule'),
    sort: t.exposeString('sort'),
    candidates: t.field({
      type: 'Count',
      description: 'endpoints that serve the model',
      resolve: (route) => route.candidates,
    }),
    endpoints: t.field({
      type: [RouteEndpointType],
      description: 'planned ones in order of the plan, then excluded ones in order of the filters',
      args: {
        first: t.arg.int({
          description: `endpoints, ${limits.page_default} unless given, at most ${limits.route_max}`,
        }),
      },
      complexity: pageCost,
      resolve: (route, args) => route.endpoints.slice(0, rowsAsked(args, limits.route_max)),
    }),
    hidden: t.field({
      type: 'Count',
      description: 'excluded endpoints beyond those listed',
      resolve: (route) => route.excluded_hidden,
    }),
    catalogVersion: t.exposeString('catalog', { description: 'of the catalog that it was decided by' }),
    winner: t.exposeString('winner', { nullable: true }),
    left: t.field({
      type: RouteLeftType,
      nullable: true,
      description: 'null where the caller did not leave',
      resolve: (route) => route.left ?? null,
    }),
    reserveMicro: t.field({ type: 'MicroUSD', resolve: (route) => route.reserve_micro }),
  }),
});
