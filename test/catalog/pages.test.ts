// The public pages of models: what stands in them, and what of a hostile catalog, query or address does not.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSearch } from '@svc/admin-graphql/public/routes.ts';
import { insertRows } from '@svc/core/analytics/store.ts';
import { publishFigures } from '@svc/core/figures/index.ts';
import { now } from '@svc/core/kernel/index.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startWorld } from '../graphql/world.ts';
import { rowOf } from '../registry/rows.ts';
import { atFileEnd } from '../support/ends.ts';

const HOSTILE = `</title><script>alert("1")</script>&'`;
const dir = mkdtempSync(join(tmpdir(), 'svc-pages-'));
atFileEnd(async () => rmSync(dir, { recursive: true }));
const providers_file = join(dir, 'providers.yaml');
const LEAVING = `
  - id: acme/leaving-1
    name: Leaving One
    context_length: 128000
    endpoints: [{ provider: acme, upstream_model: leaving, price: { input: "1", output: "2" } }]
`;
const FILE = `version: 1
providers:
  - { id: acme, name: ${JSON.stringify(HOSTILE)}, kind: openai, base_url: "http://127.0.0.1:9001/v1" }
models:
  - id: acme/hostile-1
    name: ${JSON.stringify(HOSTILE)}
    context_length: 128000
    released_at: "2026-01-02"
    retires_at: "2099-01-01"
    endpoints:
      - provider: acme
        upstream_model: hostile
        region: eu-west
        price: { input: "0.0375", output: "10", cache_read: "0.01" }
        bands: [{ from_prompt_tokens: 100000, price: { input: "1", output: "20", cache_read: "1" } }]
        scheduled: [{ from: "2098-01-01", price: { input: "7.5", output: "8" } }]
  - id: acme/dear-1
    name: Dear One
    context_length: 1048576
    capabilities: { tools: true }
    endpoints: [{ provider: acme, upstream_model: dear, price: { input: "99", output: "999" } }]
`;
writeFileSync(providers_file, FILE.trimEnd() + LEAVING);
const { tenant, harness, defects, catalog } = await startWorld({ providers_file });
const get = (url: string, headers: Record<string, string> = {}) => tenant.inject({ url, headers });

async function endpointOf(id: string): Promise<string> {
  const { rows } = await harness.pool.query<{ id: string }>({
    name: '',
    text: `select endpoint.id from catalog.endpoint join catalog.model using (model_no)
            where model.id = $1 and provider <> 'sandbox'`,
    values: [id],
  });
  return rows[0]?.id as string;
}

const endpoint_id = await endpointOf('acme/hostile-1');
const rows = Array.from({ length: 40 }, (_, n) => {
  const row = rowOf(harness.a, { model: 'acme/hostile-1', endpoint_id });
  const outcome = n < 3 ? ('error' as const) : ('ok' as const);
  const of = { endpoint_id, outcome, error_class: n < 3 ? 'server' : '', ttft_ms: n < 3 ? null : 100 };
  return { ...row, attempt_rows: row.attempt_rows.map((attempt) => ({ ...attempt, ...of })) };
});
await insertRows(harness.pool, rows);
await insertRows(
  harness.pool,
  ['loud', 'shy'].map((app_id) => rowOf(harness.a, { model: 'acme/hostile-1', app_id, input_tokens: 1_200 })),
);
await publishFigures(harness.pool, { now: now(), min_orgs: 1 });
const said = { name: HOSTILE, category: 'a&b', url: 'https://loud.example/?"><script>', public: true };
await harness.call('PUT', '/v1/apps/loud', { key: harness.a.key, body: said });

/** The text of a page, one space between its words. */
const textOf = (body: string) =>
  body
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ');
/** Tags that these pages have, and no other. */
function expectHarmless(body: string): void {
  const tags = new Set([...body.matchAll(/<\/?([a-zA-Z]+)/g)].map(([, tag]) => tag?.toLowerCase()));
  for (const tag of ['script', 'style', 'iframe', 'object', 'img', 'base']) expect(tags).not.toContain(tag);
  expect(body.replaceAll(/"[^"]*"/g, '""')).not.toMatch(/<[^>]* (?:on[a-z]+|style)\s*=/i);
  expect(body).not.toMatch(/(?:href|action)="\s*javascript:/i);
}

test('everybody sees all models with their prices, without an account and without scripts', async () => {
  const page = await get('/models');
  expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  const policy = page.headers['content-security-policy'] as string;
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('script-src');
  expect(policy).not.toContain('unsafe');
  expectHarmless(page.body);
  expect(textOf(page.body)).toContain(`${HOSTILE} acme/hostile-1`);
  expect(textOf(page.body)).toContain('$0.038');
  expect(page.body).toContain('<link rel="canonical" href="http://127.0.0.1:8081/models">');
  expect(page.body).not.toContain('noindex');
  expect(page.body).not.toContain('sandbox/echo');
  const rows = (await harness.call('GET', '/v1/models', { key: harness.a.key })).json().data as {
    id: string;
  }[];
  for (const { id } of rows.filter(({ id }) => !id.startsWith('sandbox/')))
    expect(page.body).toContain(`href="/models/${id}"`);
});

test('the form filters and orders, keeps what was chosen, and is passed over where nobody could have chosen it', async () => {
  const body = (await get('/models?q=dear&vendor=acme&capability=tools&sort=price')).body;
  expect(textOf(body)).toContain('Dear One');
  expect(body).not.toContain('acme/hostile-1');
  expect(body).toContain('<option value="price" selected>');
  expect(body).toMatch(/name="capability" value="tools" checked/);
  expect(body).toContain('value="dear"');
  expect(body).toContain('noindex');
  const all = (await get('/models?sort=luck&modality=smell&capability=flying&zdr=maybe')).body;
  expect(all).toContain('acme/hostile-1');
  expect(all).toContain('acme/dear-1');
  const none = (await get('/models?q=nothing-is-called-so')).body;
  expect(textOf(none)).toContain('No model matches.');
  for (const q of [HOSTILE, '"><svg onload=x>', '\u0000', '\ud800', 'x'.repeat(5_000)])
    expectHarmless(
      (
        await get(
          `/models?q=${encodeURIComponent(q.toWellFormed())}&vendor=${encodeURIComponent(q.toWellFormed())}`,
        )
      ).body,
    );
});

test('whatever a query holds, the filter is one that the list takes', () => {
  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('1', 'tools', 'price', 'text', 'active', ''),
  );
  const names = [
    'q',
    'vendor',
    'modality',
    'capability',
    'sort',
    'status',
    'zdr',
    'no_train',
    'new',
    '__proto__',
  ];
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom(...names), fc.oneof(value, fc.array(value, { maxLength: 4 }))),
      (query) => {
        const search = readSearch(query);
        expect(Object.keys(search).every((name) => names.includes(name))).toBe(true);
        expect(search.capability ?? []).not.toContain('');
      },
    ),
  );
});

test('a page of a model says what it costs where, what comes, and how it did', async () => {
  const page = await get('/models/acme/hostile-1?utm_source=x');
  expect(page.statusCode).toBe(200);
  expectHarmless(page.body);
  const text = textOf(page.body);
  for (const words of [
    ...[HOSTILE, 'acme/hostile-1', '$0.038', '$10.00', '128,000 tokens', '2026-01-02', 'eu-west'],
    ...['92.50 %', 'This model is deprecated. From 2099-01-01 on it is not called.', '2098-01-01', '$7.50'],
    ...[
      'Long prompts',
      '100,000',
      'The model is offered.',
      'From 2098-01-01 on, USD per million units: input 0.038 → 7.5',
    ],
    '/v1/responses',
  ])
    expect(text).toContain(words);
  expect(page.body).toContain('<link rel="canonical" href="http://127.0.0.1:8081/models/acme/hostile-1">');
  expect(page.body).toMatch(/<meta name="description" content="[^"<>]*from \$0\.038 per million input/);
  expect(page.body).toMatch(
    /role="img" aria-label="[^"]*1 of 30 days known, the worst [0-9-]{10} with 92.50 %"/,
  );
  expect(text).not.toContain('half an hour old');
});

test('other names of a model lead to its page, and a model that is not there is said to be missing', async () => {
  const other = await get('/models/openai/gpt-4o-2024-08-06');
  expect([other.statusCode, other.headers['location']]).toEqual([302, '/models/openai/gpt-4o']);
  for (const path of ['acme/hostil-1', 'no/such', 'sandbox/echo', '%3Cscript%3E/%22onload', 'acme/%00']) {
    const missing = await get(`/models/${path}`);
    expect([path, missing.statusCode, missing.headers['cache-control']]).toEqual([path, 404, 'no-store']);
    expect(missing.body).toContain('noindex');
    expectHarmless(missing.body);
  }
  expect((await get('/models/acme/hostil-1')).body).toContain('href="/models/acme/hostile-1"');
});

test('the page of a model that left the catalog says since when, what changed, and is gone for search engines', async () => {
  expect((await get('/models/acme/leaving-1')).statusCode).toBe(200);
  writeFileSync(providers_file, FILE);
  await catalog.reload();
  const page = await get('/models/acme/leaving-1');
  expect([page.statusCode, page.headers['cache-control']]).toEqual([410, 'no-store']);
  expectHarmless(page.body);
  expect(page.body).toContain('noindex');
  const text = textOf(page.body);
  expect(text).toContain(
    `acme/leaving-1 This model left the catalog on ${now().toISOString().slice(0, 10)} .`,
  );
  expect(text).toContain(': The model is offered.');
  const other = await get('/models/acme/leaving-1-2026-01-01');
  expect([other.statusCode, other.headers['location']]).toEqual([302, '/models/acme/leaving-1']);
  writeFileSync(providers_file, FILE.trimEnd() + LEAVING);
  await catalog.reload();
  expect((await get('/models/acme/leaving-1')).statusCode).toBe(200);
});

test('models stand side by side, the lowest price is marked, and what is unknown or too much is left out', async () => {
  const page = await get(
    '/models/compare?id=acme/dear-1&id=acme/hostile-1&id=no/such&id=acme/dear-1&id=%3Cb%3E',
  );
  expectHarmless(page.body);
  const text = textOf(page.body);
  expect(text).toContain(`Input $99.00 $0.038 lowest`);
  expect(text).toContain('Context 1.05M 128K');
  for (const query of ['', '?id=acme/dear-1', '?id=no/such&id=none/such'])
    expect(textOf((await get(`/models/compare${query}`)).body)).toContain('Tick two to 4 models');
});

test('what is used most is ranked for everybody, and an app is named once it shows itself', async () => {
  for (const query of ['', '?days=30', '?days=90&category=A%26B', '?days=5&days=x&category=%00']) {
    const page = await get(`/rankings${query}`);
    expect([query, page.statusCode]).toEqual([query, 200]);
    expectHarmless(page.body);
    expect(page.body).not.toContain('shy');
  }
  const body = (await get('/rankings')).body;
  expect(body).toContain('href="/models/acme/hostile-1"');
  expect(body).toContain('href="/rankings/apps/loud"');
  expect(body).toContain('<option value="7" selected>');
  expect(body).not.toContain('noindex');
  expect(textOf(body)).toMatch(/1 acme\/hostile-1 \S+ 42 2 /);
  const other = (await get('/rankings?days=30&category=games')).body;
  expect(textOf(other)).toContain('No app that shows itself was used.');
  expect(other).toContain('noindex');
  expect(other).toContain('value="games"');
});

test('an app has a page when it shows itself; one that hides and one that is none are not told apart', async () => {
  const page = await get('/rankings/apps/loud');
  expect(page.statusCode).toBe(200);
  expectHarmless(page.body);
  const text = textOf(page.body);
  for (const words of [HOSTILE, 'loud', 'a&b', '1.32K', 'acme/hostile-1']) expect(text).toContain(words);
  expect(page.body).toContain('href="/rankings?category=a%26b"');
  expect(page.body).toMatch(/<a href="https:\/\/loud\.example\/[^"]*" rel="nofollow noopener ugc">/);
  expect(page.body).toMatch(/role="img" aria-label="Tokens by day, the most on [0-9-]{10}: /);
  const missing = await Promise.all(
    ['shy', 'none', '%3Cscript%3E'].map((slug) => get(`/rankings/apps/${slug}`)),
  );
  for (const answer of missing) {
    expect([answer.statusCode, answer.headers['cache-control']]).toEqual([404, 'no-store']);
    expect(answer.body).toBe(missing[0]?.body);
    expectHarmless(answer.body);
  }
});

test('pages and their style sheet are kept for a minute and asked again with their tag', async () => {
  for (const url of [
    ...['/models', '/models/acme/dear-1', '/models/style.css'],
    ...['/rankings', '/rankings/apps/loud'],
  ]) {
    const first = await get(url);
    expect([url, first.headers['cache-control']]).toEqual([url, 'public, max-age=60']);
    const again = await get(url, { 'if-none-match': first.headers['etag'] as string });
    expect([url, again.statusCode, again.body]).toEqual([url, 304, '']);
  }
  expect(defects).toEqual([]);
});
