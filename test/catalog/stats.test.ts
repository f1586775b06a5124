// Figures of models over REST: series, rankings, sorts, and what disappears.
import { committedCatalog, loadCatalog } from '@svc/core/catalog/index.ts';
import { builtIn } from '@svc/core/inference/index.ts';
import { now, shiftClock } from '@svc/core/kernel/index.ts';
import { operations } from '@svc/core/operations/index.ts';
import { Compile } from 'typebox/compile';
import { afterEach, expect, test } from 'vitest';
import { noon, startFiguresWorld } from './world.ts';

const world = await startFiguresWorld();
const { a, b, call, publish, write } = world;
noon();
afterEach(noon);
const catalog = await loadCatalog(world.pool, [committedCatalog], { formats: builtIn.catalog });
const several = [...catalog.models.values()].filter(({ vendor }) => vendor !== 'sandbox');
const [first, second, third] = several as [(typeof several)[0], (typeof several)[0], (typeof several)[0]];
const endpointOf = (model: typeof first) => model.endpoints[0]?.id as string;

async function json(url: string, key?: string) {
  const answer = await call('GET', url, key === undefined ? {} : { key });
  expect([url, answer.statusCode]).toEqual([url, 200]);
  return answer.json();
}
function conforms(name: string, value: unknown) {
  const operation = operations.find((one) => one.name === name);
  expect(Compile(operation?.output as never).Errors(value as never)).toEqual([]);
}
const statsOf = (id: string, key = a.key) => json(`/v1/models/${id}/stats`, key);

test('before anything was published there are no figures, and answers say so', async () => {
  const stats = await statsOf(first.id);
  conforms('models.stats', stats);
  expect(stats).toMatchObject({ model: first.id, apps: [], scheduled_prices: [], analytics: false });
  expect(stats.series).toHaveLength(30 * first.endpoints.length);
  const rankings = await json('/v1/rankings');
  conforms('rankings.get', rankings);
  expect(rankings).toMatchObject({ days: 7, apps: [], models: [], analytics: false });
});

test('a series has a row for each endpoint and day, with latency and uptime from 20 attempts on', async () => {
  const of = { tenant: a, model: first.id, endpoint_id: endpointOf(first) };
  const times = { ttft_ms: 100, duration_ms: 1_100, output_tokens: 101 };
  await write({ ...of, n: 25, attempt: times });
  await write({ ...of, n: 5, attempt: { outcome: 'error', error_class: 'server', ttft_ms: null } });
  await write({ ...of, n: 19, hours_ago: 25, attempt: times });
  await write({ ...of, n: 3, hours_ago: 24 * 30 + 1, attempt: times });
  await publish();
  const stats = await statsOf(first.id);
  conforms('models.stats', stats);
  const own = stats.series.filter((row: { endpoint_id: string }) => row.endpoint_id === of.endpoint_id);
  expect(own).toHaveLength(30);
  const today = now().toISOString().slice(0, 10);
  expect(own.at(-1)).toEqual({
    ...{ endpoint_id: of.endpoint_id, day: today, attempts: 30, ok: 25, uptime: 0.8333 },
    ...{ ttft_p50_ms: 100, ttft_p95_ms: 100, tpot_p50_ms: 10 },
  });
  expect(own.at(-2)).toMatchObject({ attempts: 19, ok: null, uptime: null, ttft_p50_ms: null });
  expect(own[0]).toMatchObject({ attempts: 0, ok: null, uptime: null });
  const listed = await json(`/v1/models/${first.id}`, a.key);
  expect(listed.uptime_30d).toBe(0.898);
  expect(Math.abs(listed.ttft_p50_ms - 100)).toBeLessThan(2.5);
  const [endpoint] = (await json(`/v1/models/${first.id}/endpoints`, a.key)).data;
  expect(endpoint).toMatchObject({ attempts_30d: 49, uptime_30d: 0.898 });
  // The sandbox's stand-ins have none of it.
  const sandbox = await statsOf(first.id, a.test_key);
  expect(sandbox.series.every((row: { attempts: number }) => row.attempts === 0)).toBe(true);
  expect(await json(`/v1/models/${first.id}`, a.test_key)).toMatchObject({
    uptime_30d: null,
    requests_7d: null,
  });
});

test('models are ordered by speed, throughput and use, and those without the figure come last', async () => {
  for (const [model, ttft_ms, tokens, n] of [
    [second, 50, 21, 60],
    [third, 400, 401, 40],
  ] as const) {
    const attempt = { ttft_ms, duration_ms: ttft_ms + 1_000, output_tokens: tokens };
    await write({ n, tenant: b, model: model.id, endpoint_id: endpointOf(model), attempt });
  }
  await publish();
  const order = async (sort: string) =>
    ((await json(`/v1/models?sort=${sort}`, a.key)).data as { id: string }[]).map(({ id }) => id);
  const known = [first.id, second.id, third.id];
  const firstThree = async (sort: string) => (await order(sort)).slice(0, 3);
  expect(await firstThree('latency')).toEqual([second.id, first.id, third.id]);
  expect(await firstThree('throughput')).toEqual([third.id, first.id, second.id]);
  expect(await firstThree('popularity')).toEqual([second.id, first.id, third.id]);
  const by_name = (await order('name')).filter((id) => !known.includes(id));
  expect((await order('latency')).slice(3)).toEqual(by_name);
});

test('rankings count what enough organizations called, over as many days as asked, in three digits', async () => {
  const c = await world.makeTenant('corvus');
  const of = { model: second.id, input_tokens: 1_234, output_tokens: 0 };
  await write({ ...of, n: 1_003, tenant: c });
  await write({ ...of, n: 100, tenant: c, hours_ago: 24 * 8 });
  // As if no day had been summed before.
  await world.pool.query({ name: '', text: 'delete from summed_day' });
  await publish(2);
  const models = async (query = '') => {
    const found = await json(`/v1/rankings${query}`);
    conforms('rankings.get', found);
    return found.models as { id: string; requests: number }[];
  };
  expect((await models()).map(({ id, requests }) => [id, requests])).toEqual([[second.id, 1_060]]);
  expect((await models('?days=90'))[0]).toMatchObject({ requests: 1_160 });
  expect((await models('?days=1'))[0]).toMatchObject({ requests: 1_060 });
  for (const days of ['0', '91', '-1', '1.5', 'x', ''])
    expect([days, (await call('GET', `/v1/rankings?days=${days}`)).statusCode]).toEqual([days, 400]);
  expect((await json(`/v1/models/${third.id}`, a.key)).requests_7d).toBeNull();
});

test('a model that is offered no more is in no ranking, and its page is gone', async () => {
  await write({ n: 30, tenant: a, model: 'gone/model-1', endpoint_id: 'ep_0000000000000000000000GONE' });
  await publish();
  const { models } = await json('/v1/rankings?days=1');
  expect(models.map(({ id }: { id: string }) => id)).not.toContain('gone/model-1');
  expect((await call('GET', '/v1/models/gone/model-1/stats', { key: a.key })).json().error.code).toBe(
    'model_not_found',
  );
});

test('a change of price names both prices to who pays the catalog, and neither to a customer of a reseller, with a tier or without', async () => {
  const summary = 'USD per million units: input 2.5 → 3.';
  await world.pool.query({
    name: 'test.news',
    text: `insert into catalog.news (topic, model_no, summary, effective_at, created_at)
           select 'model.price_changed', model_no, $2, now(), now() from catalog.model where id = $1`,
    values: [first.id, summary],
  });
  const said = async (key: string) =>
    (await statsOf(first.id, key)).changelog.find(({ kind }: { kind: string }) => kind === 'price').summary;
  expect(await said(a.key)).toBe(summary);
  const parent = await world.makeTenant('parent');
  const child = await world.makeTenant('its-child');
  const untiered = await world.makeTenant('its-untiered-child');
  const tier = 'tier_01KACZ3V8S6T5R4Q3P2N1M0K9J';
  for (const [name, text, values] of [
    ['parent', `update org set kind = 'reseller' where id = $1`, [parent.org.id]],
    [
      'tier',
      `insert into reseller_tier (id, org_id, name, markup_bps, created_at, updated_at)
       values ($1, $2, 'a tier', 1000, now(), now())`,
      [tier, parent.org.id],
    ],
    [
      'child',
      `update org set kind = 'child', parent_org_id = $2, reseller_tier_id = $3 where id = $1`,
      [child.org.id, parent.org.id, tier],
    ],
    [
      'untiered',
      `update org set kind = 'child', parent_org_id = $2 where id = $1`,
      [untiered.org.id, parent.org.id],
    ],
  ] as const)
    await world.pool.query({ name: `test.${name}`, text, values: [...values] });
  for (const { key } of [child, untiered]) expect(await said(key)).toBe('The price changed.');
});

test('the changelog begins with the day on which the model came', async () => {
  const { changelog } = await statsOf(first.id);
  expect(changelog.at(-1)).toMatchObject({ kind: 'added', endpoint_id: null });
});

test('providers are listed without a key, with what they do with data and how many endpoints they have', async () => {
  const listed = await json('/v1/providers');
  conforms('providers.list', listed);
  expect(listed.snapshot).toBe(catalog.version);
  const names = (listed.data as { name: string }[]).map(({ name }) => name);
  expect(names).toEqual([...names].sort((x, y) => x.localeCompare(y, 'en')));
  const ids = new Set((listed.data as { id: string }[]).map(({ id }) => id));
  expect(ids).toEqual(new Set([...catalog.providers.keys()].filter((id) => id !== 'sandbox')));
  for (const shown of listed.data) {
    const known = catalog.providers.get(shown.id);
    const count = [...catalog.endpoints.values()].filter(({ provider }) => provider === shown.id).length;
    expect(shown).toMatchObject({ ...known?.data_policy, terms_url: known?.terms_url, endpoints: count });
    expect(Object.keys(shown)).not.toContain('api_key_env');
  }
});

test('a clock that runs past midnight begins a new day and loses none', async () => {
  shiftClock(0);
  noon();
  const before = (await statsOf(first.id)).series.filter(
    ({ endpoint_id }: { endpoint_id: string }) => endpoint_id === endpointOf(first),
  );
  const day_ms = 86_400_000;
  const to_midnight = day_ms / 2;
  const start = now().getTime();
  shiftClock(start + to_midnight - Date.now());
  world.memory.forget();
  const after = (await statsOf(first.id)).series.filter(
    ({ endpoint_id }: { endpoint_id: string }) => endpoint_id === endpointOf(first),
  );
  expect(after.slice(0, 29)).toEqual(before.slice(1));
  expect(after.at(-1)).toMatchObject({ attempts: 0, day: now().toISOString().slice(0, 10) });
});
