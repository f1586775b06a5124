// What a customer of a reseller pays for calls, through a gateway (docs/resellers/tiers.md).
import { catalogAt, committedCatalog, loadCatalog } from '@svc/core/catalog/index.ts';
import { createPool, type Pool } from '@svc/core/db/index.ts';
import { createPerson } from '@svc/core/identity/index.ts';
import { builtIn } from '@svc/core/inference/index.ts';
import { changeTerms } from '@svc/core/orgs/index.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { refuse, usageOf, wholeAnswer } from '../calls/upstream.ts';
import { bodyOf, eventually, idOf, type Org, useWorld } from '../calls/world.ts';
import { staffContext } from '../support/provision.ts';

const MODEL = 'calls/resold';
const world = useWorld({
  models: {},
  extras: ({ script }) => ({
    providers: `
  - { id: site-r, name: r, kind: openai, base_url: "${script.url}/r/v1", api_key_env: CALLS_KEY }`,
    models: `
  - id: ${MODEL}
    name: resold
    context_length: 128000
    max_output: 8192
    endpoints:
      - { provider: site-r, upstream_model: resold, price: { input: "2.5", output: "0.001" } }
  - id: calls/marked
    name: marked
    context_length: 128000
    max_output: 8192
    markup_bps: 400
    endpoints:
      - { provider: site-r, upstream_model: marked, price: { input: "2.5", output: "0.001" } }`,
  }),
});

interface Setup {
  readonly parent: Org;
  readonly token: string;
}
let pool: Pool;
let setup: Setup;

async function send<T>(method: string, path: string, key: string, body?: object): Promise<T> {
  const reply = await fetch(`${world().gateway.base_url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  expect(reply.ok, text).toBe(true);
  return JSON.parse(text) as T;
}

beforeAll(async () => {
  pool = createPool(world().database_url, { max: 3 });
  const context = staffContext(pool);
  const parent = await world().org();
  await changeTerms(context, parent.org_id, { kind: 'reseller' });
  const email = 'owner@reseller.example';
  const { password } = await createPerson(context, { email, org_id: parent.org_id, role: 'owner' });
  const login = { email, password: password as string, transport: 'bearer' };
  const { token } = await send<{ token: string }>('POST', '/v1/auth/login', '', login);
  setup = { parent, token };
  const usage = usageOf(1_000, 0);
  world().script.on('resold', 'r', refuse(200, wholeAnswer('resold', { usage })));
}, 120_000);
afterAll(() => pool.end());

const tier = (name: string, markup_bps: number) =>
  send<{ id: string }>('POST', '/v1/reseller/tiers', setup.token, { name, markup_bps });

/** An organization with keys that is a customer, on `tier_id`. */
async function child(tier_id: string | null): Promise<Org> {
  const org = await world().org();
  await pool.query({
    name: '',
    text: `update org set kind = 'child', parent_org_id = $2, reseller_tier_id = $3 where id = $1`,
    values: [org.org_id, setup.parent.org_id, tier_id],
  });
  return org;
}

/** What a call costs that uses 1,000 tokens of the prompt. */
async function costOf(org: Org): Promise<number> {
  const reply = await world().chat(org.live_key, bodyOf(MODEL, 'Hi')).reply;
  expect(reply.status, JSON.stringify(reply)).toBe(200);
  const { meter, charged } = await world().ended(org, idOf(reply));
  expect(charged).toBe(meter?.cost);
  return charged;
}

const priceOf = async (key: string) =>
  (await send<{ pricing_from: { input: number } }>('GET', `/v1/models/${MODEL}`, key)).pricing_from.input;

test('a list price of 2500 nano and a tier of 1250 bps are 2813 nano, and 1,000 units cost 2813 where the catalog says 2500', async () => {
  const org = await child((await tier('Standard', 1_250)).id);
  await eventually('the key knows the tier', async () => (await priceOf(org.live_key)) === 2.813);
  expect(await costOf(org)).toBe(2_813);
  expect(await priceOf(setup.parent.live_key)).toBe(2.5);
  expect(await costOf(setup.parent)).toBe(2_500);
});

test('a bill at a tier recomputes from its own price version, which names the price of the catalog', async () => {
  const org = await child((await tier('Recomputed', 777)).id);
  await eventually('the key knows the tier', async () => (await priceOf(org.live_key)) > 2.5);
  const reply = await world().chat(org.live_key, bodyOf(MODEL, 'Hi')).reply;
  const { meter } = await world().ended(org, idOf(reply));
  const shown = await send<{
    cost: { lines: { unit_price_nano: number; units: number; micro_usd: number }[] };
  }>(...(['GET', `/v1/generation/${idOf(reply)}`, org.live_key] as const));
  const [input] = shown.cost.lines;
  // 2500 × 1.0777 = 2694.25
  expect(input).toMatchObject({ unit_price_nano: 2_694, units: 1_000, micro_usd: 2_694 });
  expect(meter?.cost).toBe(2_694);
  // A reader of the answer learns neither the tier nor what others pay.
  expect(JSON.stringify(shown)).not.toContain('2500');
  const { rows } = await pool.query<{ base: string; use: string }>({
    name: '',
    text: `select price.content ->> 'base' as base, price.use from ledger.meter m
             join catalog.price_version price using (price_no) where m.book_id = $1`,
    values: [org.live_book_id],
  });
  expect(rows).toEqual([{ base: expect.stringMatching(/^pv_/), use: 'tier:777 standard' }]);
});

test('a change of the tier is paid by calls that are held afterwards, and not by one that was held before', async () => {
  const { id } = await tier('Moving', 1_000);
  const org = await child(id);
  await eventually('the key knows the tier', async () => (await priceOf(org.live_key)) === 2.75);
  let answer = () => {};
  world().script.on('resold', 'r', (response, received) => {
    answer = () => refuse(200, wholeAnswer('resold', { usage: usageOf(1_000, 0) }))(response, received);
  });
  const seen = world().script.received('resold').length;
  const { reply } = world().chat(org.live_key, bodyOf(MODEL, 'Hi'));
  await eventually('the call is at its provider', () => world().script.received('resold').length > seen);
  await send('PATCH', `/v1/reseller/tiers/${id}`, setup.token, { markup_bps: 2_000 });
  await eventually('the key knows the new tier', async () => (await priceOf(org.live_key)) === 3);
  answer();
  const before = await world().ended(org, idOf(await reply));
  expect(before.charged).toBe(2_750);
  world().script.on('resold', 'r', refuse(200, wholeAnswer('resold', { usage: usageOf(1_000, 0) })));
  expect(await costOf(org)).toBe(3_000);
});

test('a customer is shown one price, and neither what the tier nor what the catalog adds to it', async () => {
  const org = await child((await tier('Shown', 1_000)).id);
  interface Shown {
    readonly markup_bps: number;
    readonly pricing_from: { readonly input: number };
  }
  const shown = (key: string) => send<Shown>('GET', '/v1/models/calls/marked', key);
  await eventually(
    'the key knows the tier',
    async () => (await shown(org.live_key)).pricing_from.input > 2.6,
  );
  // 2500 × 1.04 × 1.1
  expect(await shown(org.live_key)).toMatchObject({ markup_bps: 0, pricing_from: { input: 2.86 } });
  const endpoints = await send('GET', '/v1/models/calls/marked/endpoints', org.live_key);
  expect(JSON.stringify(endpoints)).toContain('"markup_bps":0');
  expect(JSON.stringify(endpoints)).not.toContain('400');
  expect(await shown(setup.parent.live_key)).toMatchObject({ markup_bps: 400, pricing_from: { input: 2.6 } });
});

test('a price of the catalog is never below its own at a tier, and the same tier makes the same version in every process', async () => {
  const one = await loadCatalog(pool, [committedCatalog], {
    formats: builtIn.catalog,
    insecure_upstreams: false,
  });
  const other = await loadCatalog(pool, [committedCatalog], {
    formats: builtIn.catalog,
    insecure_upstreams: false,
  });
  const [a, b] = await Promise.all([catalogAt(one, 333), catalogAt(other, 333)]);
  let compared = 0;
  for (const [id, { price }] of a.endpoints) {
    expect(b.endpoints.get(id)?.price).toEqual(price);
    const base = one.endpoints.get(id)?.price;
    for (const [kind, rate] of Object.entries(price.rates)) {
      expect(rate).toBeGreaterThanOrEqual(base?.rates[kind as 'input'] as number);
      compared++;
    }
  }
  expect(compared).toBeGreaterThan(100);
});
