// Each misbehaviour does what the table of test/sim/README.md says, on both wires where it applies.
import { request as httpRequest } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Sim, startProviderSim } from './index.ts';
import { KnobFault, numberKnobs, readKnobs, textKnobs } from './knobs.ts';

let sim: Sim;
beforeAll(async () => {
  sim = await startProviderSim();
});
afterEach(() => sim.reset());
afterAll(() => sim.close());

interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
  /** Reads of the body, with the milliseconds since the request. */
  reads: { at_ms: number; bytes: number }[];
  head_ms: number;
  error: string | null;
}

type Family = 'openai' | 'anthropic';

/** The members of an event, in either format, that these tests read. */
interface Data {
  id?: string;
  model?: string;
  type?: string;
  error?: { message: string };
  usage?: Record<string, number>;
  choices?: {
    delta: { content?: string; tool_calls?: { index?: number }[] };
    finish_reason: string | null;
  }[];
}

function post(
  words: string,
  more: { family?: Family; stream?: boolean; body?: object; headers?: object; stop?: AbortSignal } = {},
): Promise<Reply> {
  const { family = 'openai', stream = true, stop } = more;
  const body = JSON.stringify({
    model: 'm',
    max_tokens: 10_000,
    stream,
    ...(family === 'openai' && stream && { stream_options: { include_usage: true } }),
    messages: [{ role: 'user', content: words }],
    ...more.body,
  });
  const began = performance.now();
  const reply: Reply = { status: 0, headers: {}, body: Buffer.alloc(0), reads: [], head_ms: 0, error: null };
  return new Promise((resolve) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      reply.error = error.code ?? error.name;
      resolve(reply);
    };
    const request = httpRequest(
      `${sim.url}${family === 'openai' ? '/v1/chat/completions' : '/v1/messages'}`,
      {
        method: 'POST',
        headers: { authorization: 'Bearer k', 'anthropic-version': '2023-06-01', ...more.headers },
        ...(stop !== undefined && { signal: stop }),
      },
    );
    request.on('error', failed);
    request.on('response', (response) => {
      reply.status = response.statusCode ?? 0;
      reply.headers = response.headers;
      reply.head_ms = performance.now() - began;
      response.on('data', (bytes: Buffer) => {
        reply.body = Buffer.concat([reply.body, bytes]);
        reply.reads.push({ at_ms: performance.now() - began, bytes: bytes.length });
      });
      response.on('error', failed);
      response.on('end', () => resolve(reply));
    });
    request.end(body);
  });
}

const dataOf = (reply: Reply): string[] =>
  reply.body
    .toString()
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice(6));
const jsonOf = (reply: Reply): Data[] =>
  dataOf(reply).flatMap((data) => {
    try {
      return [JSON.parse(data) as Data];
    } catch {
      return [];
    }
  });
const pieces = (reply: Reply): number =>
  jsonOf(reply).filter((data) => data.choices?.[0]?.delta?.content || data.type === 'content_block_delta')
    .length;
const families: Family[] = ['openai', 'anthropic'];

describe('reading', () => {
  test('knobs come from the text or the header, the header wins; a mark needs no "sim:"', () => {
    const { knobs, named } = readKnobs('please sim: status=503, tokens=5 and mark=m1 then', 'tokens=9');
    expect(knobs).toMatchObject({ status: 503, tokens: 9, mark: 'm1' });
    expect(named).toBe('status=503, tokens=5 tokens=9');
    expect(readKnobs('nothing here', undefined).knobs).toMatchObject({
      status: null,
      tokens: 16,
      mark: null,
    });
    expect(() => readKnobs('sim: nonsense=1', undefined)).toThrow(KnobFault);
    expect(() => readKnobs('sim: tokens=many', undefined)).toThrow(KnobFault);
  });

  test('the README lists every knob', async () => {
    const { readFileSync } = await import('node:fs');
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    for (const knob of [...Object.keys(numberKnobs), ...textKnobs]) expect(readme).toContain(`\`${knob}\``);
  });
});

describe.each(families)('refusals (%s)', (family) => {
  test('status, retry_after and code shape an error answer', async () => {
    const reply = await post('sim: status=503 retry_after=2', { family });
    expect(reply.status).toBe(503);
    expect(reply.headers['retry-after']).toBe('2');
    expect(JSON.parse(reply.body.toString()).error.message).toBeTypeOf('string');
    expect((await post('sim: retry_after=1', { family })).status).toBe(429);
    const long = await post('sim: code=context_length_exceeded', { family });
    expect(long.status).toBe(400);
    expect(long.body.toString()).toMatch(/maximum context length|prompt is too long/);
    expect(sim.calls.map(({ status }) => status)).toEqual([503, 429, 400]);
    expect(sim.calls.every(({ finished }) => !finished)).toBe(true);
  });

  test('html_error answers a page of a proxy', async () => {
    const reply = await post('sim: html_error=1', { family });
    expect(reply.status).toBe(502);
    expect(reply.headers['content-type']).toBe('text/html');
    expect(reply.body.toString()).toContain('<html>');
  });

  test('fail_first fails the first calls of a mark, whatever other marks do', async () => {
    const statuses = [];
    for (const mark of ['a', 'a', 'b', 'a', 'b']) {
      statuses.push((await post(`sim: fail_first=2 fail_status=500 mark=${mark}`, { family })).status);
    }
    expect(statuses).toEqual([500, 500, 500, 200, 500]);
  });

  test('reset ends the connection before a status', async () => {
    expect(await post('sim: reset=1', { family })).toMatchObject({ status: 0, error: 'ECONNRESET' });
    expect(sim.calls[0]).toMatchObject({
      status: 0,
      finished: false,
      client_gone: false,
      bytes_delivered: 0,
    });
  });
});

describe.each(families)('pace (%s)', (family) => {
  test('slow_headers_ms comes before the status, delay_ms after it, chunk_ms between pieces', async () => {
    const reply = await post('sim: slow_headers_ms=80 delay_ms=80 chunk_ms=10 tokens=9', { family });
    expect(reply.head_ms).toBeGreaterThanOrEqual(79);
    // Lower bounds from the start only: a busy machine may see the head late, but no event early.
    expect(reply.reads[0]!.at_ms).toBeGreaterThan(reply.head_ms);
    expect(reply.reads[0]!.at_ms).toBeGreaterThanOrEqual(158);
    expect(reply.reads.at(-1)!.at_ms).toBeGreaterThanOrEqual(230);
    expect(pieces(reply)).toBe(9);
  });

  test('a whole answer is late by delay_ms altogether', async () => {
    expect((await post('sim: delay_ms=80', { family, stream: false })).head_ms).toBeGreaterThanOrEqual(79);
  });

  test('burst sends everything in one write; split in small ones; both are the same bytes', async () => {
    const plain = await post('sim: tokens=200 same_id=1', { family });
    const burst = await post('sim: tokens=200 same_id=1 burst=1', { family });
    const split = await post('sim: tokens=200 same_id=1 split=7 chunks=1 text=Grüße', { family });
    const unstamped = (reply: Reply) =>
      reply.body
        .toString()
        .replaceAll(/"created":\d+/g, '"created":0')
        .replaceAll(/"(prompt|total|input)_tokens":\d+/g, '');
    expect(unstamped(burst)).toBe(unstamped(plain));
    // A read holds up to 64 KiB of a write.
    expect(burst.reads.length).toBeLessThanOrEqual(2);
    expect(plain.reads.length).toBeGreaterThan(10);
    expect(split.reads.length).toBeGreaterThan(20);
    expect(split.body.toString()).toContain('Grüße');
  });

  test('gzip compresses only for callers that show it', async () => {
    for (const stream of [true, false]) {
      const shown = await post('sim: gzip=1 tokens=30', {
        family,
        stream,
        headers: { 'accept-encoding': 'gzip' },
      });
      expect(shown.headers['content-encoding']).toBe('gzip');
      expect(gunzipSync(shown.body).toString()).toContain('lorem');
      const hidden = await post('sim: gzip=1', {
        family,
        stream,
        headers: { 'accept-encoding': 'identity' },
      });
      expect(hidden.headers['content-encoding']).toBeUndefined();
      expect(hidden.body.toString()).toContain('lorem');
    }
    expect(sim.calls.every(({ finished }) => finished)).toBe(true);
  });
});

describe.each(families)('broken streams (%s)', (family) => {
  test('cut_after ends cleanly without finish or end mark', async () => {
    const reply = await post('sim: cut_after=5', { family });
    expect(reply.error).toBeNull();
    expect(pieces(reply)).toBe(5);
    expect(reply.body.toString()).not.toMatch(/DONE|message_stop|message_delta|"finish_reason":"/);
    expect(sim.calls[0]).toMatchObject({
      tokens_delivered: 5,
      finished: false,
      client_gone: false,
      reported: null,
    });
  });

  test('error_after sends the provider’s error event', async () => {
    const reply = await post('sim: error_after=3', { family });
    expect(pieces(reply)).toBe(3);
    expect(jsonOf(reply).at(-1)?.error).toMatchObject({ message: expect.any(String) });
    expect(sim.calls[0]?.finished).toBe(false);
  });

  test('error_after=0 comes before any content, and a break after the last piece still comes', async () => {
    expect(pieces(await post('sim: error_after=0', { family }))).toBe(0);
    const late = await post('sim: tokens=3 error_after=50', { family });
    expect(jsonOf(late).at(-1)?.error).toBeDefined();
  });

  test('stall_after falls silent until the caller leaves', async () => {
    const stop = new AbortController();
    const reply = post('sim: stall_after=5', { family, stop: stop.signal });
    await expect.poll(() => sim.calls[0]?.tokens_delivered).toBe(5);
    expect(sim.stats()).toMatchObject({ open_streams: 1, open_calls: 1 });
    stop.abort();
    await reply;
    await expect.poll(() => sim.stats().open_calls).toBe(0);
    expect(sim.calls[0]).toMatchObject({ client_gone: true, finished: false });
  });

  test('garbage_after sends a broken event and goes on', async () => {
    const reply = await post('sim: garbage_after=5', { family });
    expect(dataOf(reply)).toContain('{"oops');
    expect(pieces(reply)).toBe(16);
  });

  test('reset_mid resets after half of the pieces', async () => {
    const reply = await post('sim: reset_mid=1 tokens=10 chunk_ms=1', { family });
    expect(reply).toMatchObject({ status: 200, error: 'ECONNRESET' });
    expect(pieces(reply)).toBe(5);
    expect(sim.calls[0]).toMatchObject({ tokens_delivered: 5, finished: false, client_gone: false });
  });

  test('whole answers break too', async () => {
    const whole = (words: string) => post(words, { family, stream: false });
    for (const words of ['sim: cut_after=1', 'sim: garbage_after=1']) {
      const { body } = await whole(words);
      expect(() => JSON.parse(body.toString())).toThrow(SyntaxError);
    }
    expect(JSON.parse((await whole('sim: error_after=1')).body.toString()).error).toBeDefined();
    expect((await whole('sim: reset_mid=1')).error).toBe('ECONNRESET');
    expect(sim.calls.every(({ finished, tokens_delivered }) => !finished && tokens_delivered === 0)).toBe(
      true,
    );
  });
});

describe('odd but complete answers', () => {
  const usageOf = (reply: Reply) => jsonOf(reply).findLast(({ usage }) => usage)?.usage;
  const tools = ['a', 'b'].map((name) => ({
    type: 'function',
    function: { name, parameters: { type: 'object', properties: { x: { type: 'string' } } } },
  }));

  test('no_usage and no_done leave those out, no_finish the finish', async () => {
    for (const family of families) {
      const bare = await post('sim: no_usage=1', { family });
      expect(usageOf(bare)).toBeUndefined();
      expect((await post('sim: no_done=1', { family })).body.toString()).not.toMatch(/\[DONE\]|message_stop/);
      expect((await post('sim: no_finish=1', { family })).body.toString()).not.toMatch(
        /message_delta|_reason":"/,
      );
    }
    expect(sim.calls.map(({ reported }) => reported === null).slice(0, 2)).toEqual([true, false]);
  });

  test('usage_in_choices puts usage on the finish chunk', async () => {
    const chunks = jsonOf(await post('sim: usage_in_choices=1'));
    expect(chunks.at(-1)).toMatchObject({
      choices: [{ finish_reason: 'stop' }],
      usage: { completion_tokens: 16 },
    });
    expect(chunks.every(({ choices }) => choices?.length === 1)).toBe(true);
  });

  test('over_report adds to the prompt, over_report_output to the output, negative_usage is below 0', async () => {
    expect(usageOf(await post('sim: over_report=1000'))).toMatchObject({
      prompt_tokens: 1_006,
      completion_tokens: 16,
    });
    expect(usageOf(await post('sim: over_report_output=70'))).toMatchObject({ completion_tokens: 86 });
    expect(usageOf(await post('sim: negative_usage=1'))).toMatchObject({ completion_tokens: -5 });
    expect(usageOf(await post('sim: over_report=1000', { family: 'anthropic' }))).toMatchObject({
      input_tokens: 1_006,
    });
    expect(sim.calls[0]).toMatchObject({
      prompt_tokens: 6,
      reported: { prompt_tokens: 1_006, completion_tokens: 16 },
    });
  });

  test('same_id repeats the id; finish and model are said as given', async () => {
    const ids = [await post('sim: same_id=1'), await post('sim: same_id=1')].map(
      (reply) => jsonOf(reply)[0]?.id,
    );
    expect(ids).toEqual(['chatcmpl-same', 'chatcmpl-same']);
    const other = jsonOf(await post('sim: finish=content_filter model=other-1'));
    expect(other[0]?.model).toBe('other-1');
    expect(other.at(-2)?.choices?.[0]?.finish_reason).toBe('content_filter');
  });

  test('missing_index leaves the index out, interleaved_tools mixes the calls', async () => {
    const calls = async (words: string) =>
      jsonOf(await post(words, { body: { tools } })).flatMap(
        (data) => data.choices?.[0]?.delta?.tool_calls ?? [],
      );
    const bare = await calls('sim: tools=2 missing_index=1');
    expect(bare.length).toBeGreaterThan(4);
    expect(bare.every((call) => !('index' in call))).toBe(true);
    const mixed = (await calls('sim: tools=2 interleaved_tools=1')).map(({ index }) => index);
    expect(mixed).toEqual([0, 1, 0, 1, 0, 1, 0, 1]);
    expect((await calls('sim: tools=2')).map(({ index }) => index)).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
  });

  test('text may come before the calls', async () => {
    const deltas = jsonOf(await post('sim: tools=1 chunks=1 text=Looking', { body: { tools } }));
    expect(deltas.some((data) => data.choices?.[0]?.delta?.content === 'Looking')).toBe(true);
    expect(deltas.at(-2)?.choices?.[0]?.finish_reason).toBe('tool_calls');
  });
});

describe('the record', () => {
  test('is listed at /_sim/calls and /_sim/stats, and forgotten at /_sim/reset', async () => {
    await post('x', { body: { metadata: { mark: 'meta' } } });
    await post('mark=word');
    const get = async (path: string) => (await fetch(`${sim.url}${path}`)).json();
    expect(await get('/_sim/calls')).toMatchObject({ calls: [{ mark: 'meta' }, { mark: 'word' }] });
    expect(await get('/_sim/calls?mark=word')).toMatchObject({
      calls: [{ n: expect.any(Number), mark: 'word' }],
    });
    expect(await get('/_sim/stats')).toMatchObject({ calls: 2, open_streams: 0 });
    await fetch(`${sim.url}/_sim/reset`, { method: 'POST' });
    expect(await get('/_sim/calls')).toEqual({ calls: [] });
  });

  test('bytes and tokens delivered are those that arrived', async () => {
    const reply = await post('sim: tokens=300 chunks=100');
    expect(pieces(reply)).toBe(100);
    expect(sim.calls[0]).toMatchObject({
      bytes_delivered: reply.body.length,
      tokens_delivered: 300,
      completion_tokens: 300,
      reported: { completion_tokens: 300 },
    });
  });
});

test('no_start leaves out message_start and nothing else', async () => {
  const types = async (words: string) =>
    jsonOf(await post(words, { family: 'anthropic' })).map(({ type }) => type);
  const whole = await types('sim: tokens=5');
  expect(whole[0]).toBe('message_start');
  expect(await types('sim: tokens=5 no_start=1')).toEqual(whole.slice(1));
});
