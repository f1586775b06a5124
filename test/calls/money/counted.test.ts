// Answers whose tokens the gateway counts by itself because the provider reports no usage, that of one answer of several,
// or fewer tokens than the text can have (docs/money/pricing.md#counting-what-was-delivered); and servers that end their work
// with the connection (docs/outcomes.md#left-whole-answer).
import { describe, expect, test } from 'vitest';
import { type Json, svcOf } from '../caller.ts';
import { chunk, refuse, streamHead, textChunk, wholeAnswer } from '../upstream.ts';
import { bodyOf, eventually, idOf, useWorld } from '../world.ts';

const NAMES = ['whole', 'streamed', 'prompts', 'left', 'left-cross', 'left-key'] as const;

const world = useWorld({
  extras: ({ script }) => ({
    providers: `
  - id: local
    preset: llamacpp
    base_url: ${script.url}/l/v1
    data_policy: { trains: false, retention_days: 0, zdr: true }`,
    models: NAMES.map(
      (name) => `
  - id: local/${name}
    name: ${name}
    context_length: 32000
    max_output: 4000
    endpoints:
      - { provider: local, upstream_model: ${name}, region: local, price: { input: "1.25", output: "4.75" } }`,
    ).join(''),
  }),
});

const LONG = 'a heron stands in the shallow water '.repeat(4);
const usage = { prompt_tokens: 9, completion_tokens: 32, total_tokens: 41 };

describe('without usage', () => {
  test.each([
    ['hi', 1],
    ['heron', 1],
    ['hello,world!', 2],
  ])('"%s" is %i tokens, whole and streamed', async (text, tokens) => {
    const org = await world().org();
    const { id } = world().model('chat');
    for (const stream of [true, false]) {
      const said = `sim: no_usage=1 chunks=${tokens} text=${text.replace(',', '-')}`;
      const reply = await world().chat(org.live_key, bodyOf(id, said, { stream })).reply;
      const { row } = await world().ended(org, idOf(reply));
      expect(row).toMatchObject({ status: 'ok', output_tokens: tokens, usage_source: 'estimate' });
    }
  });
});

describe('usage of one answer of several', () => {
  const choice = (index: number) => ({
    index,
    message: { role: 'assistant', content: LONG },
    finish_reason: 'stop',
  });

  test('a whole answer is charged all of its choices', async () => {
    const org = await world().org();
    const choices = [0, 1, 2, 3].map(choice);
    world().script.on('whole', 'l', refuse(200, wholeAnswer('whole', { choices, usage })));
    const reply = await world().chat(org.live_key, bodyOf('local/whole', 'Hi', { n: 4 })).reply;
    const { row } = await world().ended(org, idOf(reply));
    expect(row).toMatchObject({ usage_source: 'estimate', input_tokens: 9 });
    expect(row.output_tokens).toBe(Math.ceil((4 * LONG.length) / 6));
    const body = JSON.parse(reply.text) as Json;
    expect(body['usage'].completion_tokens).toBe(row.output_tokens);
    expect(body['svc'].warnings.map(({ code }: Json) => code)).toEqual(['usage_estimated']);
  });

  test('one answer is charged what is reported', async () => {
    const org = await world().org();
    world().script.on('whole', 'l', refuse(200, wholeAnswer('whole', { choices: [choice(0)], usage })));
    const reply = await world().chat(org.live_key, bodyOf('local/whole', 'Hi')).reply;
    const { row } = await world().ended(org, idOf(reply));
    expect(row).toMatchObject({ usage_source: 'provider', output_tokens: 32, input_tokens: 9 });
  });

  test('a stream is charged all of its choices', async () => {
    const org = await world().org();
    world().script.on('streamed', 'l', (response) => {
      streamHead(response);
      for (const index of [0, 1, 2]) {
        for (const word of LONG.split(/(?= )/))
          response.write(
            chunk('streamed', { choices: [{ index, delta: { content: word }, finish_reason: null }] }),
          );
        response.write(chunk('streamed', { choices: [{ index, delta: {}, finish_reason: 'stop' }] }));
      }
      response.end(`${chunk('streamed', { choices: [], usage })}data: [DONE]\n\n`);
    });
    const body = bodyOf('local/streamed', 'Hi', { n: 3, stream: true, max_tokens: 200 });
    const reply = await world().chat(org.live_key, body).reply;
    const { row } = await world().ended(org, idOf(reply));
    expect(row).toMatchObject({ status: 'ok', usage_source: 'estimate' });
    // A token a word, and one for the blank behind the last.
    expect(row.output_tokens).toBe(3 * LONG.split(/(?= )/).length);
  });

  test('of several prompts all are charged, and all answers', async () => {
    const org = await world().org();
    const choices = [0, 1].map((index) => ({ index, text: LONG, finish_reason: 'stop', logprobs: null }));
    const answer = { id: 'c', object: 'text_completion', created: 1, model: 'prompts', choices, usage };
    world().script.on('prompts', 'l', refuse(200, answer));
    const prompt = ['Once upon a time '.repeat(20), 'There was '.repeat(30)];
    const reply = await world().chat(
      org.live_key,
      { model: 'local/prompts', prompt, max_tokens: 64 },
      { path: '/v1/completions' },
    ).reply;
    expect(reply.status, reply.text).toBe(200);
    const { row } = await world().ended(org, idOf(reply));
    expect(row.output_tokens).toBe(Math.ceil((2 * LONG.length) / 6));
    expect(row.input_tokens).toBeGreaterThan(100);
  });
});

test.each([true, false])(
  'a text that the reported tokens cannot hold is reported (stream %s)',
  async (stream) => {
    const org = await world().org();
    const { id, upstream } = world().model('script');
    const few = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
    const text = LONG.repeat(8);
    world().script.on(upstream, 'a', (response, received) => {
      const message = { role: 'assistant', content: text };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      if (!stream) return refuse(200, wholeAnswer(upstream, { choices, usage: few }))(response, received);
      streamHead(response);
      response.write(textChunk(upstream, text));
      response.write(chunk(upstream, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
      response.end(`${chunk(upstream, { choices: [], usage: few })}data: [DONE]\n\n`);
    });
    const reply = await world().chat(org.live_key, bodyOf(id, 'Hi', { stream, max_tokens: 900 })).reply;
    const { row } = await world().ended(org, idOf(reply));
    expect(row).toMatchObject({ usage_source: 'provider', output_tokens: 3 });
    expect(svcOf(reply)?.['warnings']).toMatchObject([{ code: 'usage_inconsistent' }]);
  },
);

describe('a server that ends its work with the connection', () => {
  test.each([
    { name: 'left', path: '/v1/chat/completions' },
    { name: 'left-cross', path: '/v1/messages' },
  ] as const)('a whole answer that is left is cancelled at once ($path)', async ({ name, path }) => {
    const org = await world().org();
    const left = new Promise<void>((done) => {
      world().script.on(name, 'l', (response) => {
        // Never answered: the work goes on until the connection closes.
        response.on('close', done);
      });
    });
    const exchange = world().chat(org.live_key, bodyOf(`local/${name}`, 'Hi '.repeat(60)), { path });
    await eventually('the server is asked', () => world().script.received(name).length > 0);
    exchange.leave();
    await left;
    const id = await eventually('the row', async () => {
      const { rows } = await world().db.query<{ request_id: string }>(
        'select request_id from request_row where org_id = $1',
        [org.org_id],
      );
      return rows[0]?.request_id ?? null;
    });
    const { row } = await world().ended(org, id);
    expect(row).toMatchObject({ status: 'cancelled', output_tokens: 0, usage_source: 'estimate' });
    expect(row.input_tokens).toBeGreaterThan(30);
  });

  test('with an Idempotency-Key it is read to its end, for the caller that asks again', async () => {
    const org = await world().org();
    const headers = { 'idempotency-key': 'one' };
    let answer: () => void = () => {};
    world().script.on('left-key', 'l', (response, received) => {
      answer = () => refuse(200, wholeAnswer('left-key', { usage }))(response, received);
    });
    const exchange = world().chat(org.live_key, bodyOf('local/left-key', 'Hi'), { headers });
    await eventually('the server is asked', () => world().script.received('left-key').length > 0);
    exchange.leave();
    await exchange.reply;
    // What was sent after the leaving has been read after it.
    await fetch(`${world().gateway.base_url}/healthz`);
    expect(world().script.received('left-key')[0]?.left).toBe(false);
    answer();
    const again = await eventually('the answer is kept', async () => {
      const reply = await world().chat(org.live_key, bodyOf('local/left-key', 'Hi'), { headers }).reply;
      return reply.status === 200 ? reply : null;
    });
    expect((await world().ended(org, idOf(again))).row.output_tokens).toBe(32);
    expect(world().script.received('left-key')).toHaveLength(1);
  });
});
