// Embeddings through the whole gateway: every digit of a vector, money, failover, idempotency (docs/outcomes.md).
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { packed, spelt } from '../../sim/providers/openai/vectors.ts';
import { errorOf, type Json, type Reply, svcOf } from '../caller.ts';
import { refuse } from '../upstream.ts';
import { bodyOf, idOf, useWorld } from '../world.ts';
import { answer, ask, TOKEN_MICRO, taskExtras, taskModel } from './tasks-world.ts';

const world = useWorld({ models: {}, extras: taskExtras });

const embed = async (model: string, input: unknown, more: object = {}, balance = 1_000_000) => {
  const org = await world().org(balance);
  const reply = await ask(world(), org, '/v1/embeddings', { model, input, ...more });
  return { org, reply };
};
const sentTo = (upstream: string) => world().sim.calls.find((call) => call.model === upstream)?.body as Json;
const warningsOf = (reply: Reply) => ((svcOf(reply)?.['warnings'] ?? []) as Json[]).map(({ code }) => code);
const priceOf = (tokens: number) => Math.floor(tokens * TOKEN_MICRO + 0.5);
const vectorOf = (dimensions: number, x = 0.5) => new Array<number>(dimensions).fill(x);
const order = (...providers: string[]) => ({ svc: { route: { providers: { order: providers } } } });

describe('vectors', () => {
  test.concurrent.each(['openai', 'cohere', 'jina', 'voyage'] as const)(
    'every digit that the provider of kind %s spelt reaches the caller',
    async (kind) => {
      const { id } = taskModel(kind);
      const { reply } = await embed(id, ['one text', 'another']);
      expect(reply.status).toBe(200);
      for (const text of ['one text', 'another']) {
        expect(reply.text.replaceAll(' ', '')).toContain(`[${spelt(text, 8).join(',')}]`);
      }
      expect(reply.json['object']).toBe('list');
      expect(reply.json['data'].map(({ index, object }: Json) => [object, index])).toEqual([
        ['embedding', 0],
        ['embedding', 1],
      ]);
      expect(reply.json['id']).toBeUndefined();
      expect(reply.json['model']).toBe(id);
    },
  );

  test.concurrent.each(['openai', 'cohere', 'jina', 'voyage'] as const)(
    'the official client, which asks base64, decodes what a provider of kind %s gave',
    async (kind) => {
      const org = await world().org();
      const client = new OpenAI({
        apiKey: org.live_key,
        baseURL: `${world().gateway.base_url}/v1`,
        maxRetries: 0,
      });
      const reply = await client.embeddings.create({ model: taskModel(kind).id, input: 'one text' });
      expect(reply.data[0]?.embedding).toEqual(
        spelt('one text', 8).map((number) => Math.fround(Number(number))),
      );
    },
  );

  test.concurrent('base64 that nobody asked for becomes the same numbers', async () => {
    const { id, upstream } = taskModel('script');
    const data = [{ object: 'embedding', index: 0, embedding: packed('x', 8) }];
    world().script.on(
      upstream,
      'a',
      answer({ object: 'list', data, model: 'm', usage: { prompt_tokens: 3 } }),
    );
    const { reply } = await embed(id, 'x');
    const numbers = spelt('x', 8).map((number) => Math.fround(Number(number)));
    expect(reply.json['data'][0].embedding).toEqual(numbers);
  });

  test.concurrent('vectors that come out of order are put in the order of their inputs', async () => {
    const { id, upstream } = taskModel('script');
    const data = [1, 0].map((index) => ({ index, embedding: [index + 0.5] }));
    world().script.on(upstream, 'a', answer({ data, usage: { prompt_tokens: 3 } }));
    const { reply } = await embed(id, ['a', 'b']);
    expect(reply.json['data'].map(({ embedding }: Json) => embedding)).toEqual([[0.5], [1.5]]);
  });

  test.concurrent('a Gemini endpoint gets one request for each input and its vectors come back', async () => {
    const { id } = taskModel('gemini');
    world().script.on(
      'undefined',
      'g',
      answer('{"embeddings": [{"values": [0.10, 1e-05]}, {"values": [2.0, 3]}]}'),
    );
    const { reply } = await embed(id, ['a', 'b'], { input_type: 'query', dimensions: 2 });
    expect(reply.text).toContain('"embedding":[0.10, 1e-05]');
    // Its body names no model; the path does.
    const [sent] = world().script.received(undefined as never);
    expect(sent?.path).toMatch(/^\/g\/v1beta\/models\/gemini-\d+:batchEmbedContents$/);
    const reported = ({ content, taskType, outputDimensionality }: Json) => [
      content.parts[0].text,
      taskType,
      outputDimensionality,
    ];
    expect(((sent as NonNullable<typeof sent>).body['requests'] as Json[]).map(reported)).toEqual([
      ['a', 'RETRIEVAL_QUERY', 2],
      ['b', 'RETRIEVAL_QUERY', 2],
    ]);
    expect(warningsOf(reply)).toEqual(['usage_estimated']);
  });
});

describe('money', () => {
  test.concurrent('the caller pays the tokens that the provider counted, by one line, and the row says so', async () => {
    const text = 'a text of some length that is embedded '.repeat(40);
    const { org, reply } = await embed(taskModel('openai').id, [text, text]);
    const tokens = Math.ceil((text.length * 2) / 4);
    const cost = svcOf(reply)?.['cost'] as Json;
    expect(cost['lines']).toEqual([
      { kind: 'input', units: tokens, unit_price_nano: 1_250, micro_usd: priceOf(tokens) },
    ]);
    expect(reply.json['usage']).toEqual({ prompt_tokens: tokens, total_tokens: tokens });
    expect(reply.headers['x-svc-cost-micro']).toBe(String(priceOf(tokens)));
    const ended = await world().ended(org, idOf(reply));
    expect(ended).toMatchObject({ charged: priceOf(tokens), attempts: ['ok'] });
    expect(ended.row).toMatchObject({
      status: 'ok',
      input_tokens: tokens,
      output_tokens: 0,
      dialect_in: 'embeddings',
    });
    expect(ended.meter).toMatchObject({ input: tokens, output: 0, estimated: false });
  });

  test.concurrent('what is held covers what dense text can cost, and too little credit is refused before any call', async () => {
    const { id, upstream } = taskModel('openai');
    const { reply } = await embed(id, '漢'.repeat(4_000), {}, 2_000);
    expect(reply.status).toBe(402);
    expect(errorOf(reply)).toMatchObject({ code: 'insufficient_credits' });
    expect(sentTo(upstream)).toBeUndefined();
  });

  test.concurrent('an answer without usage is counted, reported, and never above the hold', async () => {
    const text = `sim: no_usage=1 ${'word '.repeat(600)}`;
    const { org, reply } = await embed(taskModel('openai').id, text);
    expect(warningsOf(reply)).toEqual(['usage_estimated']);
    const ended = await world().ended(org, idOf(reply));
    expect(ended.charged).toBe(priceOf(Math.floor(text.length / 6)));
    expect(ended.meter).toMatchObject({ estimated: true });
  });
});

describe('token ids', () => {
  const tokens = [9906, 1917];

  test.concurrent('they go as they are to an endpoint that takes them', async () => {
    const { id, upstream } = taskModel('openai');
    const { reply } = await embed(id, tokens);
    expect(reply.json['data']).toHaveLength(1);
    expect(sentTo(upstream)['input']).toEqual(tokens);
  });

  test.concurrent('they become their text where the tokenizer of the model is known', async () => {
    const { id, upstream } = taskModel('cohere');
    const { reply } = await embed(id, [tokens, [78256, 95]]);
    expect(reply.status).toBe(200);
    expect(sentTo(upstream)['texts']).toEqual(['Hello world', '漢']);
  });

  test.concurrent('elsewhere they are refused by name', async () => {
    const { reply } = await embed(taskModel('cohere-plain').id, [tokens]);
    expect(reply.status).toBe(400);
    expect(errorOf(reply)).toMatchObject({ code: 'unsupported_parameter', param: 'input' });
    const unknown = await embed(taskModel('cohere').id, [[9906, 9_999_999]]);
    expect(errorOf(unknown.reply)).toMatchObject({ code: 'invalid_request', param: 'input[0][1]' });
  });
});

describe('dimensions', () => {
  test.concurrent.each([
    ['openai', 'dimensions'],
    ['cohere', 'output_dimension'],
    ['jina', 'dimensions'],
    ['voyage', 'output_dimension'],
  ] as const)('a provider of kind %s is asked by %s', async (kind, name) => {
    const { id, upstream } = taskModel(kind);
    const { reply } = await embed(id, 'x', { dimensions: 4 });
    expect(reply.json['data'][0].embedding).toHaveLength(4);
    expect(sentTo(upstream)[name]).toBe(4);
  });

  test.concurrent.each(['warn', 'drop', 'strict'])(
    'where an endpoint has none, %s or not, it is 400',
    async (compat) => {
      const { id, upstream } = taskModel('fixed');
      const { org, reply } = await embed(id, 'x', { dimensions: 4, svc: { compat } });
      expect(reply.status).toBe(400);
      expect(errorOf(reply)).toMatchObject({ code: 'unsupported_parameter', param: 'dimensions' });
      expect(sentTo(upstream)).toBeUndefined();
      expect((await world().ended(org, idOf(reply))).charged).toBe(0);
    },
  );

  test.concurrent('a vector of another length than asked for is no answer: the next endpoint gives it', async () => {
    const { id, upstream } = taskModel('pair');
    const data = [{ index: 0, embedding: vectorOf(8) }];
    world().script.on(upstream, 'a', answer({ data, usage: { prompt_tokens: 1 } }));
    const { reply, org } = await embed(id, 'x', { dimensions: 4, ...order('script-a') });
    expect(reply.json['data'][0].embedding).toHaveLength(4);
    expect(reply.headers['x-svc-provider']).toBe('cohere');
    expect((await world().ended(org, idOf(reply))).attempts).toEqual(['error protocol', 'ok']);
  });
});

describe('input_type', () => {
  test.concurrent.each([
    ['cohere', 'query', 'input_type', 'search_query'],
    ['cohere', 'clustering', 'input_type', 'clustering'],
    ['cohere', undefined, 'input_type', 'search_document'],
    ['jina', 'document', 'task', 'retrieval.passage'],
    ['jina', 'clustering', 'task', 'separation'],
    ['voyage', 'search_query', 'input_type', 'query'],
  ] as const)('%s hears %s as %s: %s', async (kind, input_type, name, word) => {
    const { id, upstream } = taskModel(kind);
    const { reply } = await embed(id, 'x', input_type === undefined ? {} : { input_type });
    expect(sentTo(upstream)[name]).toBe(word);
    expect(warningsOf(reply)).toEqual([]);
  });

  test.concurrent('a word that the provider lacks is dropped with a warning, and strictly it is refused', async () => {
    const { id, upstream } = taskModel('voyage');
    const { reply } = await embed(id, 'x', { input_type: 'clustering' });
    expect(warningsOf(reply)).toEqual(['input_type_dropped']);
    expect(sentTo(upstream)).not.toHaveProperty('input_type');
    const strict = await embed(taskModel('openai').id, 'x', {
      input_type: 'query',
      svc: { compat: 'strict' },
    });
    expect(errorOf(strict.reply)).toMatchObject({ code: 'unsupported_parameter', param: 'input_type' });
  });
});

describe('faults', () => {
  const good = { data: [{ index: 0, embedding: [0.5, 0.5] }], usage: { prompt_tokens: 1, total_tokens: 1 } };

  test.concurrent.each([
    ['a refusal of 503', refuse(503, { error: { message: 'busy' } }), 'error overloaded'],
    ['a page in place of JSON', answer('<html>'), 'error protocol'],
    ['an error inside a 200', answer({ error: { message: 'no', code: 500 } }), 'error stream'],
    ['too few vectors', answer({ ...good, data: [] }), 'error protocol'],
    ['one vector twice', answer({ ...good, data: [good.data[0], good.data[0]] }), 'error protocol'],
    ['null for a number', answer({ ...good, data: [{ index: 0, embedding: [null, 1] }] }), 'error protocol'],
    ['no vector at all', answer({ ...good, data: [{ index: 0, embedding: [] }] }), 'error protocol'],
    ['half a base64', answer({ ...good, data: [{ index: 0, embedding: 'AAA' }] }), 'error protocol'],
  ] as const)('after %s the next endpoint answers and only it is paid', async (_name, handler, outcome) => {
    const { id, upstream } = taskModel('pair');
    world().script.on(upstream, 'a', handler);
    const { org, reply } = await embed(id, 'x', order('script-a'));
    expect(reply.status).toBe(200);
    expect(reply.headers['x-svc-attempts']).toBe('2');
    const ended = await world().ended(org, idOf(reply));
    expect(ended.attempts).toEqual([outcome, 'ok']);
    expect(ended.charged).toBe(priceOf(1));
  });

  test.concurrent('when nobody answers, nothing is charged', async () => {
    const { id, upstream } = taskModel('script');
    world().script.on(upstream, 'a', answer({ ...good, data: 'none' }));
    const { org, reply } = await embed(id, 'x');
    expect(reply.status).toBe(502);
    expect(errorOf(reply)).toMatchObject({ code: 'upstream_invalid_response' });
    expect((await world().ended(org, idOf(reply))).charged).toBe(0);
  });

  test.concurrent.each(['openai', 'cohere'] as const)(
    'a text too long for a provider of kind %s is reported as such',
    async (kind) => {
      const { org, reply } = await embed(taskModel(kind).id, 'abc '.repeat(5_001));
      expect(reply.status).toBe(400);
      expect(errorOf(reply)).toMatchObject({ code: 'context_length_exceeded' });
      expect((await world().ended(org, idOf(reply))).charged).toBe(0);
    },
  );

  test.concurrent('the context holds for each input, not for their sum', async () => {
    const { id } = taskModel('small');
    expect((await embed(id, new Array<string>(50).fill('ten words of text'))).reply.status).toBe(200);
    const long = await embed(id, ['short', 'word '.repeat(200)]);
    expect(errorOf(long.reply)).toMatchObject({ code: 'context_length_exceeded' });
  });

  test.concurrent('more inputs than a provider takes at once are refused with its number', async () => {
    const { reply } = await embed(taskModel('cohere').id, new Array<string>(97).fill('x'));
    expect(errorOf(reply)).toMatchObject({ code: 'unsupported_parameter', param: 'input' });
    expect(errorOf(reply)?.['message']).toContain('96');
  });
});

describe('fields', () => {
  test.concurrent('unknown ones go up to a compatible endpoint; elsewhere they are reported lost', async () => {
    const { id, upstream } = taskModel('openai');
    await embed(id, 'x', { late: { seed: 7 }, user: 'someone' });
    const sent = sentTo(upstream);
    expect(sent).toMatchObject({ late: { seed: 7 } });
    expect(sent['user']).toMatch(/^[0-9a-f]{64}$/);
    const { reply } = await embed(taskModel('cohere').id, 'x', { late: true });
    expect(warningsOf(reply)).toEqual(['unknown_parameter_dropped']);
  });

  test.concurrent.each([
    [{}, 'input'],
    [{ input: '' }, 'input'],
    [{ input: [] }, 'input'],
    [{ input: ['a', ''] }, 'input[1]'],
    [{ input: ['a', 1] }, 'input[1]'],
    [{ input: [1, 'a'] }, 'input[1]'],
    [{ input: [[1], 'a'] }, 'input[1]'],
    [{ input: [[]] }, 'input[0]'],
    [{ input: [[1, -1]] }, 'input[0][1]'],
    [{ input: [1.5] }, 'input[0]'],
    [{ input: { text: 'a' } }, 'input'],
    [{ input: new Array(2_049).fill('x') }, 'input'],
    [{ input: 'a', encoding_format: 'int8' }, 'encoding_format'],
    [{ input: 'a', dimensions: 0 }, 'dimensions'],
    [{ input: 'a', dimensions: 1.5 }, 'dimensions'],
    [{ input: 'a', input_type: 'poem' }, 'input_type'],
    [{ input: 'a', stream: true }, 'stream'],
    [{ input: 'a', svc: { rout: {} } }, 'svc.rout'],
  ])('%j is refused at %s', async (members, param) => {
    const org = await world().org();
    const reply = await ask(world(), org, '/v1/embeddings', { model: 'tasks/openai-0', ...members });
    expect(reply.status).toBe(400);
    expect(errorOf(reply)).toMatchObject({ code: 'invalid_request', param });
  });

  test.concurrent('provider options may not replace what was held for', async () => {
    const { id, upstream } = taskModel('cohere');
    const svc = { provider_options: { cohere: { texts: ['y'], truncate: 'START' } } };
    await embed(id, 'x', { svc });
    expect(sentTo(upstream)).toMatchObject({ texts: ['x'], truncate: 'START' });
  });
});

describe('kinds of models', () => {
  test.concurrent('a model of embeddings answers no chat, and a chat model embeds nothing', async () => {
    const org = await world().org();
    const { id } = taskModel('openai');
    const chat = await world().chat(org.live_key, bodyOf(id, 'Hi')).reply;
    expect(chat.status).toBe(400);
    expect(errorOf(chat)).toMatchObject({ code: 'no_endpoint_available', param: 'model' });
    expect(errorOf(chat)?.['message']).toContain('/v1/embeddings');
    const chat_model = world().model('chat').id;
    for (const model of [chat_model, taskModel('rank').id]) {
      const reply = await ask(world(), org, '/v1/embeddings', { model, input: 'x' });
      expect(reply.status).toBe(400);
      expect(errorOf(reply)?.['excluded_by'].map(({ reason }: Json) => reason)).toEqual(['capability']);
    }
  });
});

describe('idempotency', () => {
  test.concurrent('a retry gets the same vectors for no more money; another body is a conflict', async () => {
    const org = await world().org();
    const { id, upstream } = taskModel('openai');
    const headers = { 'idempotency-key': 'once' };
    const body = { model: id, input: ['one text'] };
    const first = await ask(world(), org, '/v1/embeddings', body, headers);
    await world().ended(org, idOf(first));
    const again = await ask(world(), org, '/v1/embeddings', body, headers);
    expect(again.text).toBe(first.text);
    expect(again.headers['x-svc-idempotent-replay']).toBe('true');
    expect(world().sim.calls.filter((call) => call.model === upstream)).toHaveLength(1);
    const other = await ask(world(), org, '/v1/embeddings', { ...body, encoding_format: 'base64' }, headers);
    expect(other.status).toBe(422);
    await world().ended(org, idOf(first));
  });

  test.concurrent('a caller that leaves pays for the vectors, and its retry gets them', async () => {
    const org = await world().org();
    const { id, upstream } = taskModel('openai');
    const body = { model: id, input: 'sim: delay_ms=400 x' };
    const headers = { authorization: `Bearer ${org.live_key}`, 'idempotency-key': 'left' };
    const left = world().chat(org.live_key, body, { path: '/v1/embeddings', headers });
    await expect.poll(() => world().sim.calls.some((call) => call.model === upstream)).toBe(true);
    left.leave();
    const again = await ask(world(), org, '/v1/embeddings', body, headers);
    expect(again.status).toBe(200);
    expect(again.json['data'][0].embedding).toHaveLength(8);
    expect(world().sim.calls.filter((call) => call.model === upstream)).toHaveLength(1);
  });
});
