// Credits and calls as a caller finds them, over a ledger with real holds and settles.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { committedCatalog, type Endpoint, loadCatalog } from '@svc/core/catalog/index.ts';
import { builtIn } from '@svc/core/inference/index.ts';
import { microUsd, newRequestId, type RequestId, silentLog } from '@svc/core/kernel/index.ts';
import { credit, type OtherUnits, openLedger } from '@svc/core/ledger/index.ts';
import { operations } from '@svc/core/operations/index.ts';
import { price } from '@svc/core/pricing/index.ts';
import { Compile } from 'typebox/compile';
import { afterAll, expect, test } from 'vitest';
import { codeOf, startHarness, type Tenant } from '../../test/registry/harness.ts';
import { rowOf } from '../../test/registry/rows.ts';

const harness = await startHarness();
const { a, b } = harness;
const ledger = await openLedger({
  url: harness.url,
  process_name: 'lookups',
  journal_dir: mkdtempSync(join(tmpdir(), 'svc-journal-')),
  log: silentLog,
});
afterAll(() => ledger.close());
const catalog = await loadCatalog(harness.pool, [committedCatalog], { formats: builtIn.catalog });
const endpoints = [...catalog.sandbox.values()].flatMap((model) => model.endpoints);
const endpoint = endpoints.find((e) => e.price.rates.output > 0) as Endpoint;
const searching = endpoints.find((e) => e.price.rates.search_unit !== undefined) as Endpoint;
const units = {
  input_tokens: 1_000,
  output_tokens: 333,
  cache_read_tokens: 70,
  cache_write_tokens: 0,
  cache_write_5m_tokens: 0,
  cache_write_1h_tokens: 0,
  reasoning_tokens: 0,
};
const bill = price({ ...units, source: 'provider' }, endpoint.price);

/** A test call through the ledger: held, settled at its price, no row written. */
async function settledCall(
  tenant: Tenant,
  cost = bill.total_micro_usd,
  { at = endpoint, other = {} }: { at?: Endpoint; other?: OtherUnits } = {},
): Promise<RequestId> {
  const request_id = newRequestId();
  const { subject } = await harness.keys.verify(tenant.test_key);
  const held = await ledger.hold({ ...subject, request_id, amount_micro_usd: microUsd(cost + 100) });
  expect(held.status).toBe('ok');
  const settled = await ledger.settle({
    ...subject,
    request_id,
    cost_micro_usd: microUsd(cost),
    model_no: 1,
    endpoint_no: at.endpoint_no,
    price_no: at.price.price_no,
    units: { ...units, other },
    estimated: false,
    outcome: 'ok',
  });
  expect(settled.status).toBe('settled');
  return request_id;
}

function accept(name: string, value: unknown): void {
  const operation = operations.find((item) => item.name === name);
  if (operation === undefined) throw new Error(`no operation ${name}`);
  expect(Compile(operation.output).Errors(value as never)).toEqual([]);
}

test('a generation is known right after the call, its cost proven line by line, before its timings are', async () => {
  const id = await settledCall(a);
  const early = await harness.call('GET', `/v1/generation/${id}`, { key: a.test_key });
  expect(early.statusCode).toBe(200);
  accept('generation.get', early.json());
  expect(early.json()).toMatchObject({
    id,
    cost: { total_micro_usd: bill.total_micro_usd, lines: bill.lines, price_version: endpoint.price.id },
    usage: { input_tokens: 1_000, output_tokens: 333, cache_read_tokens: 70 },
    resolved: { endpoint_id: endpoint.id, provider: endpoint.provider },
    timing: {},
    attempts: [],
    source: { cost: 'ledger', timing: null },
  });
  harness.request_log.write(rowOf(a, { request_id: id, environment: 'test', cost_micro: 1 }));
  await harness.request_log.flush();
  const late = (await harness.call('GET', `/v1/generation/${id}`, { key: a.test_key })).json();
  accept('generation.get', late);
  // The ledger stays the authority for cost, whatever the row says.
  expect(late.cost).toEqual(early.json().cost);
  expect(late).toMatchObject({
    timing: { ttft_ms: 210.5, duration_ms: 1_430.25, gw_overhead_ms: 2.5, upstream_ttft_ms: 208 },
    stop: { reason: 'end_turn' },
    attempts: [{ attempt: 1, provider: 'acme', outcome: 'ok', http_status: 200, ttft_ms: 208 }],
    source: { cost: 'ledger', timing: 'analytics' },
  });
});

test('searches are a line of the generation; an insured answer has none and costs nothing', async () => {
  const searched = price({ ...units, search_units: 3, source: 'provider' }, searching.price);
  expect(searched.lines.find(({ kind }) => kind === 'search_unit')?.units).toBe(3);
  const id = await settledCall(a, searched.total_micro_usd, { at: searching, other: { search_units: 3 } });
  const found = (await harness.call('GET', `/v1/generation/${id}`, { key: a.test_key })).json();
  accept('generation.get', found);
  expect(found.cost).toMatchObject({ total_micro_usd: searched.total_micro_usd, lines: searched.lines });
  const insured = await settledCall(a, 0, { other: { insured: 1 } });
  const { cost } = (await harness.call('GET', `/v1/generation/${insured}`, { key: a.test_key })).json();
  expect(cost).toMatchObject({ total_micro_usd: 0, lines: [] });
});

test("a settled call of another organization is nobody's, with or without its row", async () => {
  const id = await settledCall(b);
  for (const key of [a.key, a.test_key]) {
    const response = await harness.call('GET', `/v1/generation/${id}`, { key });
    expect([response.statusCode, codeOf(response)]).toEqual([404, 'not_found']);
  }
  expect((await harness.call('GET', `/v1/generation/${id}`, { key: b.test_key })).statusCode).toBe(200);
});

test('a cost that the metered units do not prove is shown without lines', async () => {
  const id = await settledCall(a, bill.total_micro_usd + 1);
  const { cost } = (await harness.call('GET', `/v1/generation/${id}`, { key: a.test_key })).json();
  expect(cost).toMatchObject({ total_micro_usd: bill.total_micro_usd + 1, lines: [] });
});

test('a call whose settle waits in a journal for the database costs what it will be charged, as in its row', async () => {
  const row = rowOf(a, { cost_micro: 12 });
  harness.request_log.write(row);
  await harness.request_log.flush();
  const { cost } = (await harness.call('GET', `/v1/generation/${row.request_id}`, { key: a.key })).json();
  expect(cost).toEqual({ total_micro_usd: 12, lines: [], price_version: row.price_version_id });
});

test('a rejected call has a generation that cost nothing', async () => {
  const row = rowOf(a, {
    status: 'rejected',
    http_status: 402,
    error_code: 'insufficient_credits',
    cost_micro: 0,
    attempts: 0,
    attempt_rows: [],
  });
  harness.request_log.write(row);
  await harness.request_log.flush();
  const found = (await harness.call('GET', `/v1/generation/${row.request_id}`, { key: a.key })).json();
  accept('generation.get', found);
  expect(found.cost).toMatchObject({ total_micro_usd: 0, lines: [] });
});

const chosen = {
  ...{
    policy: 'agents',
    version: 7,
    rule: '-',
    sort: 'price',
    affinity: '-' as const,
    catalog: 'c1',
    candidates: 2,
  },
  plan: [{ endpoint_id: 'ep_x', score: 1 }],
  excluded: [{ endpoint_id: 'ep_y', reason: 'region' }],
  excluded_hidden: 0,
  attempts: [{ endpoint_id: 'ep_x', outcome: 'ok', http_status: 200, ms: 12 }],
  winner: 'ep_x',
  reserve_micro: 9,
};

test('requests are found by every filter, with the lag, and completely by id', async () => {
  const tenant = await harness.makeTenant('filters');
  const rows = [
    rowOf(tenant, { model: 'm/one', cost_micro: 10 }),
    rowOf(tenant, {
      model: 'm/two',
      provider: 'other',
      status: 'error',
      error_code: 'upstream_error',
      cost_micro: 0,
    }),
    rowOf(tenant, { attempts: 2, cost_micro: 500, tags: { team: 'search' }, route_trace: chosen }),
    rowOf(tenant, { status: 'cancelled', error_code: 'client_closed', cost_micro: 30 }),
  ] as const;
  for (const row of rows) harness.request_log.write(row);
  await harness.request_log.flush();
  const find = async (query: Record<string, string>) => {
    const response = await harness.call('GET', `/v1/requests?${new URLSearchParams(query)}`, {
      key: tenant.key,
    });
    expect([response.statusCode, response.headers['x-svc-analytics-lag-s']]).toEqual([200, '0']);
    accept('requests.list', response.json());
    const found = response.json().data as { request_id: string }[];
    return found.map((item) => rows.findIndex((row) => row.request_id === item.request_id)).sort();
  };
  expect(await find({})).toEqual([0, 1, 2, 3]);
  expect(await find({ model: 'm/one' })).toEqual([0]);
  expect(await find({ provider: 'other' })).toEqual([1]);
  expect(await find({ status: 'cancelled' })).toEqual([3]);
  expect(await find({ errors_only: '1' })).toEqual([1]);
  expect(await find({ fallbacks_only: 'true' })).toEqual([2]);
  expect(await find({ min_cost_micro: '30' })).toEqual([2, 3]);
  expect(await find({ max_cost_micro: '10' })).toEqual([0, 1]);
  expect(await find({ key_id: tenant.key_id, project_id: tenant.live.id })).toEqual([0, 1, 2, 3]);
  expect(await find({ q: rows[2].request_id.toLowerCase() })).toEqual([2]);
  expect(await find({ q: '%' })).toEqual([]);
  expect(await find({ since: new Date(Date.now() + 60_000).toISOString() })).toEqual([]);
  expect(await find({ until: new Date(Date.now() + 60_000).toISOString() })).toEqual([0, 1, 2, 3]);
  const detail = await harness.call('GET', `/v1/requests/${rows[2].request_id}`, { key: tenant.key });
  accept('requests.get', detail.json());
  expect(detail.json()).toMatchObject({
    tags: { team: 'search' },
    route: chosen,
    route_trace: expect.stringMatching(
      /^v1; policy=agents\/7; rule=-; .*drop=ep_y:region; .*win=ep_x; reserve=9$/,
    ),
    usage: { source: 'provider', normalised: { input_tokens: 21 } },
    attempt_rows: [{ attempt: 1, outcome: 'ok' }],
    payload_state: 'none',
  });
  expect(detail.json().ts).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/);
});

test("a balance is that of the key's own book", async () => {
  const tenant = await harness.makeTenant('balances');
  const live = (await harness.call('GET', '/v1/credits', { key: tenant.key })).json();
  accept('credits.get', live);
  expect(live).toMatchObject({
    available_micro_usd: 0,
    display: { currency: 'USD', amount: '0.00' },
    fx_rate: '1.00000000',
  });
  const play = (await harness.call('GET', '/v1/credits', { key: tenant.test_key })).json();
  expect(play).toMatchObject({
    available_micro_usd: 100_000_000,
    granted_micro_usd: 100_000_000,
    display: { amount: '100.00' },
  });
});

test('of concurrent refills one credits, to 100 USD and not beyond, ten times a day', async () => {
  const tenant = await harness.makeTenant('refills');
  const refill = () => harness.call('POST', '/v1/credits/sandbox/refill', { key: tenant.test_key });
  for (let round = 0; round < 10; round++) {
    await settledCall(tenant, 5_000_000);
    const answers = await Promise.all([refill(), refill(), refill()]);
    for (const answer of answers) {
      expect(answer.statusCode === 200 || round > 2).toBe(true);
      if (answer.statusCode === 200) expect(answer.json().available_micro_usd).toBe(100_000_000);
    }
  }
  const entries = await harness.call('GET', '/v1/credits/ledger?kind=grant', { key: tenant.test_key });
  const granted = entries
    .json()
    .data.reduce((sum: number, e: { amount_micro_usd: number }) => sum + e.amount_micro_usd, 0);
  const balance = (await harness.call('GET', '/v1/credits', { key: tenant.test_key })).json();
  expect(granted).toBe(balance.available_micro_usd + 50_000_000);
  await settledCall(tenant, 5_000_000);
  while ((await refill()).statusCode === 200) await settledCall(tenant, 5_000_000);
  const refused = await refill();
  expect([refused.statusCode, codeOf(refused)]).toEqual([429, 'rate_limit_exceeded']);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
});

test('a refill that is asked for again under its key credits nothing more, and one of a live key is refused', async () => {
  const tenant = await harness.makeTenant('refills-again');
  const refill = (key = tenant.test_key) =>
    harness.call('POST', '/v1/credits/sandbox/refill', { key, headers: { 'idempotency-key': 'once' } });
  await settledCall(tenant, 5_000_000);
  const first = await refill();
  expect([first.statusCode, first.json().available_micro_usd]).toEqual([200, 100_000_000]);
  await settledCall(tenant, 2_000_000);
  const second = await refill();
  expect([second.statusCode, second.json()]).toEqual([200, first.json()]);
  expect(second.headers['x-svc-idempotent-replay']).toBe('true');
  const { available_micro_usd } = (await harness.call('GET', '/v1/credits', { key: tenant.test_key })).json();
  expect(available_micro_usd).toBe(98_000_000);
  const live = await refill(tenant.key);
  expect(live.statusCode).toBe(403);
});

test('the ledger is listed by kind, as JSON and as CSV with the same rows', async () => {
  const tenant = await harness.makeTenant('entries');
  const id = await settledCall(tenant);
  await credit(harness.pool, {
    book_id: tenant.org.sandbox_book_id,
    kind: 'topup',
    amount_micro_usd: microUsd(7),
    granted: false,
    expires_at: null,
    ref_type: 'topup',
    ref_id: '=cmd,"x"',
  });
  const list = await harness.call('GET', '/v1/credits/ledger?limit=2', { key: tenant.test_key });
  accept('credits.ledger', list.json());
  expect(list.json().data).toMatchObject([
    { kind: 'topup', amount_micro_usd: 7, ref_type: 'topup', request_id: null },
    { kind: 'settle', amount_micro_usd: -bill.total_micro_usd, request_id: id, ref_type: null },
  ]);
  const settles = await harness.call('GET', '/v1/credits/ledger?kind=settle', { key: tenant.test_key });
  expect(settles.json().data).toHaveLength(1);
  const csv = await harness.call('GET', '/v1/credits/ledger?limit=2&format=csv', { key: tenant.test_key });
  expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
  expect(csv.headers['content-disposition']).toMatch(
    /^attachment; filename="ledger-entries-\d{4}-\d\d-\d\d\.csv"$/,
  );
  expect(csv.headers['x-svc-next-cursor']).toBe(list.json().next_cursor);
  const lines = csv.body.split('\r\n');
  expect(lines[0]).toBe(
    'seq,kind,amount_micro_usd,request_id,ref_type,ref_id,created_at,balance_after_micro_usd,document_id,document_number',
  );
  expect(lines[1]).toContain(`topup,7,,topup,"'=cmd,""x""",`);
  expect(lines[2]).toContain(`settle,-${bill.total_micro_usd},${id},,,`);
});

test('no caller met a defect', () => {
  expect(harness.defects).toEqual([]);
});
