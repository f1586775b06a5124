// Apps: whose they are, what they show, and what hostile words come to.

import { machineMs, now, nowMs, shiftClock } from '@svc/core/kernel/index.ts';
import { setOrgStatus } from '@svc/core/orgs/store.ts';
import { afterEach, expect, test } from 'vitest';
import { codeOf, type Tenant } from '../registry/harness.ts';
import { type Calls, noon, startFiguresWorld } from './world.ts';

const world = await startFiguresWorld();
const { a, b, call, makeKey, makePerson, publish, signIn } = world;
noon();
afterEach(noon);

const model = (await call('GET', '/v1/models', { key: a.key })).json().data[0].id as string;
const write = (tenant: Tenant, app_id: string, other: Partial<Calls> = {}) =>
  world.write({ n: 1, tenant, app_id, model, ...other });
const put = (tenant: Tenant, slug: string, body: object) =>
  call('PUT', `/v1/apps/${slug}`, { key: tenant.key, body });
const listed = async (key: string) =>
  (await call('GET', '/v1/apps', { key })).json().data as {
    slug: string;
    owned: boolean;
    requests_30d: number;
    name: string;
  }[];
const seen = (slug: string) => call('GET', `/v1/apps/${slug}/public`);
const badgeOf = (slug: string, query = '') => call('GET', `/v1/apps/${slug}/badge${query}`);
const rankedApps = async (query = '') =>
  (await call('GET', `/v1/rankings${query}`)).json().apps as { id: string; requests: number }[];

test('an app is seen by nobody until its organization shows it, and by nobody again a moment after it is taken back', async () => {
  await write(a, 'shy', { n: 3, input_tokens: 100, output_tokens: 50 });
  await publish();
  expect(await listed(a.key)).toMatchObject([{ slug: 'shy', owned: true, requests_30d: 3, name: 'shy' }]);
  expect((await seen('shy')).statusCode).toBe(404);
  expect(await rankedApps()).toEqual([]);
  const said = { name: 'Shy App', category: 'Writing', url: 'https://shy.example/', public: true };
  expect((await put(a, 'shy', said)).json()).toMatchObject({
    ...said,
    category: 'writing',
    slug: 'shy',
    owned: true,
    requests_30d: 3,
    tokens_30d: 450,
  });
  const shown = (await seen('shy')).json();
  expect(shown).toMatchObject({
    ...{ slug: 'shy', name: 'Shy App', category: 'writing', url: 'https://shy.example/' },
    ...{ tokens_30d: 450, requests_30d: 3, models: [model], analytics: true },
  });
  expect(shown.trend).toHaveLength(30);
  expect(shown.trend.at(-1)).toEqual({ day: now().toISOString().slice(0, 10), requests: 3, tokens: 450 });
  expect(await rankedApps()).toEqual([{ id: 'shy', requests: 3, tokens: 450, models: 1 }]);
  expect(await rankedApps('?category=WRITING')).toHaveLength(1);
  expect(await rankedApps('?category=games')).toEqual([]);
  // What is left out is reset, and with it what everybody saw.
  expect((await put(a, 'shy', {})).json()).toMatchObject({
    name: 'shy',
    category: null,
    url: null,
    public: false,
  });
  expect((await seen('shy')).statusCode).toBe(404);
  expect((await badgeOf('shy')).statusCode).toBe(404);
  expect(await rankedApps()).toEqual([]);
});

test('what another organization calls under the name is theirs alone: it counts in no figure of the app and gives no right to it', async () => {
  await write(a, 'mine', { n: 2, hours_ago: 3 });
  await write(b, 'mine', { n: 50, hours_ago: 1 });
  await publish();
  expect((await listed(b.key)).filter(({ slug }) => slug === 'mine')).toMatchObject([
    { owned: false, requests_30d: 50, name: 'mine' },
  ]);
  const refused = await put(b, 'mine', { name: 'Taken', public: true });
  const unknown = await put(b, 'never-called', { public: true });
  expect([refused.statusCode, codeOf(refused)]).toEqual([404, 'not_found']);
  expect(refused.json().error.message).toBe(unknown.json().error.message);
  await put(a, 'mine', { name: 'Mine', public: true });
  expect((await seen('mine')).json()).toMatchObject({ name: 'Mine', requests_30d: 2 });
  expect(await rankedApps()).toMatchObject([{ id: 'mine', requests: 2 }]);
  const stats = (await call('GET', `/v1/models/${model}/stats`, { key: b.key })).json();
  expect(stats.apps).toMatchObject([{ app_id: 'mine', requests_7d: 2 }]);
  // The name of the owner's organization is nowhere.
  expect(JSON.stringify((await seen('mine')).json())).not.toContain(a.org.id);
  await put(a, 'mine', {});
});

test('who may: read:usage and every role list, manage:keys and developers change, and a sandbox key changes none', async () => {
  await write(a, 'rights');
  await publish();
  const usage = await makeKey(a, { scopes: ['read:usage'] });
  const inference = await makeKey(a, { scopes: ['inference'] });
  expect((await call('GET', '/v1/apps', { key: usage.secret })).statusCode).toBe(200);
  expect((await call('GET', '/v1/apps', { key: inference.secret })).statusCode).toBe(403);
  const change = (key: string) => call('PUT', '/v1/apps/rights', { key, body: {} });
  expect(codeOf(await change(usage.secret))).toBe('permission_denied');
  expect(codeOf(await change(a.test_key))).toBe('sandbox_key_not_allowed');
  expect((await listed(a.test_key)).find(({ slug }) => slug === 'rights')).toMatchObject({ requests_30d: 0 });
  for (const [role, list, update] of [
    ['owner', 200, 200],
    ['developer', 200, 200],
    ['viewer', 200, 403],
    ['billing', 200, 403],
  ] as const) {
    const session = await signIn(await makePerson(a, role));
    const answers = [await call('GET', '/v1/apps', { key: session }), await change(session)];
    expect([role, ...answers.map(({ statusCode }) => statusCode)]).toEqual([role, list, update]);
  }
});

test('a change is in the audit log with what it changed, and one that changes nothing is not', async () => {
  await write(a, 'logged');
  await publish();
  await put(a, 'logged', { name: 'Logged', public: true });
  await put(a, 'logged', { name: 'Logged', public: true });
  const { rows } = await world.pool.query<{ before: unknown; after: unknown }>({
    name: '',
    text: `select before, after from audit_entry where action = 'apps.update' and target_id = 'logged'`,
  });
  expect(rows).toEqual([
    { before: { name: 'logged', public: false }, after: { name: 'Logged', public: true } },
  ]);
  await put(a, 'logged', {});
});

test('of a suspended organization nothing is shown', async () => {
  const c = await world.makeTenant('casper');
  await write(c, 'ghost', { n: 2 });
  await publish();
  await put(c, 'ghost', { public: true });
  expect((await seen('ghost')).statusCode).toBe(200);
  await setOrgStatus(world.pool, { org_id: c.org.id, status: 'suspended', at: now() });
  world.memory.forget();
  expect((await seen('ghost')).statusCode).toBe(404);
  expect(await rankedApps()).toEqual([]);
});

test('addresses are of the web alone, and no text holds control characters', async () => {
  await write(a, 'fields');
  await publish();
  for (const [body, param] of [
    [{ url: 'javascript:alert(1)' }, 'url'],
    [{ url: 'data:text/html,x' }, 'url'],
    [{ url: 'https://a b' }, 'url'],
    [{ name: '' }, 'name'],
    [{ name: 'a\u0000' }, 'name'],
    [{ name: 'a\nb' }, 'name'],
    [{ name: 'x'.repeat(121) }, 'name'],
    [{ category: 'x'.repeat(41) }, 'category'],
    [{ public: 'yes' }, 'public'],
    [{ owner: 'b' }, 'owner'],
  ] as const) {
    const refused = await put(a, 'fields', body);
    expect([body, refused.statusCode, refused.json().error.param]).toEqual([body, 400, param]);
  }
});

test('markup in the name or the label of a badge is text, and the image runs and loads nothing', async () => {
  await write(a, 'hostile', { n: 1, input_tokens: 1_199_999, output_tokens: 1 });
  await publish();
  const hostile = `</text><script>alert("1")</script>&'\u202e`;
  await put(a, 'hostile', { name: hostile, public: true });
  for (const query of ['', `?label=${encodeURIComponent(hostile)}`]) {
    const image = await badgeOf('hostile', query);
    expect([image.statusCode, image.headers['content-type']]).toEqual([200, 'image/svg+xml; charset=utf-8']);
    expect(image.headers['content-security-policy']).toContain("default-src 'none'");
    expect(image.headers['x-content-type-options']).toBe('nosniff');
    expect(image.headers['content-disposition']).toContain('inline');
    expect(image.body).not.toMatch(/<(?!\/?(?:svg|title|clipPath|rect|g|text)\b)/);
    expect(image.body).not.toContain('\u202e');
    expect(image.body).toContain('&lt;script&gt;');
    expect(image.body).toContain('1.2M tokens');
  }
  expect((await badgeOf('hostile', '?color=00ff00')).body).toContain('#00ff00');
  for (const query of [
    '?color=red',
    '?color=00FF00',
    '?color=%22onload',
    '?label=',
    `?label=${'x'.repeat(65)}`,
  ])
    expect([query, (await badgeOf('hostile', query)).statusCode]).toEqual([query, 400]);
  const page = (await seen('hostile')).json();
  expect(page.name).toBe(hostile);
  await put(a, 'hostile', {});
});

test('a badge of no app is a grey image with 404, whatever the name', async () => {
  expect((await put(a, 'A%00', {})).statusCode).toBe(404);
  for (const slug of ['no-such', '%3Cscript%3E', 'A%00', '..%2F..', 'x'.repeat(300)]) {
    const image = await badgeOf(slug);
    expect([slug, image.statusCode, image.headers['content-type']]).toEqual([
      slug,
      404,
      'image/svg+xml; charset=utf-8',
    ]);
    expect(image.body).toContain('unknown');
    expect(image.body).not.toContain('script');
  }
});

test('figures that are older than half an hour are shown as what they are', async () => {
  await write(a, 'old', { n: 4 });
  await publish();
  await put(a, 'old', { public: true });
  expect((await seen('old')).json()).toMatchObject({ analytics: true, requests_30d: 4 });
  shiftClock(nowMs() - machineMs() + 3_600_000);
  const generated_at = (await seen('old')).json().generated_at;
  for (const route of ['/v1/rankings', '/v1/apps/old/public', `/v1/models/${model}/stats`]) {
    const key = route.includes('models') ? { key: a.key } : {};
    const answer = (await call('GET', route, key)).json();
    expect([route, answer.analytics]).toEqual([route, false]);
  }
  expect((await seen('old')).json()).toMatchObject({ requests_30d: 4, generated_at });
  await put(a, 'old', {});
});
