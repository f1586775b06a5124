// Prices that a file gives from a day on: announced once, charged from midnight UTC, and never half.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/support/database.ts';
import { createPool } from '../../db/index.ts';
import { builtIn } from '../../inference/index.ts';
import { now, nowMs, shiftClock } from '../../kernel/index.ts';
import { CatalogError, loadCatalog, readChangelog, scheduledPrices } from '../index.ts';

const formats = builtIn.catalog;
const db = createPool(await createTestDatabase(), { max: 8 });
const dir = await mkdtemp(join(tmpdir(), 'svc-scheduled-'));
afterAll(async () => {
  shiftClock(0);
  await db.end();
  await rm(dir, { recursive: true });
});
const setClock = (text: string) => {
  shiftClock(0);
  shiftClock(Date.parse(text) - nowMs());
};
beforeEach(() => setClock('2026-11-20T12:00:00Z'));

let serial = 0;
const newModel = () => `acme/scheduled-${++serial}`;
async function load(id: string, scheduled: string, markup = 0) {
  const path = join(dir, `${++serial}.yaml`);
  await writeFile(
    path,
    `version: 1
providers:
  - { id: acme, name: Acme, kind: openai, base_url: "http://127.0.0.1:9001/v1/" }
models:
  - id: ${id}
    name: Scheduled
    context_length: 128000
    markup_bps: ${markup}
    endpoints:
      - provider: acme
        upstream_model: fast
        price: { input: "2.50", output: "10" }
        tiers: { flex: { price: { input: "1", output: "5" } }, fast: { price: { input: "9", output: "9" } } }
        scheduled: ${scheduled}
`,
  );
  const catalog = await loadCatalog(db, [path], { formats });
  const model = catalog.models.get(id);
  if (model === undefined) throw new Error('not loaded');
  return { catalog, model, endpoint: model.endpoints[0] as (typeof model.endpoints)[0] };
}
const two = `[{ from: "2026-12-01", price: { input: "2", output: "8" }, tiers: { flex: { price: { input: "0.8", output: "4" } } } },
                    { from: "2027-01-01", price: { input: "1.5", output: "6" } }]`;
const changes = async (model: string) =>
  (await readChangelog(db, { model, at: now() })).map(({ kind, summary, effective_at }) => [
    kind,
    summary,
    effective_at.toISOString(),
  ]);

test('until its day a price is only shown; from midnight UTC on it is charged, with the tiers that it names', async () => {
  const id = newModel();
  const before = await load(id, two, 1_000);
  expect(before.endpoint.price.rates).toEqual({ input: 2_750, output: 11_000 });
  expect(scheduledPrices(before.model)).toMatchObject([
    { effective_at: '2026-12-01T00:00:00.000Z', rates: { input: 2_200, output: 8_800 } },
    { effective_at: '2027-01-01T00:00:00.000Z', rates: { input: 1_650, output: 6_600 } },
  ]);
  setClock('2026-11-30T23:59:59.900Z');
  expect((await load(id, two, 1_000)).endpoint.price.id).toBe(before.endpoint.price.id);
  setClock('2026-12-01T00:00:00.100Z');
  const after = await load(id, two, 1_000);
  expect(after.endpoint.price.rates).toEqual({ input: 2_200, output: 8_800 });
  expect(after.endpoint.tiers?.['flex']?.rates).toEqual({ input: 880, output: 4_400 });
  expect(after.endpoint.tiers?.['fast']?.rates).toEqual({ input: 9_900, output: 9_900 });
  expect(scheduledPrices(after.model).map(({ effective_at }) => effective_at)).toEqual([
    '2027-01-01T00:00:00.000Z',
  ]);
  expect(after.catalog.version).not.toBe(before.catalog.version);
  setClock('2027-02-01T00:00:00Z');
  const last = await load(id, two, 1_000);
  expect(last.endpoint.price.rates).toEqual({ input: 1_650, output: 6_600 });
  expect(last.endpoint.coming).toBeUndefined();
});

test('the sandbox shows no prices to come, and has the price of the day', async () => {
  const id = newModel();
  const { catalog } = await load(id, two);
  const twin = catalog.sandbox.get(id);
  expect(twin === undefined ? null : scheduledPrices(twin)).toEqual([]);
  setClock('2026-12-01T00:00:00Z');
  const later = (await load(id, two)).catalog.sandbox.get(id);
  expect(later?.endpoints[0]?.price.rates).toEqual({ input: 2_000, output: 8_000 });
});

test('a price to come is announced once by ten that load it at once, and again when it is another or is there', async () => {
  const id = newModel();
  const one = `[{ from: "2026-12-01", price: { input: "2", output: "8" } }]`;
  const other = `[{ from: "2026-12-01", price: { input: "3", output: "8" } }]`;
  await Promise.all(Array.from({ length: 10 }, () => load(id, one)));
  const announced = [
    'price',
    'From 2026-12-01 on, USD per million units: input 2.5 → 2, output 10 → 8.',
    '2026-12-01T00:00:00.000Z',
  ];
  expect((await changes(id)).filter(([kind]) => kind === 'price')).toEqual([announced]);
  setClock('2026-11-20T13:00:00Z');
  await load(id, other);
  expect((await changes(id))[0]?.[1]).toContain('input 2.5 → 3');
  setClock('2026-12-01T00:00:01Z');
  await load(id, other);
  await load(id, other);
  const noted = (await changes(id)).filter(([kind]) => kind === 'price');
  expect(noted.map(([, summary]) => summary)).toEqual([
    'USD per million units: input 2.5 → 3, output 10 → 8.',
    'From 2026-12-01 on, USD per million units: input 2.5 → 3, output 10 → 8.',
    announced[1],
  ]);
});

test('prices to come that stand in disorder, have no day, or miss kinds in a band are refused with their place', async () => {
  const faultsOf = async (scheduled: string) => {
    try {
      await load(newModel(), scheduled);
    } catch (error) {
      if (error instanceof CatalogError) return error.faults.map(({ path, reason }) => `${path}: ${reason}`);
      throw error;
    }
    return [];
  };
  const price = '{ input: "2", output: "8" }';
  const at = 'models[0].endpoints[0].scheduled';
  expect(
    await faultsOf(`[{ from: "2026-12-02", price: ${price} }, { from: "2026-12-02", price: ${price} }]`),
  ).toEqual([`${at}[1].from: expected a later day than that of the price before`]);
  expect(await faultsOf(`[{ from: "2026-13-01", price: ${price} }]`)).toEqual([
    `${at}[0].from: expected a date such as 2026-01-31`,
  ]);
  expect(
    await faultsOf(
      `[{ from: "2026-12-01", price: ${price}, bands: [{ from_prompt_tokens: 10, price: { input: "1", output: "1", cache_read: "1" } }] }]`,
    ),
  ).toEqual([`${at}[0].bands[0].price: expected the kinds of the price: input, output`]);
  expect((await faultsOf(`[{ from: "soon", price: ${price} }]`)).length).toBe(1);
});
