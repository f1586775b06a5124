import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { createPool } from '../db/index.ts';
import { builtIn } from '../inference/index.ts';
import { isId, nowMs, shiftClock, silentLog } from '../kernel/index.ts';
import {
  CatalogError,
  committedCatalog,
  credentialOf,
  findModel,
  findPriceVersion,
  loadCatalog,
  type Model,
  missingOf,
  openCatalog,
  selectPriceHistory,
} from './index.ts';

const formats = builtIn.catalog;

const url = await createTestDatabase();
const db = createPool(url, { max: 8 });
const dir = await mkdtemp(join(tmpdir(), 'svc-catalog-'));
afterAll(async () => {
  await db.end();
  await rm(dir, { recursive: true });
});
afterEach(() => {
  delete process.env['ACME_API_KEY'];
  shiftClock(0);
});

const acme = (input: string, extra = '') => `version: 1
providers:
  - { id: acme, name: Acme, kind: openai, base_url: "http://127.0.0.1:9001/v1/", api_key_env: ACME_API_KEY }
models:
  - id: acme/fast-1
    name: Acme Fast 1
    context_length: 128000
    max_output: 16384
    modalities: { in: [text, image], out: [text] }
    capabilities: { tools: true, json_schema: true }
    endpoints:
      - provider: acme
        upstream_model: fast-1
        region: eu-west
        price: { input: "${input}", output: "10.00", cache_read: "1.25" }
        bands: [{ from_prompt_tokens: 1000, price: { input: "20", output: "20", cache_read: "20" } }]
        tiers: { flex: { price: { input: "1", output: "5" } } }
        capabilities: { json_schema: false, parameters: [top_k] }
${extra}`;

async function fileOf(text: string, name = 'acme.yaml'): Promise<string> {
  const path = join(dir, name);
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
  return path;
}
const only = (model: Model | null | undefined) => model?.endpoints[0];

test('a loaded endpoint carries its numbers, narrowed capabilities, price, bands and tiers', async () => {
  const catalog = await loadCatalog(db, [await fileOf(acme('2.50'))], { formats });
  const endpoint = only(catalog.models.get('acme/fast-1'));
  expect(endpoint).toMatchObject({
    provider: 'acme',
    family: 'openai_chat',
    upstream_model: 'fast-1',
    region: 'eu-west',
    status: 'active',
    max_output: 16_384,
    missing: 'ACME_API_KEY',
    cancel_billing: 'unknown',
    data_policy: { trains: true, retention_days: null, zdr: false },
    capabilities: {
      tools: true,
      parallel_tools: true,
      json_schema: false,
      vision: true,
      parameters: ['top_k'],
    },
    price: {
      rates: { input: 2500, output: 10_000, cache_read: 1250 },
      bands: [{ from_prompt_tokens: 1000, rates: { input: 20_000 } }],
    },
    tiers: { flex: { rates: { input: 1000, output: 5000 } } },
  });
  expect(isId('endpoint', endpoint?.id as string)).toBe(true);
  expect(isId('price', endpoint?.price.id as string)).toBe(true);
  expect(catalog.endpoints.get(endpoint?.id as string)).toBe(endpoint);
  expect(catalog.providers.get('acme')?.base_url).toBe('http://127.0.0.1:9001/v1');
});

test('numbers stay through reloads; a changed price gets a new id and number, the old one can still be read', async () => {
  const first = await loadCatalog(db, [await fileOf(acme('2.50'))], { formats });
  const second = await loadCatalog(db, [await fileOf(acme('3'))], { formats });
  const third = await loadCatalog(db, [await fileOf(acme('2.50'))], { formats });
  const [a, b, c] = [first, second, third].map((catalog) => only(catalog.models.get('acme/fast-1')));
  expect(b?.endpoint_no).toBe(a?.endpoint_no);
  expect(b?.price.id).not.toBe(a?.price.id);
  expect(b?.price.price_no).not.toBe(a?.price.price_no);
  expect(c?.price).toEqual(a?.price);
  expect(first.version).toBe(third.version);
  const since = [first, third].map(({ models }) => models.get('acme/fast-1')?.known_since);
  expect(since[1]).toBe(since[0]);
  expect(second.version).not.toBe(first.version);
  expect(await findPriceVersion(db, a?.price.price_no as number)).toEqual(a?.price);
  expect(await findPriceVersion(db, 999_999)).toBe(null);
  const history = await selectPriceHistory(db, a?.id as string);
  const standard = history.filter((change) => change.use === 'standard').map((change) => change.price_no);
  expect(standard).toEqual([a?.price.price_no, b?.price.price_no, a?.price.price_no]);
});

test('markup is in the charged price, and the list price is kept beside it', async () => {
  const marked = acme('2.50').replace('max_output: 16384', 'max_output: 16384\n    markup_bps: 1000');
  const endpoint = only(
    (await loadCatalog(db, [await fileOf(marked)], { formats })).models.get('acme/fast-1'),
  );
  expect(endpoint?.price).toMatchObject({
    rates: { input: 2750, output: 11_000 },
    bands: [{ rates: { input: 22_000 } }],
    list: { rates: { input: 2500, output: 10_000 } },
  });
  expect(await findPriceVersion(db, endpoint?.price.price_no as number)).toEqual(endpoint?.price);
});

test('a stored price, endpoint or history row refuses every change', async () => {
  await loadCatalog(db, [await fileOf(acme('2.50'))], { formats });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of [
    `update catalog.price_version set content = '{}'`,
    'delete from catalog.price_history',
    `update catalog.endpoint set region = 'x'`,
    'delete from catalog.model',
    'truncate catalog.price_version cascade',
  ]) {
    await expect(client.query(statement), statement).rejects.toThrow('is never changed');
  }
  await client.end();
});

test('the role that programs run as may load and read the catalog, and nothing else', async () => {
  const runtime = createPool(`${url}?options=-c%20role%3Dsvc_runtime`, { max: 2 });
  const catalog = await loadCatalog(runtime, [await fileOf(acme('8'), 'runtime.yaml')], { formats });
  const price = only(catalog.models.get('acme/fast-1'))?.price;
  expect(await findPriceVersion(runtime, price?.price_no as number)).toEqual(price);
  const drop = { name: 'test.disable', text: 'alter table catalog.price_version disable trigger all' };
  await expect(runtime.query(drop)).rejects.toThrow('must be owner');
  await runtime.end();
});

test('ten processes that start at once on an empty database agree on every number', async () => {
  const fresh = createPool(await createTestDatabase(), { max: 10 });
  const path = await fileOf(acme('4'), 'race.yaml');
  const catalogs = await Promise.all(
    Array.from({ length: 10 }, () => loadCatalog(fresh, [path], { formats })),
  );
  for (const catalog of catalogs) expect(catalog.endpoints).toEqual(catalogs[0]?.endpoints);
  await fresh.end();
});

test('a test key gets every model from the sandbox, with the capabilities and prices of the catalog', async () => {
  const catalog = await loadCatalog(db, [await fileOf(acme('2.50'))], { formats });
  const live = findModel(catalog, 'acme/fast-1', 'live') as Model;
  const twin = findModel(catalog, 'acme/fast-1', 'test') as Model;
  expect(twin.model_no).toBe(live.model_no);
  expect(twin.endpoints.map((e) => [e.provider, e.family, e.region, e.cancel_billing, e.missing])).toEqual([
    ['sandbox', 'sandbox', 'local-1', 'stops', null],
    ['sandbox', 'sandbox', 'local-2', 'bills_full', null],
  ]);
  for (const endpoint of twin.endpoints) {
    expect(endpoint.price.rates).toEqual(only(live)?.price.rates);
    expect(endpoint.price.bands).toEqual(only(live)?.price.bands);
    expect(endpoint.capabilities).toEqual(only(live)?.capabilities);
    expect(endpoint.endpoint_no).not.toBe(only(live)?.endpoint_no);
    expect(catalog.endpoints.get(endpoint.id)).toBe(endpoint);
  }
  for (const model of catalog.sandbox.values()) {
    for (const endpoint of model.endpoints) expect(endpoint.family).toBe('sandbox');
  }
  expect([...catalog.sandbox.keys()].sort()).toEqual([...catalog.models.keys()].sort());
});

test('sandbox models are free for live keys and cost 2:1 at their two endpoints for test keys', async () => {
  const catalog = await loadCatalog(db, [await fileOf(acme('2.50'))], { formats });
  const rates = (environment: 'live' | 'test') =>
    findModel(catalog, 'sandbox/echo', environment)?.endpoints.map((e) => e.price.rates.output);
  expect(rates('live')).toEqual([0, 0]);
  expect(rates('test')).toEqual([8000, 4000]);
  const ids = (environment: 'live' | 'test') =>
    findModel(catalog, 'sandbox/echo', environment)?.endpoints.map((e) => e.id);
  expect(ids('live')).toEqual(ids('test'));
  expect(findModel(catalog, 'nobody/nothing', 'test')).toBe(null);
});

test('keys are read from variables and files each time they are needed, and a missing one is reported by name', async () => {
  const keys = join(dir, 'keys');
  const named = { api_key_env: ['ACME_API_KEY'], api_key_file: [keys] };
  expect(credentialOf(named)).toEqual([]);
  process.env['ACME_API_KEY'] = ' \n';
  await writeFile(keys, '“pasted”\n');
  expect([credentialOf(named), missingOf(named)]).toEqual([[], 'ACME_API_KEY']);
  await writeFile(keys, 'k2\n\n k3 \n“pasted”\n');
  process.env['ACME_API_KEY'] = 'k1\n';
  expect(credentialOf(named)).toEqual(['k1', 'k2', 'k3']);
  expect(
    only((await loadCatalog(db, [await fileOf(acme('2.50'))], { formats })).models.get('acme/fast-1'))
      ?.missing,
  ).toBe(null);
});

test('a retired model is not active, a deprecated one is reported', async () => {
  const old = acme('2.50').replace(
    'max_output: 16384',
    'max_output: 16384\n    deprecated_at: 2020-01-01\n    retires_at: 2021-01-01',
  );
  const model = (await loadCatalog(db, [await fileOf(old)], { formats })).models.get('acme/fast-1');
  expect([model?.status, only(model)?.status]).toEqual(['deprecated', 'disabled']);
});

test('a faulty file is refused whole and the running catalog stays; a mended one is picked up', async () => {
  const path = await fileOf(acme('5'), 'running.yaml');
  const handle = await openCatalog({ formats, db, files: [path], log: silentLog, poll_ms: 20 });
  const before = handle.current();
  await fileOf(acme('six', '  - id: acme/second\n'), 'running.yaml');
  await expect(handle.reload()).rejects.toThrow(CatalogError);
  expect(handle.current()).toBe(before);
  await fileOf(acme('7'), 'running.yaml');
  await expect
    .poll(() => only(handle.current().models.get('acme/fast-1'))?.price.rates.input, { timeout: 5_000 })
    .toBe(7000);
  handle.close();
});

test('a key file that comes or changes while the process runs is read again', async () => {
  const keys = join(dir, 'rotated-keys');
  const text = acme('5').replace('api_key_env: ACME_API_KEY', `api_key_file: "${keys}"`);
  const path = await fileOf(text, 'keyed.yaml');
  const handle = await openCatalog({ formats, db, files: [path], log: silentLog, poll_ms: 20 });
  expect(only(handle.current().models.get('acme/fast-1'))?.missing).toBe(keys);
  await writeFile(keys, 'first\n');
  await expect
    .poll(() => only(handle.current().models.get('acme/fast-1'))?.missing, { timeout: 5_000 })
    .toBe(null);
  // Pools of keys are kept by provider: another key needs another provider.
  const before = handle.current().providers.get('acme');
  await writeFile(keys, 'the second\n');
  await expect.poll(() => handle.current().providers.get('acme') === before, { timeout: 5_000 }).toBe(false);
  handle.close();
});

test('a model retires on its day in a process that has run since before', async () => {
  const day_ms = 86_400_000;
  const tomorrow = new Date(nowMs() + day_ms).toISOString().slice(0, 10);
  const text = acme('5').replace('max_output: 16384', `max_output: 16384\n    retires_at: ${tomorrow}`);
  const path = await fileOf(text, 'retiring.yaml');
  const handle = await openCatalog({ formats, db, files: [path], log: silentLog, poll_ms: 20 });
  const status = () => only(handle.current().models.get('acme/fast-1'))?.status;
  expect(status()).toBe('active');
  shiftClock(day_ms);
  await expect.poll(status, { timeout: 5_000 }).toBe('disabled');
  handle.close();
});

test('the committed catalog loads beside a file that adds to it', async () => {
  const more = `version: 1
providers: [{ id: mine, name: Mine, kind: openai, base_url: "http://127.0.0.1:1/v1" }]
models:
  - id: meta/llama-3.3-70b-instruct
    endpoints: [{ provider: mine, upstream_model: llama3.3, price: { input: "0", output: "0" } }]
`;
  const catalog = await loadCatalog(db, [committedCatalog, await fileOf(more, 'more.yaml')], { formats });
  const llama = catalog.models.get('meta/llama-3.3-70b-instruct');
  expect(llama?.endpoints.map((e) => e.provider)).toEqual(['groq', 'together', 'openrouter', 'mine']);
  expect(llama?.endpoints.at(-1)?.missing).toBe(null);
});
