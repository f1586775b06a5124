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
beforeAll(async () => {
  await insertRows(harness.pool, [
    ...[1, 2, 3].map(() => rowOf(a, { app_id: 'desk', input_tokens: 10, output_tokens: 5 })),
    rowOf(b, { app_id: 'other' }),
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
