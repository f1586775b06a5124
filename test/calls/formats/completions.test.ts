// The completions dialect on endpoints that have its path, beside those that are sent a chat.
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { checkCompletionsStream } from '../../grammar/completions.ts';
import { errorOf, eventsOf, type Json, open, type Reply, svcOf } from '../caller.ts';
import { INPUT_MICRO, idOf, type Org, OUTPUT_MICRO, priceOf, useWorld } from '../world.ts';

const COPIES = 30;
const PATH = '/v1/completions';

const provider = (id: string, base: string) => `
  - id: ${id}
    name: ${id}
    kind: openai
    base_url: ${base}
    api_key_env: CALLS_KEY
    flags: [completions_path]
    data_policy: { trains: false, retention_days: 0, zdr: true }`;
const endpoint = (at: string, upstream: string) => `
      - { provider: ${at}, upstream_model: ${upstream}, cancel_billing: stops, price: { input: "${INPUT_MICRO}", output: "${OUTPUT_MICRO}" } }`;
const model = (kind: string, n: number, at: readonly string[]) => `
  - id: base/${kind}-${n}
    name: ${kind} ${n}
    context_length: 128000
    max_output: 8192
    endpoints:${at.map((each) => endpoint(each, `${kind}-${n}`)).join('')}`;
const kinds = { raw: ['path-a'], both: ['path-a', 'sim-a'], two: ['path-s', 'path-a'] } as const;

const world = useWorld({
  models: { chat: 4 },
  extras: ({ sim, script }) => ({
    providers: provider('path-a', `${sim.url}/v1`) + provider('path-s', `${script.url}/s/v1`),
    models: Object.entries(kinds)
      .flatMap(([kind, at]) => Array.from({ length: COPIES }, (_, n) => model(kind, n, at)))
      .join(''),
  }),
});

const taken = { raw: 0, both: 0, two: 0 };
function fresh(kind: keyof typeof kinds): { id: string; upstream: string } {
  const upstream = `${kind}-${taken[kind]++}`;
  return { id: `base/${upstream}`, upstream };
}

function post(org: Org, body: object, headers: Record<string, string> = {}): Promise<Reply> {
  const authorization = `Bearer ${org.live_key}`;
  const options = { path: PATH, body: JSON.stringify(body), headers: { authorization, ...headers } };
  return open(world().gateway.base_url, options).reply;
}

const callsOf = (upstream: string) => world().sim.calls.filter((call) => call.model === upstream);
const codesOf = (reply: Reply) => ((svcOf(reply)?.['warnings'] ?? []) as Json[]).map(({ code }) => code);
const first = (...order: string[]) => ({ svc: { route: { providers: { order } } } });

/** Text and finish by choice, whole or streamed. */
function saidOf(reply: Reply): [string, unknown][] {
  const said: [string, unknown][] = [];
  const events = reply.text.startsWith('{') ? [JSON.parse(reply.text) as Json] : eventsOf(reply.text);
  for (const event of events) {
    for (const { index, text, finish_reason } of (event['choices'] ?? []) as Json[]) {
      said[index] ??= ['', null];
      const choice = said[index] as [string, unknown];
      choice[0] += text;
      choice[1] = finish_reason ?? choice[1];
    }
  }
  return said;
}

async function expectCharged(org: Org, reply: Reply, upstream: string): Promise<number> {
  const reported = callsOf(upstream).at(-1)?.reported;
  const cost = priceOf(reported?.prompt_tokens ?? 0, reported?.completion_tokens ?? 0);
  expect(svcOf(reply)?.['cost'].total_micro_usd).toBe(cost);
  expect(await world().ended(org, idOf(reply))).toMatchObject({
    charged: cost,
    row: { dialect_in: 'completions' },
  });
  return cost;
}

describe.concurrent('an endpoint with the path', () => {
  test.each([true, false])('goes on with several prompts, all paid by usage (stream %s)', async (stream) => {
    const org = await world().org();
    const { id, upstream } = fresh('raw');
    const prompt = ['sim: tokens=3', 'sim: tokens=4'];
    const reply = await post(org, {
      model: id,
      prompt,
      n: 2,
      echo: true,
      max_tokens: 32,
      stream,
      own: [1e2],
    });
    expect(reply.status).toBe(200);
    if (stream) expect(checkCompletionsStream(reply.text, { include_usage: false })).toEqual([]);
    const words = 'lorem ipsum dolor magna ';
    const [one, two] = prompt.map((text) => [text + words, 'stop']);
    expect(saidOf(reply)).toEqual([one, one, two, two]);
    expect(codesOf(reply)).toEqual([]);
    expect(callsOf(upstream)[0]?.body).toMatchObject({ prompt, n: 2, echo: true, own: [100] });
    expect(callsOf(upstream)[0]?.completion_tokens).toBe(16);
    await expectCharged(org, reply, upstream);
  });

  test('takes prompts as token ids, a suffix and best_of, which is paid', async () => {
    const org = await world().org();
    const { id, upstream } = fresh('raw');
    const body = { model: id, prompt: [[1, 2], [3]], suffix: 'z', best_of: 3, logprobs: 0, max_tokens: 2 };
    const reply = await post(org, body);
    expect([reply.status, saidOf(reply).length]).toEqual([200, 2]);
    const { model: _, ...sent } = (callsOf(upstream).at(0)?.body ?? {}) as Json;
    expect(sent).toEqual({ prompt: body.prompt, suffix: 'z', best_of: 3, logprobs: 0, max_tokens: 2 });
    expect(await expectCharged(org, reply, upstream)).toBe(priceOf(3, 12));
  });

  test('asks usage of every stream and gives its chunk to those who asked', async () => {
    const org = await world().org();
    for (const include_usage of [true, false]) {
      const { id, upstream } = fresh('raw');
      const body = { model: id, prompt: 'sim: tokens=5', stream: true, stream_options: { include_usage } };
      const reply = await post(org, body);
      expect(checkCompletionsStream(reply.text, { include_usage })).toEqual([]);
      expect(callsOf(upstream)[0]?.body).toMatchObject({ stream_options: { include_usage: true } });
      expect(eventsOf(reply.text).at(-1)?.['usage']?.completion_tokens).toBe(include_usage ? 5 : undefined);
      await expectCharged(org, reply, upstream);
    }
  });

  test('holds for max(n, best_of) answers to every prompt', async () => {
    const org = await world().org(10);
    const { id } = fresh('raw');
    const required = async (more: object) => {
      const reply = await post(org, { model: id, prompt: ['a', 'b'], max_tokens: 1_000, ...more });
      expect([reply.status, errorOf(reply)?.['code']]).toEqual([402, 'insufficient_credits']);
      return errorOf(reply)?.['details'].required_micro as number;
    };
    const one = await required({ n: 1, zz: 1 });
    const answer = 1_000 * OUTPUT_MICRO;
    expect((await required({ n: 4 })) - one).toBeCloseTo(6 * answer, -2);
    expect((await required({ n: 1, best_of: 4 })) - one).toBeCloseTo(6 * answer, -2);
  });

  test('does not charge or cut an echoed prompt as output where usage is missing', async () => {
    const org = await world().org();
    const { id } = fresh('raw');
    const prompt = `${'word '.repeat(400)} sim: tokens=6 no_usage=1`;
    for (const stream of [true, false]) {
      const reply = await post(org, { model: id, prompt, echo: true, max_tokens: 8, stream });
      expect(saidOf(reply)[0]?.[1]).toBe('stop');
      expect((await world().ended(org, idOf(reply))).row).toMatchObject({
        output_tokens: 6,
        usage_source: 'estimate',
      });
    }
  });

  test.each([true, false])(
    'reads a prompt alone under a cap of 0, paid as input (stream %s)',
    async (stream) => {
      const org = await world().org();
      const { id, upstream } = fresh('raw');
      const reply = await post(org, {
        model: id,
        prompt: 'some text',
        max_tokens: 0,
        echo: true,
        logprobs: 1,
        stream,
      });
      if (stream) expect(checkCompletionsStream(reply.text, { include_usage: false })).toEqual([]);
      expect([reply.status, saidOf(reply)]).toEqual([200, [['some text', 'length']]]);
      expect(await expectCharged(org, reply, upstream)).toBe(priceOf(3, 0));
    },
  );

  test('that fails in mid-stream ends in an error and is free', async () => {
    const org = await world().org();
    const { id } = fresh('raw');
    const reply = await post(org, { model: id, prompt: 'sim: error_after=2 chunks=5', stream: true });
    expect(checkCompletionsStream(reply.text, { include_usage: false })).toEqual([]);
    expect(errorOf(reply)).toMatchObject({ request_id: idOf(reply) });
    expect((await world().ended(org, idOf(reply))).charged).toBe(0);
  });

  test('that answers with a chat is passed over for one that goes on with the text', async () => {
    const org = await world().org();
    const { id, upstream } = fresh('two');
    world().script.on(upstream, 's', (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"stop"}]}');
    });
    const reply = await post(org, { model: id, prompt: 'sim: tokens=2', ...first('path-s', 'path-a') });
    expect([reply.status, saidOf(reply)]).toEqual([200, [['lorem ipsum ', 'stop']]]);
    expect((await world().ended(org, idOf(reply))).attempts).toEqual(['error protocol', 'ok']);
  });

  test.each([true, false])(
    'gives the same answer again for the same Idempotency-Key (stream %s)',
    async (stream) => {
      const org = await world().org();
      const { id, upstream } = fresh('raw');
      const body = { model: id, prompt: 'sim: tokens=3', logprobs: 1, n: 2, stream };
      const key = { 'idempotency-key': `key-${upstream}` };
      const reply = await post(org, body, key);
      await world().ended(org, idOf(reply));
      const again = await post(org, body, key);
      expect(again.headers['x-svc-idempotent-replay']).toBe('true');
      expect(saidOf(again)).toEqual(saidOf(reply));
      if (stream) expect(checkCompletionsStream(again.text, { include_usage: false })).toEqual([]);
      else expect(JSON.parse(again.text)['choices']).toEqual(JSON.parse(reply.text)['choices']);
      expect(callsOf(upstream)).toHaveLength(1);
    },
  );
});

describe.concurrent('a model on endpoints with and without the path', () => {
  test('is called where a call can be expressed, whatever the order asked for', async () => {
    const org = await world().org();
    for (const more of [
      { prompt: ['sim: tokens=2', 'b'] },
      { prompt: [7] },
      { echo: true },
      { suffix: 's' },
    ]) {
      const { id, upstream } = fresh('both');
      const reply = await post(org, {
        model: id,
        prompt: 'a',
        max_tokens: 9,
        ...more,
        ...first('sim-a', 'path-a'),
      });
      expect([reply.status, reply.headers['x-svc-provider'], codesOf(reply)]).toEqual([200, 'path-a', []]);
      expect(callsOf(upstream)[0]?.body).toHaveProperty('prompt');
    }
  });

  test('moves from one to the other, and tells where the prompt became a message', async () => {
    const org = await world().org();
    const { id, upstream } = fresh('both');
    const body = {
      model: id,
      prompt: `sim: mark=${upstream} fail_first=1 tokens=2`,
      max_tokens: 9,
      stream: true,
    };
    const reply = await post(org, { ...body, ...first('path-a', 'sim-a') });
    expect(checkCompletionsStream(reply.text, { include_usage: false })).toEqual([]);
    expect(saidOf(reply)).toEqual([['lorem ipsum ', 'stop']]);
    expect(callsOf(upstream).map(({ body }) => 'prompt' in (body as Json))).toEqual([true, false]);
    expect(codesOf(reply)).toEqual(['completion_as_chat']);
    await expectCharged(org, reply, upstream);
  });

  test('prefers the path where nothing else decides', async () => {
    const org = await world().org();
    for (let i = 0; i < 6; i++) {
      const reply = await post(org, { model: fresh('both').id, prompt: 'a', max_tokens: 2 });
      expect(reply.headers['x-svc-provider']).toBe('path-a');
    }
  });
});

test('without the path several prompts and token ids are refused also where losses are let go', async () => {
  const org = await world().org();
  const { id } = world().model('chat');
  for (const prompt of [
    ['a', 'b'],
    [1, 2],
  ]) {
    const reply = await post(org, { model: id, prompt, svc: { compat: 'drop' } });
    const { code, param } = errorOf(reply) as Json;
    expect([reply.status, code, param]).toEqual([400, 'unsupported_parameter', 'prompt']);
  }
  const shown = await post(org, { model: id, prompt: 'sim: tokens=2', svc: { compat: 'strict' } });
  expect([shown.status, errorOf(shown)?.['param']]).toEqual([400, 'prompt']);
});

test('the official client gets texts, log probabilities and cost, whole and streamed', async () => {
  const org = await world().org();
  const client = new OpenAI({
    apiKey: org.live_key,
    baseURL: `${world().gateway.base_url}/v1`,
    maxRetries: 0,
  });
  const asked = {
    model: fresh('raw').id,
    prompt: ['sim: tokens=2', 'sim: tokens=2'],
    echo: true,
    logprobs: 1,
  };
  const reply = await client.completions.create(asked);
  expect(reply.choices.map(({ text }) => text)).toEqual(asked.prompt.map((text) => `${text}lorem ipsum `));
  expect(reply.choices[1]?.logprobs?.tokens?.join('')).toBe(reply.choices[1]?.text);
  expect(reply).toMatchObject({
    id: reply._request_id,
    svc: { cost: { total_micro_usd: expect.any(Number) } },
  });
  const stream = await client.completions.create({
    ...asked,
    stream: true,
    stream_options: { include_usage: true },
  });
  const texts = ['', ''];
  const usages: number[] = [];
  for await (const chunk of stream) {
    for (const { index, text } of chunk.choices) texts[index] += text;
    if (chunk.usage) usages.push(chunk.usage.completion_tokens);
  }
  expect(texts).toEqual(reply.choices.map(({ text }) => text));
  expect(usages).toEqual([reply.usage?.completion_tokens]);
});
