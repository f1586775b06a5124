// POST /v1/svc/dry_run (docs/routing.md): the decision of a call, made by the same code, that costs nothing.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { errorOf, type Json, open, type Reply } from './caller.ts';
import { idOf, type Org, useWorld } from './world.ts';

const endpoint = (provider: string, upstream_model: string, price: string, billing: string) => `
      - provider: ${provider}
        upstream_model: ${upstream_model}
        region: local
        cancel_billing: ${billing}
        price: ${price}`;

// Prices far apart, so that the order does not hang on the request id; each provider bills another way.
const world = useWorld({
  models: { chat: 12 },
  extras: () => ({
    providers: '',
    models: `
  - id: dry/three
    name: Three
    context_length: 64000
    max_output: 8192
    capabilities: { tools: true, json_schema: true, vision: true, cache: true, reasoning: true }
    endpoints:${endpoint('sim-a', 'dry-a', '{ input: "2", output: "8" }', 'stops')}${endpoint(
      'sim-b',
      'dry-b',
      '{ input: "1", output: "3", request: "0.002" }',
      'bills_full',
    )}${endpoint('sim-x', 'dry-x', '{ input: "5", output: "30", cache_read: "0.5" }', 'stops')}
  - id: dry/draws
    name: Draws
    context_length: 64000
    max_output: 8192
    modalities: { in: [text], out: [text, image] }
    capabilities: { parameters: [modalities] }
    endpoints:${endpoint('sim-g', 'dry-g', '{ input: "1", output: "3", image_output: "30" }', 'stops')}`,
  }),
});

function post(key: string, path: string, body: object, headers: Record<string, string> = {}) {
  return open(world().gateway.base_url, {
    path,
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${key}`, ...headers },
  }).reply;
}

const dryRun = (key: string, body: object, headers = {}) => post(key, '/v1/svc/dry_run', body, headers);
const generate = (key: string, body: object) => post(key, '/v1/svc/generate', body, { 'x-svc-debug': '1' });

function bodyOf(model: string, text: string, more: object = {}): object {
  return { model, messages: [{ role: 'user', content: text }], ...more };
}

const plan = (reply: Reply): Json => JSON.parse(reply.text) as Json;
const fieldOf = (trace: string, name: string) => new RegExp(`${name}=([^;]*)`).exec(trace)?.[1];

async function expectNothingHappened(org: Org): Promise<void> {
  const rows = await world().db.query('select 1 from request_row where org_id = $1', [org.org_id]);
  const entries = await world().db.query(
    'select 1 from ledger.entry where book_id = $1 and request_id is not null',
    [org.live_book_id],
  );
  const holds = await world().db.query('select 1 from ledger.hold where book_id = $1', [org.live_book_id]);
  expect([rows.rowCount, entries.rowCount, holds.rowCount]).toEqual([0, 0, 0]);
}

test('a model that draws unasked is held for as if it were asked, unless only text is', async () => {
  const org = await world().org();
  const reserve = async (output: object): Promise<number> => {
    const body = bodyOf('dry/draws', 'Hi', { generation: { max_tokens: 1_000 }, ...output });
    return plan(await dryRun(org.live_key, body))['reserve_micro'] as number;
  };
  const drawn = await reserve({ output: { modalities: ['text', 'image'] } });
  expect(drawn).toBeGreaterThanOrEqual(30 * 1_000);
  expect(await reserve({})).toBeGreaterThanOrEqual(30 * 1_000);
  expect(await reserve({ output: { modalities: ['text'] } })).toBeLessThan(drawn / 5);
});

describe('the answer', () => {
  test('names plan, exclusions, reserve, price version, losses and trace, and nobody is called', async () => {
    const org = await world().org();
    const body = bodyOf('dry/three', 'Hi', {
      generation: { max_tokens: 1_000, top_k: 5 },
      route: { sort: 'price', require: { zdr: true } },
    });
    const before = world().sim.calls.length;
    const reply = await dryRun(org.live_key, body, { 'idempotency-key': 'x'.repeat(300) });
    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({ 'x-svc-cost-micro': '0', 'svc-version': '2026-09-09' });
    const reported = plan(reply);
    expect(reported['plan'].map(({ provider }: Json) => provider)).toEqual(['sim-a', 'sim-x']);
    expect(reported['plan'][0]).toEqual({
      endpoint_id: expect.stringMatching(/^ep_/),
      ...{ provider: 'sim-a', region: 'local', model: 'dry/three', score: 1, reason: 'score' },
      est_cost_micro: expect.any(Number),
    });
    expect(reported['plan'][1].est_cost_micro).toBeGreaterThan(reported['plan'][0].est_cost_micro);
    expect(reported['excluded']).toEqual([
      { endpoint_id: expect.stringMatching(/^ep_/), provider: 'sim-b', reason: 'zdr' },
    ]);
    // The most expensive of the plan: 1,000 tokens at 30 micro-USD and the prompt.
    expect(reported['reserve_micro']).toBeGreaterThan(30_000);
    expect(reported['price_version']).toMatch(/^pv_/);
    expect(reported['warnings']).toEqual([
      { code: 'sampling_dropped', param: 'generation.top_k', message: expect.any(String) },
    ]);
    expect(reported['trace']).toMatch(/^v1; policy=default; rule=-; sort=price; .*; reserve=\d+$/);
    expect(reported['trace']).not.toMatch(/try=|win=/);
    expect(fieldOf(reported['trace'], 'reserve')).toBe(String(reported['reserve_micro']));
    expect(world().sim.calls.length).toBe(before);
    await expectNothingHappened(org);
  });

  test('too little credit is a warning beside the plan; the call itself is refused', async () => {
    const org = await world().org(40);
    for (const generation of [{ max_tokens: 1_000 }, {}]) {
      const body = bodyOf('dry/three', 'Hi', { generation, route: { providers: { only: ['sim-x'] } } });
      const reply = await dryRun(org.live_key, body);
      expect(reply.status).toBe(200);
      expect(plan(reply)['reserve_micro']).toBeGreaterThan(40);
      expect(plan(reply)['plan']).toHaveLength(1);
      expect(plan(reply)['warnings']).toContainEqual(
        expect.objectContaining({ code: 'insufficient_credits' }),
      );
      expect((await generate(org.live_key, body)).status).toBe(402);
    }
  });

  test('a cap that credit sets is the same as in the answer of the call', async () => {
    const org = await world().org(20_000);
    const body = bodyOf('dry/three', 'sim: tokens=3', { route: { providers: { only: ['sim-x'] } } });
    const reported = plan(await dryRun(org.live_key, body));
    const call = await generate(org.live_key, body);
    const capped = reported['warnings'].find(({ code }: Json) => code === 'max_tokens_capped');
    expect(capped).toBeDefined();
    expect(plan(call)['warnings']).toContainEqual(capped);
  });

  test.each<[string, object, number, string]>([
    ['an unknown field', { max_tokens: 5 }, 400, 'invalid_request'],
    ['an unknown model', { model: 'no/such' }, 404, 'model_not_found'],
    ['no endpoint left', { route: { providers: { only: ['nobody'] } } }, 400, 'no_endpoint_available'],
    ['a cap no endpoint has', { generation: { max_tokens: 99_999 } }, 400, 'invalid_request'],
  ])('is the refusal of the call, without its row: %s', async (_name, more, status, code) => {
    const org = await world().org();
    const body = bodyOf('dry/three', 'Hi', more);
    const reply = await dryRun(org.live_key, body);
    const call = await generate(org.live_key, body);
    for (const refused of [reply, call]) {
      expect([refused.status, errorOf(refused)?.['code']]).toEqual([status, code]);
    }
    expect(errorOf(reply)?.['param']).toBe(errorOf(call)?.['param']);
    expect(errorOf(reply)?.['excluded_by']).toEqual(errorOf(call)?.['excluded_by']);
    await world().ended(org, idOf(call));
    const rows = await world().db.query('select request_id from request_row where org_id = $1', [org.org_id]);
    expect(rows.rows).toEqual([{ request_id: idOf(call) }]);
  });

  test('bodies that are no JSON, and callers without a key, get what calls get', async () => {
    const org = await world().org();
    const send = (body: string, key: string) =>
      open(world().gateway.base_url, {
        path: '/v1/svc/dry_run',
        body,
        headers: { authorization: `Bearer ${key}` },
      }).reply;
    expect(errorOf(await send('{', org.live_key))?.['code']).toBe('invalid_json');
    expect(errorOf(await send('[]', org.live_key))?.['code']).toBe('invalid_request');
    expect((await send('{}', 'svc-live-nothing')).status).toBe(401);
    await expectNothingHappened(org);
  });
});

test('a call right after is tried where the dry run said, and holds no more', async () => {
  const org = await world().org(50_000_000);
  const options = fc.record({
    words: fc.integer({ min: 1, max: 4_000 }),
    max_tokens: fc.option(fc.integer({ min: 1, max: 8_192 })),
    candidates: fc.constantFrom(1, 1, 3),
    sort: fc.constantFrom('price' as const, undefined),
    only: fc.option(fc.subarray(['sim-a', 'sim-b', 'sim-x'], { minLength: 1 })),
    zdr: fc.boolean(),
    cached: fc.boolean(),
    stream: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(options, async ({ words, max_tokens, candidates, sort, only, zdr, cached, stream }) => {
      if (zdr && only?.length === 1 && only[0] === 'sim-b') return;
      const body = bodyOf('dry/three', `${'word é '.repeat(words)} sim: tokens=2`, {
        generation: { max_tokens, candidates },
        route: { sort, require: { zdr }, providers: { only } },
        cache: cached ? { ttl: '5m' } : null,
        stream,
      });
      const dry = await dryRun(org.live_key, body);
      const call = await generate(org.live_key, body);
      expect(dry.status).toBe(call.status);
      // A provider that cannot give several candidates is excluded; the refusal is the same.
      expect(errorOf(dry)?.['code']).toBe(errorOf(call)?.['code']);
      if (dry.status !== 200) return;
      const reported = plan(dry);
      expect([call.status, call.headers['x-svc-attempts']]).toEqual([200, '1']);
      expect(call.headers['x-svc-endpoint-id']).toBe(reported['plan'][0].endpoint_id);
      expect(call.headers['x-svc-price-version']).toBe(reported['price_version']);
      const trace = call.headers['x-svc-route-trace'] ?? '';
      expect(fieldOf(trace, 'plan')).toBe(fieldOf(reported['trace'], 'plan'));
      expect(Number(fieldOf(trace, 'reserve'))).toBeLessThanOrEqual(reported['reserve_micro']);
      const cost = Number((stream ? call.trailers : call.headers)['x-svc-cost-micro']);
      expect(cost).toBeLessThanOrEqual(reported['reserve_micro']);
    }),
    { numRuns: 30 },
  );
});

describe('limits', () => {
  test('a dry run counts as a request a minute', async () => {
    const org = await world().org(1_000_000, [{ name: 'slow', rpm: 3 }]);
    const key = org.keys[0]?.secret as string;
    const body = bodyOf('dry/three', 'Hi');
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push((await dryRun(key, body)).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
  });

  test('and as nothing else: neither tokens nor a place among the running calls', async () => {
    const org = await world().org(1_000_000, [{ name: 'narrow', tpm: 10_000, concurrency: 1 }]);
    const key = org.keys[0]?.secret as string;
    const body = bodyOf('dry/three', 'sim: tokens=20 chunks=10 chunk_ms=50');
    const running = open(world().gateway.base_url, {
      path: '/v1/svc/generate',
      body: JSON.stringify({ ...body, stream: true }),
      headers: { authorization: `Bearer ${key}` },
    });
    await running.until((text) => text.includes('ipsum'));
    const left: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      const reply = await dryRun(key, body);
      expect(reply.status).toBe(200);
      left.push(reply.headers['x-ratelimit-limit-tokens']);
    }
    expect(left).toEqual(['10000', '10000', '10000']);
    const long = bodyOf('dry/three', 'word '.repeat(9_000));
    for (let i = 0; i < 3; i++) expect((await dryRun(key, long)).status).toBe(200);
    await running.reply;
    expect((await generate(key, body)).status).toBe(200);
  });
});
