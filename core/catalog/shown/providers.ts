// The providers that models are served by, and what they do with what they are sent: public, as a data protection
// officer asks before there is an account.
import { type Static, Type } from 'typebox';
import { type Context, named, nullable, operation } from '../../kernel/index.ts';
import type { Catalog, Endpoint, Provider } from '../types.ts';
import { EndpointStatus, statusOf } from '../view.ts';
import { figuresOf } from './figures.ts';

export const ProviderView = named(
  'CatalogProvider',
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    trains: Type.Boolean({
      description: 'may train models on what it is sent; true also where that is not known',
    }),
    retention_days: nullable(Type.Integer({ description: 'null: not known' })),
    zdr: Type.Boolean({ description: 'keeps nothing after the answer' }),
    regions: Type.Array(Type.String()),
    status: EndpointStatus,
    terms_url: nullable(Type.String()),
    endpoints: Type.Integer(),
    verified_at: nullable(Type.String({ format: 'date', description: 'when its terms were last read' })),
  }),
);
type ProviderView = Static<typeof ProviderView>;

/** Disabled where no endpoint can be called; degraded where one of them fails more than it should. */
function statusOfAll(statuses: readonly ProviderView['status'][]): ProviderView['status'] {
  if (statuses.includes('degraded')) return 'degraded';
  return statuses.includes('active') ? 'active' : 'disabled';
}

function viewProvider(provider: Provider, statuses: readonly ProviderView['status'][]): ProviderView {
  const { id, name, data_policy, regions, terms_url, verified_at } = provider;
  const { trains, retention_days, zdr } = data_policy;
  return {
    ...{ id, name, trains, retention_days, zdr, regions: [...regions] },
    ...{ status: statusOfAll(statuses), terms_url, endpoints: statuses.length, verified_at },
  };
}

/** What callers can reach with money: the sandbox answers in this process and is nobody's. */
function endpointsByProvider({ models }: Catalog): Map<string, Endpoint[]> {
  const all = [...models.values()].flatMap(({ endpoints }) => endpoints);
  return Map.groupBy(all, ({ provider }) => provider);
}

async function listProviders(context: Context): Promise<ProviderView[]> {
  const catalog = context.services.catalog();
  const { endpoints } = await figuresOf(context);
  const served = endpointsByProvider(catalog);
  return [...catalog.providers.values()]
    .filter(({ base_url }) => base_url !== '')
    .map((provider) => {
      const own = served.get(provider.id) ?? [];
      return viewProvider(
        provider,
        own.map((endpoint) => statusOf(endpoint, endpoints.get(endpoint.id))),
      );
    })
    .sort((a, b) => a.name.localeCompare(b.name, 'en') || (a.id < b.id ? -1 : 1));
}

export const listProvidersOperation = operation({
  name: 'providers.list',
  method: 'GET',
  path: '/v1/providers',
  summary: 'List the providers with what they do with data; no key is needed',
  audience: { kind: 'public' },
  input: Type.Object({}),
  output: named(
    'ProviderList',
    Type.Object({
      object: Type.Literal('list'),
      data: Type.Array(ProviderView),
      snapshot: Type.String({ description: 'version of the catalog' }),
    }),
  ),
  errors: [],
  cached: { scope: 'public' },
  example: {
    object: 'list',
    data: [
      {
        id: 'acme',
        name: 'Acme',
        trains: false,
        retention_days: 0,
        zdr: true,
        regions: ['eu-west'],
        status: 'active',
        terms_url: 'https://acme.example/terms',
        endpoints: 3,
        verified_at: '2026-11-01',
      },
    ],
    snapshot: '4f1c9ad2207be133',
  },
  async run(context) {
    const data = await listProviders(context);
    return { object: 'list' as const, data, snapshot: context.services.catalog().version };
  },
});
