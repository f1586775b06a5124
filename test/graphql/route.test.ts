// GraphQL shows a stored route endpoint by endpoint, completely.
import type { Route } from '@svc/core/routing/index.ts';
import { byEndpoint } from '@svc/graphql/tenant/route.ts';
import { tenantSchema } from '@svc/graphql/tenant/schema.ts';
import { type GraphQLField, type GraphQLResolveInfo, isObjectType } from 'graphql';
import { expect, test } from 'vitest';

const stored: Route = {
  policy: 'agents',
  version: 7,
  rule: 'eu-only',
  sort: 'latency',
  affinity: '-',
  catalog: 'c1',
  candidates: 5,
  plan: [
    { endpoint_id: 'ep_A', score: 0.981 },
    { endpoint_id: 'ep_B', score: 0.744 },
    { endpoint_id: 'ep_D', score: 0.702 },
  ],
  excluded: [
    { endpoint_id: 'ep_G', reason: 'region' },
    { endpoint_id: 'ep_O', reason: 'circuit' },
  ],
  excluded_hidden: 0,
  attempts: [
    { endpoint_id: 'ep_A', outcome: 'error', http_status: 503, ms: 812 },
    { endpoint_id: 'ep_A', outcome: 'auth', http_status: 401, ms: 9 },
    { endpoint_id: 'ep_B', outcome: 'ok', http_status: 200, ms: 402 },
  ],
  winner: 'ep_B',
  reserve_micro: 38_400,
};

test('planned endpoints come in order of the plan with their tries, then those excluded, with the reason', () => {
  expect(byEndpoint(stored)).toMatchObject({
    policy: 'agents',
    version: 7,
    catalog: 'c1',
    endpoints: [
      {
        endpoint: 'ep_A',
        planned_at: 1,
        score: 0.981,
        excluded_by: null,
        tries: [
          { outcome: 'error', http_status: 503, ms: 812 },
          { outcome: 'auth', http_status: 401, ms: 9 },
        ],
      },
      {
        endpoint: 'ep_B',
        planned_at: 2,
        score: 0.744,
        excluded_by: null,
        tries: [{ outcome: 'ok', http_status: 200, ms: 402 }],
      },
      { endpoint: 'ep_D', planned_at: 3, score: 0.702, excluded_by: null, tries: [] },
      { endpoint: 'ep_G', planned_at: null, score: null, excluded_by: 'region', tries: [] },
      { endpoint: 'ep_O', planned_at: null, score: null, excluded_by: 'circuit', tries: [] },
    ],
    winner: 'ep_B',
  });
});

test('a route with more exclusions than any header holds has each of them', () => {
  const excluded = Array.from({ length: 300 }, (_, i) => ({ endpoint_id: `ep_${i}`, reason: 'region' }));
  const reported = byEndpoint({ ...stored, excluded });
  expect(reported.endpoints).toHaveLength(303);
  expect(reported.endpoints.at(-1)).toMatchObject({ endpoint: 'ep_299', excluded_by: 'region' });
});

test('of more endpoints than are asked for the first ones are given', async () => {
  const field = tenantSchema.getType('RequestRoute');
  if (!isObjectType(field)) throw new Error('no RequestRoute');
  const { resolve } = field.getFields()['endpoints'] as GraphQLField<unknown, unknown>;
  const excluded = Array.from({ length: 600 }, (_, i) => ({ endpoint_id: `ep_${i}`, reason: 'region' }));
  const route = byEndpoint({ ...stored, excluded });
  const rows = async (first?: number) => {
    const given = await resolve?.(route, first === undefined ? {} : { first }, {}, {} as GraphQLResolveInfo);
    return (given as { endpoint: string }[]).map(({ endpoint }) => endpoint);
  };
  expect(await rows()).toHaveLength(20);
  expect((await rows(4)).slice(0, 4)).toEqual(['ep_A', 'ep_B', 'ep_D', 'ep_0']);
  expect(await rows(500)).toHaveLength(500);
  for (const wrong of [0, 501]) await expect(rows(wrong)).rejects.toMatchObject({ code: 'invalid_request' });
});

test('a refused route has excluded endpoints alone', () => {
  const reported = byEndpoint({ ...stored, plan: [], attempts: null, winner: null });
  expect(reported.endpoints.map(({ endpoint }) => endpoint)).toEqual(['ep_G', 'ep_O']);
});
