// Answers that may be kept: every public route of catalog and storefronts, asked again with its tag.
import { shiftClock } from '@svc/core/kernel/index.ts';
import { operations } from '@svc/core/operations/index.ts';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { noon, startFiguresWorld } from './world.ts';

const world = await startFiguresWorld();
const { a, call } = world;
noon();
await world.write({ n: 20, tenant: a, app_id: 'notes' });
await world.publish();
beforeAll(async () => {
  const body = { public: true };
  expect((await call('PUT', '/v1/apps/notes', { key: a.key, body })).statusCode).toBe(200);
});
afterEach(noon);

/** A storefront with a logo at a domain, whose public answers may be kept too. */
const LOGO = 'a'.repeat(64);
const shop = await world.makeTenant('shop');
for (const text of [
  `update org set kind = 'reseller' where id = $1`,
  `insert into storefront values ($1, 'Shop', null, '#0b6e4f', null, null, null, 'open', 'USD', 'en', now())`,
  `insert into storefront_logo values ($1, '${LOGO}', 'image/png', 'as if it were an image')`,
  `insert into storefront_domain values ($1, 'ai.shop.example', 'svc-verify=${LOGO.slice(32)}', now())`,
  `insert into storefront_domain_proof values ('ai.shop.example', $1, now(), now(), 0)`,
])
  await world.pool.query({ name: '', text, values: [shop.org.id] });

const cached = operations.filter((operation) => operation.cached !== undefined);
const [some] = (await call('GET', '/v1/models', { key: a.key })).json().data as { id: string }[];
const { id } = some as { id: string };
const [vendor, model] = id.split('/') as [string, string];
const urls = cached.map(({ path, cached: as }) => ({
  path,
  scope: as?.scope as string,
  max_age: as?.max_age_seconds ?? 60,
  url: path
    .replace(':vendor', vendor)
    .replace(':model', model)
    .replace(':name', model)
    .replace(':slug', 'notes')
    .replace(':logo', LOGO)
    .replace(/^\/v1\/storefront$/, '/v1/storefront?host=ai.shop.example'),
}));
const asker = (scope: string) => (scope === 'private' ? { key: a.key } : {});

test('every public route of catalog and storefronts may be kept, and those of models by who asked alone', () => {
  expect(Object.fromEntries(urls.map(({ path, scope }) => [path, scope]))).toEqual({
    '/v1/models': 'private',
    '/v1/models/:vendor/:model': 'private',
    '/v1/models/:name': 'private',
    '/v1/models/:vendor/:model/endpoints': 'private',
    '/v1/models/:vendor/:model/stats': 'private',
    '/v1/providers': 'public',
    '/v1/pricing': 'public',
    '/v1/fx/display': 'public',
    '/v1/rankings': 'public',
    '/v1/apps/:slug/public': 'public',
    '/v1/apps/:slug/badge': 'public',
    '/v1/storefront': 'public',
    '/v1/storefront/logos/:logo': 'public',
  });
});

test.for(urls)(
  '$path: asked again with its tag it is 304 without a body',
  async ({ url, scope, max_age }) => {
    const get = (headers = {}, method: 'GET' | 'HEAD' = 'GET') =>
      call(method, url, { ...asker(scope), headers });
    const first = await get();
    const tag = first.headers['etag'] as string;
    expect([first.statusCode, first.headers['cache-control']]).toEqual([200, `${scope}, max-age=${max_age}`]);
    expect(tag).toMatch(/^W\/"[0-9a-f]{32}"$/);
    const strong = tag.slice(2);
    for (const asked of [tag, strong, `"other", ${tag}`, `W/"a,b",${strong} , "c"`, '*', ' * ']) {
      const again = await get({ 'if-none-match': asked });
      expect([asked, again.statusCode, again.body, again.headers['etag']]).toEqual([asked, 304, '', tag]);
      expect(again.headers['cache-control']).toBe(`${scope}, max-age=${max_age}`);
      expect(again.headers['content-type']).toBeUndefined();
    }
    for (const asked of ['"other"', 'W/"0"', strong.slice(1, -1), '']) {
      const again = await get({ 'if-none-match': asked });
      expect([asked, again.statusCode, again.headers['etag']]).toEqual([asked, 200, tag]);
      expect(again.body.length).toBe(first.body.length);
    }
    const head = await get({}, 'HEAD');
    expect([head.statusCode, head.body, head.headers['etag']]).toEqual([200, '', tag]);
    expect(head.headers['content-length']).toBe(String(Buffer.byteLength(first.body)));
    expect((await get({ 'if-none-match': tag }, 'HEAD')).statusCode).toBe(304);
    if (scope === 'private') expect(first.headers['vary']).toContain('authorization');
  },
);

test('when an answer was put together makes no other answer of it', async () => {
  const first = await call('GET', '/v1/pricing');
  shiftClock(60_000);
  const later = await call('GET', '/v1/pricing');
  expect(later.json().generated_at).not.toBe(first.json().generated_at);
  expect(later.headers['etag']).toBe(first.headers['etag']);
});

test('a sandbox key and the Anthropic client never get the answer of another', async () => {
  const tags = await Promise.all(
    [{ key: a.key }, { key: a.test_key }, { key: a.key, headers: { 'anthropic-version': '2023-06-01' } }].map(
      async (as) => (await call('GET', `/v1/models/${id}`, as)).headers['etag'],
    ),
  );
  // The sandbox has the same model, with other figures at other endpoints.
  const endpoints = await Promise.all(
    [a.key, a.test_key].map(
      async (key) => (await call('GET', `/v1/models/${id}/endpoints`, { key })).headers['etag'],
    ),
  );
  expect(new Set([tags[0], tags[2]]).size).toBe(2);
  expect(new Set(endpoints).size).toBe(2);
  const page = await call('GET', '/v1/models', {
    key: a.key,
    headers: { origin: 'https://elsewhere.example' },
  });
  expect(page.headers['access-control-allow-origin']).toBe('*');
});

test('refusals are never kept', async () => {
  for (const [url, as] of [
    ['/v1/models', {}],
    ['/v1/models/no/such', { key: a.key }],
    ['/v1/apps/no-such/public', {}],
    ['/v1/rankings?days=0', {}],
  ] as const) {
    const refused = await call('GET', url, { ...as, headers: { 'if-none-match': '*' } });
    expect([url, refused.statusCode >= 400, refused.headers['cache-control']]).toEqual([
      url,
      true,
      'no-store',
    ]);
    expect(refused.headers['etag']).toBeUndefined();
  }
});

test('new figures are a new answer', async () => {
  const before = await call('GET', '/v1/rankings');
  await world.write({ n: 300, tenant: a, app_id: 'notes' });
  shiftClock(0);
  noon();
  await world.publish();
  const after = await call('GET', '/v1/rankings', {
    headers: { 'if-none-match': before.headers['etag'] as string },
  });
  expect(after.statusCode).toBe(200);
});
