// Counting tokens: free, by the provider or a tokenizer, else an estimate that is marked as one.
import { countTokens as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, describe, expect, test } from 'vitest';
import { startBedrockSim } from '../../sim/providers/index.ts';
import { errorOf, type Json, open, type Reply } from '../caller.ts';
import { eventually, type Org, useWorld } from '../world.ts';

const bedrock = await startBedrockSim({ api_keys: ['sk-calls-one', 'sk-calls-two'] });
afterAll(() => bedrock.close());

const provider = (id: string, kind: string, base: string) => `
  - id: ${id}
    name: ${id}
    kind: ${kind}
    base_url: ${base}
    api_key_env: [CALLS_KEY]
    regions: [us-east-1]
    data_policy: { trains: false, retention_days: 0, zdr: true }`;
const model = (id: string, provider: string, upstream: string, more = '', reasoning = true) => `
  - id: count/${id}
    name: ${id}
    context_length: 16000
    max_output: 8192
    capabilities: { tools: true, json_schema: true, vision: true, cache: true, reasoning: ${reasoning} }${more}
    endpoints:
      - provider: ${provider}
        upstream_model: ${upstream}
        region: us-east-1
        price: { input: "1", output: "2" }`;

const world = useWorld({
  models: {},
  extras: ({ sim }) => ({
    providers:
      provider('count-r', 'openai-responses', `${sim.url}/v1`) + provider('count-b', 'bedrock', bedrock.url),
    models: [
      model('tokenizer', 'sim-a', 'count-o', '\n    tokenizer: o200k_base', false),
      model('reasoner', 'sim-a', 'count-t', '\n    tokenizer: o200k_base'),
      model('plain', 'sim-a', 'count-plain'),
      model('messages', 'sim-x', 'count-x'),
      model('responses', 'count-r', 'count-r'),
      model('gemini', 'sim-g', 'gemini-count'),
      model('bedrock', 'count-b', 'eu.anthropic.claude-sim-v1:0'),
      model('bedrock-other', 'count-b', 'amazon.nova-sim'),
    ].join(''),
  }),
});

type Way = 'native' | 'messages' | 'responses';
const paths: Record<Way, string> = {
  native: '/v1/svc/count_tokens',
  messages: '/v1/messages/count_tokens',
  responses: '/v1/responses/input_tokens',
};

function post(key: string, path: string, body: object, headers: Record<string, string> = {}): Promise<Reply> {
  return open(world().gateway.base_url, {
    path,
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${key}`, ...headers },
  }).reply;
}

function bodyOf(way: Way, id: string, content: string, more: object = {}): object {
  const turns = [{ role: 'user', content }];
  return way === 'responses' ? { model: id, input: turns, ...more } : { model: id, messages: turns, ...more };
}

const count = (way: Way, key: string, id: string, text: string, more: object = {}) =>
  post(key, paths[way], bodyOf(way, id, text, more));
const reported = (reply: Reply): Json => JSON.parse(reply.text) as Json;

async function expectNothingHappened(org: Org): Promise<void> {
  for (const text of [
    'select 1 from request_row where org_id = $1',
    'select 1 from request_attempt a join request_row r using (request_id) where r.org_id = $1',
  ])
    expect((await world().db.query(text, [org.org_id])).rowCount).toBe(0);
  const holds = await world().db.query('select 1 from ledger.hold where book_id = $1', [org.live_book_id]);
  expect(holds.rowCount).toBe(0);
}

const TEXT = 'How many tokens are there in this short question about rivers?';

describe('a bundled tokenizer', () => {
  test.each(['native', 'messages', 'responses'] as const)('counts plain text exactly: %s', async (way) => {
    const org = await world().org();
    const before = [world().sim.calls.length, world().sim.counts.length];
    const reply = await eventually(
      'the tokenizer is loaded',
      async () => {
        const reply = await count(way, org.live_key, 'count/tokenizer', TEXT, { stream: true });
        return reply.headers['x-svc-count-source'] === 'exact' ? reply : null;
      },
      30_000,
    );
    const tokens = o200k(TEXT) + 1 + 3 + 3;
    expect(reply.status).toBe(200);
    const more = {
      native: { object: 'token_count', model: 'count/tokenizer', source: 'exact', tokenizer: 'o200k_base' },
      responses: { object: 'response.input_tokens' },
      messages: {},
    };
    expect(reported(reply)).toEqual({ ...more[way], input_tokens: tokens });
    expect(reply.headers).toMatchObject({ 'x-svc-cost-micro': '0', 'content-type': 'application/json' });
    expect([world().sim.calls.length, world().sim.counts.length]).toEqual(before);
    await expectNothingHappened(org);
  });

  test('of a model that reasons is an estimate, for what stands around its messages is not published', async () => {
    const org = await world().org();
    const reply = await eventually(
      'the tokenizer is loaded',
      async () => {
        const reply = await count('native', org.live_key, 'count/reasoner', TEXT);
        return reported(reply)['tokenizer'] === 'o200k_base' ? reply : null;
      },
      30_000,
    );
    expect(reported(reply)).toMatchObject({ source: 'estimate', input_tokens: o200k(TEXT) + 1 + 3 + 3 });
    expect(reply.headers['x-svc-count-source']).toBe('estimate');
  });

  test('of tools or pictures does not know the wording, so it is an estimate', async () => {
    const org = await world().org();
    const tools = [{ kind: 'function', name: 'weather', schema: { type: 'object' } }];
    const image = { type: 'image', src: { url: 'https://example.com/a.png' } };
    const bodies = [
      bodyOf('native', 'count/tokenizer', TEXT, { tools }),
      {
        model: 'count/tokenizer',
        messages: [{ role: 'user', content: [{ type: 'text', text: TEXT }, image] }],
      },
    ];
    for (const body of bodies) {
      const reply = await post(org.live_key, paths.native, body);
      expect(reported(reply)).toMatchObject({ source: 'estimate', tokenizer: 'bytes-v1' });
      expect(reply.headers['x-svc-count-source']).toBe('estimate');
      expect(reported(reply)['input_tokens']).toBeGreaterThan(o200k(TEXT));
    }
  });

  test('on a megabyte of one letter keeps nobody waiting, and says that it only estimated', async () => {
    const org = await world().org();
    const text = 'a'.repeat(1_000_000);
    const long = count('native', org.live_key, 'count/tokenizer', text);
    const began = performance.now();
    const call = await world().chat(org.live_key, {
      model: 'count/plain',
      max_tokens: 8,
      messages: [{ role: 'user', content: 'sim: tokens=4' }],
    }).reply;
    const call_ms = performance.now() - began;
    const reply = await long;
    expect([reply.status, call.status]).toEqual([200, 200]);
    expect(reported(reply)['source']).toBe('estimate');
    expect(reported(reply)['input_tokens']).toBeGreaterThan(50_000);
    expect(performance.now() - began).toBeLessThan(8_000);
    expect(call_ms).toBeLessThan(4_000);
  });
});

describe('the provider', () => {
  const exact: [string, Way, string][] = [
    ['count/messages', 'messages', 'anthropic'],
    ['count/messages', 'native', 'anthropic'],
    ['count/messages', 'responses', 'anthropic'],
    ['count/responses', 'responses', 'responses'],
    ['count/responses', 'messages', 'responses'],
    ['count/gemini', 'native', 'gemini'],
    ['count/gemini', 'messages', 'gemini'],
  ];
  test.each(exact)(
    'counts for %s asked by %s exactly what the call would be charged for',
    async (id, way, family) => {
      const org = await world().org();
      const word = { messages: 'system', responses: 'instructions' }[way as string];
      const system = word === undefined ? {} : { [word]: 'Be kind.' };
      const sampling = way === 'native' ? { generation: { temperature: 0.5 } } : { temperature: 0.5 };
      const text = `${TEXT} ${way} sim: tokens=2 mark=count-${way}`;
      const more = { ...system, ...sampling };
      const reply = await count(way, org.live_key, id, text, more);
      expect([reply.status, reply.headers['x-svc-count-source']]).toEqual([200, 'exact']);
      const asked = world().sim.counts.findLast(
        (one) => one.family === family && JSON.stringify(one.body).includes(text),
      );
      expect(asked?.key_hint).toBe('-one');
      await expectNothingHappened(org);
      const path = { native: '/v1/svc/generate', messages: '/v1/messages', responses: '/v1/responses' }[way];
      const cap = way === 'messages' ? { max_tokens: 32 } : {};
      const call = await post(org.live_key, path, bodyOf(way, id, text, { ...more, ...cap }));
      expect(call.status).toBe(200);
      const usage = reported(call)['usage'] as Json;
      expect(reported(reply)['input_tokens']).toBe(usage['input_tokens']);
      if (way === 'native') expect(reported(reply)['tokenizer']).toBe('provider');
      // Further members of Anthropic's answer are only for callers who use its format.
      expect('context_management' in reported(reply)).toBe(id === 'count/messages' && way === 'messages');
    },
  );

  test('of AWS is asked where its model can be', async () => {
    const org = await world().org();
    const reply = await count('native', org.live_key, 'count/bedrock', TEXT);
    expect(reported(reply)).toMatchObject({ source: 'exact', tokenizer: 'provider' });
    expect(bedrock.counts.at(-1)?.body).toMatchObject({
      input: { converse: { messages: [{ role: 'user' }] } },
    });
    expect(reported(reply)['input_tokens']).toBe(Math.ceil(TEXT.length / 4));
    const other = await count('native', org.live_key, 'count/bedrock-other', TEXT);
    expect(reported(other)).toMatchObject({ source: 'estimate', tokenizer: 'bytes-v1' });
  });

  test.each([
    ['refuses', 'status=500'],
    ['throttles', 'retry_after=7'],
    ['breaks off', 'reset=1'],
    ['says no number', 'garbage_after=0'],
    ['does not answer in time', 'slow_headers_ms=30000'],
  ])('that %s leaves an estimate', async (_how, knob) => {
    const org = await world().org();
    const began = performance.now();
    const reply = await count('messages', org.live_key, 'count/messages', `${TEXT} sim: ${knob}`);
    expect(performance.now() - began).toBeLessThan(8_000);
    expect([reply.status, reply.headers['x-svc-count-source']]).toEqual([200, 'estimate']);
    expect(reported(reply)['input_tokens']).toBeGreaterThan(TEXT.length / 4);
    // It does not count against the health of the endpoint.
    const call = await post(
      org.live_key,
      '/v1/messages',
      bodyOf('messages', 'count/messages', 'sim: tokens=2', { max_tokens: 8 }),
    );
    expect(call.status).toBe(200);
  });

  test('sees no end user by name, and the version that calls have', async () => {
    const org = await world().org();
    const body = bodyOf('messages', 'count/messages', `${TEXT} planted`, {
      metadata: { user_id: 'user-planted' },
    });
    expect((await post(org.live_key, paths.messages, body)).headers['x-svc-count-source']).toBe('exact');
    const asked = world().sim.counts.findLast((one) => JSON.stringify(one.body).includes('planted'));
    expect(JSON.stringify(asked?.body)).not.toContain('user-planted');
    expect(asked?.headers['anthropic-version']).toBe('2023-06-01');
  });
});

describe('everything else', () => {
  test('of a test key is counted by the rule of the sandbox, as its usage is', async () => {
    const org = await world().org();
    const body = bodyOf('messages', 'count/messages', TEXT);
    const reply = await post(org.sandbox_key, paths.messages, body);
    expect(reply.headers['x-svc-count-source']).toBe('exact');
    const call = await post(org.sandbox_key, '/v1/messages', { ...body, max_tokens: 16 });
    expect(reported(reply)['input_tokens']).toBe(reported(call)['usage']['input_tokens']);
  });

  test('longer than the context is still counted', async () => {
    const org = await world().org();
    const text = 'word '.repeat(60_000);
    const call = await post(org.live_key, '/v1/svc/generate', bodyOf('native', 'count/tokenizer', text));
    expect(errorOf(call)?.['code']).toBe('context_length_exceeded');
    const reply = await eventually(
      'counted',
      async () => {
        const reply = await count('native', org.live_key, 'count/tokenizer', text);
        return reported(reply)['source'] === 'exact' ? reply : null;
      },
      30_000,
    );
    expect(reported(reply)['input_tokens']).toBe(o200k(text) + 7);
    const other = await count('native', org.live_key, 'count/plain', text);
    expect(reported(other)).toMatchObject({ source: 'estimate', tokenizer: 'bytes-v1' });
  });

  test.each<[string, Way, object, number, string]>([
    ['an unknown model', 'messages', { model: 'no/such' }, 404, 'model_not_found'],
    ['an unknown field', 'native', { max_tokens: 4 }, 400, 'invalid_request'],
    ['no messages', 'messages', { messages: [] }, 400, 'invalid_request'],
    ['a stored conversation', 'responses', { previous_response_id: 'resp_1' }, 400, 'unsupported_parameter'],
    [
      'nobody allowed',
      'native',
      { route: { providers: { only: ['nobody'] } } },
      400,
      'no_endpoint_available',
    ],
  ])('is refused as the call would be, without its row: %s', async (_what, way, more, status, code) => {
    const org = await world().org();
    const reply = await count(way, org.live_key, 'count/plain', TEXT, more);
    expect(reply.status).toBe(status);
    const error = errorOf(reply);
    expect(
      error?.['code'] ?? error?.['details']?.['error_code'] ?? reported(reply)['error']?.details?.error_code,
    ).toBe(code);
    await expectNothingHappened(org);
  });

  test('counts as a request a minute and nothing else; an Idempotency-Key means nothing', async () => {
    const org = await world().org(1_000_000, [{ name: 'slow', rpm: 3, tpm: 10, concurrency: 1 }]);
    const key = org.keys[0]?.secret as string;
    const body = bodyOf('messages', 'count/plain', 'word '.repeat(2_000));
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) {
      const reply = await post(key, paths.messages, { ...body, n: i }, { 'idempotency-key': 'same' });
      statuses.push(reply.status);
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
    await expectNothingHappened(org);
  });

  test('needs a key', async () => {
    for (const path of Object.values(paths))
      expect((await post('svc-live-nothing', path, {})).status).toBe(401);
  });
});
