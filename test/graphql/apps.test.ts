// Apps over GraphQL: the same objects, rights and refusals as REST.
import { insertRows } from '@svc/core/analytics/store.ts';
import { publishFigures } from '@svc/core/figures/index.ts';
import { now } from '@svc/core/kernel/index.ts';
import { camel } from '@svc/graphql/names.ts';
import { beforeAll, expect, test } from 'vitest';
import { rowOf } from '../registry/rows.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { harness, gateway, tenant } = world;
const { a, b } = harness;
let developer = '';
let viewer = '';
let stranger = '';
let ranked = '';
beforeAll(async () => {
  const models = await gateway.inject({ url: '/v1/models', headers: { authorization: `Bearer ${a.key}` } });
  ranked = models.json().data.find(({ id }: { id: string }) => !id.startsWith('sandbox/')).id;
  await insertRows(harness.pool, [
    ...[1, 2, 3].map(() => rowOf(a, { app_id: 'desk', input_tokens: 10, output_tokens: 5 })),
    rowOf(b, { app_id: 'other' }),
    rowOf(a, { model: ranked, app_id: '' }),
  ]);
  await publishFigures(harness.pool, { now: now(), min_orgs: 1 });
  developer = await harness.signIn(await harness.makePerson(a, 'developer'));
  viewer = await harness.signIn(await harness.makePerson(a, 'viewer'));
  stranger = await harness.signIn(await harness.makePerson(b, 'owner'));
});

const fields = 'slug name category url public owned requests30d tokens30d firstSeenAt';
const list = `{ apps { ${fields} } }`;
const update = `mutation($input: UpdateAppInput!) { updateApp(input: $input) { __typename
  ... on UpdateAppPayload { app { ${fields} } } ... on UserError { code message path } } }`;
const said = { name: 'Desk', category: 'support', url: 'https://desk.example', public: true };

const shown = (row: object) =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [camel(name), value]));

test('apps are listed as REST lists them, on both servers, each organization its own', async () => {
  const rest = await gateway.inject({ url: '/v1/apps', headers: { authorization: `Bearer ${developer}` } });
  const apps = rest.json().data.map(shown);
  expect(apps).toMatchObject([{ slug: 'desk', owned: true, requests30d: 3, tokens30d: 45 }]);
  expect((await world.ask(tenant, developer, list)).data.apps).toEqual(apps);
  expect((await world.ask(gateway, a.key, list)).data.apps).toEqual(apps);
  expect((await world.ask(tenant, viewer, list)).data.apps).toEqual(apps);
  expect((await world.ask(tenant, stranger, list)).data.apps).toMatchObject([{ slug: 'other' }]);
});

test('who may changes an app, and what is refused is refused with the code of REST', async () => {
  const send = async (token: string, input: object, at = tenant) =>
    (await world.ask(at, token, update, { input })).data.updateApp;
  expect(await send(developer, { slug: 'desk', ...said })).toMatchObject({
    __typename: 'UpdateAppPayload',
    app: { slug: 'desk', ...said },
  });
  expect((await world.ask(tenant, developer, list)).data.apps[0]).toMatchObject(said);
  expect(await send(viewer, { slug: 'desk' })).toMatchObject({ code: 'permission_denied' });
  expect(await send(stranger, { slug: 'desk', name: 'Taken' })).toMatchObject({ code: 'not_found' });
  expect(await send(developer, { slug: 'never', name: 'Never' })).toMatchObject({ code: 'not_found' });
  expect(await send(a.test_key, { slug: 'desk' }, gateway)).toMatchObject({
    code: 'sandbox_key_not_allowed',
  });
  expect(await send(developer, { slug: 'desk', url: 'javascript:alert(1)' })).toMatchObject({
    code: 'invalid_request',
    path: ['input', 'url'],
  });
  expect((await world.ask(tenant, developer, list)).data.apps[0]).toMatchObject(said);
  expect(await send(developer, { slug: 'desk' })).toMatchObject({
    app: { name: 'desk', category: null, url: null, public: false },
  });
  expect(world.defects).toEqual([]);
});

test('rankings, providers and what became of a model are those of REST, on both servers', async () => {
  const [vendor, model] = ranked.split('/');
  const rest = async (url: string) =>
    (await gateway.inject({ url, headers: { authorization: `Bearer ${developer}` } })).json();
  const document = `{ rankings(days: 7) { days apps { id requests tokens models } models { id requests tokens apps } analytics }
    providers { id name trains zdr status endpoints retentionDays }
    model(name: "${ranked}") { stats { analytics series { endpointId day attempts uptime } apps { appId } changelog { kind summary } } } }`;
  const asked = (await world.ask(tenant, developer, document)).data;
  const rankings = await rest('/v1/rankings?days=7');
  expect(rankings.models).toMatchObject([{ id: ranked, requests: 1 }]);
  expect(asked.rankings).toEqual({
    ...{ days: 7, apps: rankings.apps, models: rankings.models, analytics: rankings.analytics },
  });
  const providers = (await rest('/v1/providers')).data as { id: string }[];
  expect(asked.providers.map(({ id }: { id: string }) => id)).toEqual(providers.map(({ id }) => id));
  const stats = await rest(`/v1/models/${vendor}/${model}/stats`);
  expect(asked.model.stats.series).toHaveLength(stats.series.length);
  expect(asked.model.stats.changelog).toHaveLength(stats.changelog.length);
  const by_key = await world.ask(gateway, a.key, document);
  expect(by_key.data).toEqual(asked);
});
