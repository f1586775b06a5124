// Images as input of embeddings, through the whole gateway: what each provider is sent, what an image costs, and how
// calls are refused that an endpoint cannot serve.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spelt } from '../../sim/providers/openai/vectors.ts';
import { IMAGE_TOKENS } from '../../sim/providers/pictures.ts';
import { errorOf, type Json, type Reply } from '../caller.ts';
import { type MediaServer, mediaEnv, PNG, startMediaServer } from '../media-server.ts';
import { idOf, useWorld } from '../world.ts';
import { ask, IMAGE_MICRO, TOKEN_MICRO, taskExtras, taskModel } from './tasks-world.ts';

const world = useWorld({ models: {}, extras: taskExtras, env: mediaEnv() });
let media: MediaServer;
beforeAll(async () => {
  media = await startMediaServer();
});
afterAll(() => media.close());

const BASE64 = PNG.toString('base64');
const DATA_URL = `data:image/png;base64,${BASE64}`;
const text = (words: string) => ({ type: 'text', text: words });
const image = (src: object = { base64: BASE64, media_type: 'image/png' }) => ({ type: 'image', src });
const content = (...parts: object[]) => ({ content: parts });

async function embed(model: string, input: unknown, more: object = {}, balance = 1_000_000) {
  const org = await world().org(balance);
  const reply = await ask(world(), org, '/v1/svc/embed', { model, input, ...more });
  return { org, reply };
}
const sentTo = (upstream: string) => world().sim.calls.find((call) => call.model === upstream)?.body as Json;
const warningsOf = (reply: Reply & { json: Json }) =>
  (reply.json['warnings'] as Json[]).map(({ code }) => code);

/** Where each provider's body has what it was sent of the inputs. */
const wires = {
  cohere: (body: Json) => body['inputs'].map((each: Json) => each['content']),
  voyage: (body: Json) => body['inputs'].map((each: Json) => each['content']),
  gemini: (body: Json) => body['requests'].map((each: Json) => each['content']['parts']),
  jina: (body: Json) => body['input'].map((each: Json) => [each]),
} as const;
const words = {
  cohere: { text: text('a sea'), image: { type: 'image_url', image_url: { url: DATA_URL } } },
  voyage: { text: text('a sea'), image: { type: 'image_base64', image_base64: DATA_URL } },
  gemini: { text: { text: 'a sea' }, image: { inlineData: { mimeType: 'image/png', data: BASE64 } } },
  jina: { text: { text: 'a sea' }, image: { image: BASE64 } },
} as const;

describe('an image', () => {
  test.concurrent.each(['cohere', 'voyage', 'gemini', 'jina'] as const)(
    'reaches %s in its own words, beside texts, however the caller gave it',
    async (kind) => {
      const { id, upstream } = taskModel(`see-${kind}`);
      const path = `/png-${kind}`;
      const { reply } = await embed(id, [
        'a sea',
        content(image()),
        content(image({ url: DATA_URL })),
        content(image({ url: `${media.url}${path}` })),
      ]);
      expect(reply.status).toBe(200);
      const { text: words_of_text, image: words_of_image } = words[kind];
      const sent = wires[kind](sentTo(upstream));
      expect(sent).toEqual([[words_of_text], [words_of_image], [words_of_image], [words_of_image]]);
      expect(media.asked.filter((asked) => asked === path)).toHaveLength(1);
      const vectors = reply.json['data'].map(({ embedding }: Json) => embedding);
      expect(vectors).toHaveLength(4);
      expect(reply.text.replaceAll(' ', '')).toContain(`[${spelt(`image ${BASE64}`, 8).join(',')}]`);
    },
  );

  test.concurrent.each(['cohere', 'voyage', 'gemini'] as const)(
    'has one vector with the texts that stand with it (%s)',
    async (kind) => {
      const { id, upstream } = taskModel(`see-${kind}`);
      const { reply } = await embed(id, content(text('a sea'), image()), { dimensions: 4 });
      expect(reply.json['data']).toHaveLength(1);
      expect(reply.json['data'][0]).toMatchObject({ index: 0, dimensions: 4 });
      expect(wires[kind](sentTo(upstream))).toEqual([[words[kind].text, words[kind].image]]);
    },
  );

  test.concurrent('keeps the word for what it is for, and base64 vectors, at Voyage', async () => {
    const { id, upstream } = taskModel('see-voyage');
    const more = { input_type: 'query', encoding_format: 'base64' };
    const { reply } = await embed(id, [content(image())], more);
    expect(sentTo(upstream)).toMatchObject({
      input_type: 'query',
      output_encoding: 'base64',
      truncation: false,
    });
    expect(reply.json['data'][0].embedding).toMatch(/^[A-Za-z0-9+/]+=*$/);
  });

  test.concurrent('of a model of Voyage that sees has its path for texts too, on either surface', async () => {
    for (const path of ['/v1/svc/embed', '/v1/embeddings'] as const) {
      const { id, upstream } = taskModel('see-voyage');
      const org = await world().org();
      const reply = await ask(world(), org, path, { model: id, input: ['a sea'] });
      expect(reply.status).toBe(200);
      expect(sentTo(upstream)).toEqual({
        ...{ model: upstream, truncation: false },
        inputs: [{ content: [text('a sea')] }],
      });
    }
  });

  test.concurrent('that stands nowhere changes nothing: content of text alone goes up as a text', async () => {
    const { id, upstream } = taskModel('see-cohere');
    await embed(id, ['x', content(text('a sea'), text('a ship'))]);
    expect(sentTo(upstream)).toMatchObject({ texts: ['x', 'a sea\na ship'] });
    const plain = taskModel('openai');
    await embed(plain.id, content(text('a sea')));
    expect(sentTo(plain.upstream)['input']).toBe('a sea');
  });

  test.concurrent('is hashed by the sandbox: equal ones are equal, a test key needs no provider', async () => {
    const org = await world().org();
    const body = { model: taskModel('see-cohere').id, input: [content(image()), content(image()), 'a sea'] };
    const reply = await ask(world(), { live_key: org.sandbox_key }, '/v1/svc/embed', body);
    expect([reply.status, reply.headers['x-svc-provider']]).toEqual([200, 'sandbox']);
    const [first, second, third] = reply.json['data'].map(({ embedding }: Json) => embedding.join());
    expect(first).toBe(second);
    expect(first).not.toBe(third);
  });
});

describe('the price of an image', () => {
  const line = (kind: string, units: number, rate: number) => ({
    ...{ kind, units, unit_price_nano: rate * 1_000 },
    micro_usd: Math.floor(units * rate + 0.5),
  });

  test.concurrent.each(['cohere', 'voyage'] as const)(
    'is that of its tokens, told by %s, on a line of its own; the row and the ledger say the same',
    async (kind) => {
      const { org, reply } = await embed(taskModel(`see-${kind}`).id, [
        'a text of words',
        content(image()),
        content(image()),
      ]);
      const texts = Math.ceil('a text of words'.length / 4);
      const lines = [line('input', texts, TOKEN_MICRO), line('image_input', 2 * IMAGE_TOKENS, IMAGE_MICRO)];
      expect(reply.json['cost']['lines']).toEqual(lines);
      const tokens = texts + 2 * IMAGE_TOKENS;
      expect(reply.json['usage']).toEqual({ input_tokens: tokens, total_tokens: tokens, source: 'provider' });
      expect(warningsOf(reply)).toEqual([]);
      const ended = await world().ended(org, idOf(reply));
      expect(ended.charged).toBe(lines.reduce((sum, { micro_usd }) => sum + micro_usd, 0));
      expect(ended.row).toMatchObject({ status: 'ok', input_tokens: tokens, has_images: true });
    },
  );

  test.concurrent('is that of any token where the provider tells only a total', async () => {
    const { reply } = await embed(taskModel('see-jina').id, content(image()));
    expect(reply.json['cost']['lines']).toEqual([line('input', IMAGE_TOKENS, TOKEN_MICRO)]);
  });

  test.concurrent('is a lower bound, and says so, where the provider tells nothing', async () => {
    const { org, reply } = await embed(taskModel('see-gemini').id, content(text('a sea of words'), image()));
    expect(reply.json['cost']).toMatchObject({
      lines: [line('input', 2, TOKEN_MICRO), line('image_input', 258, IMAGE_MICRO)],
    });
    expect(reply.json['usage']['source']).toBe('estimate');
    expect(warningsOf(reply)).toEqual(['usage_estimated']);
    expect((await world().ended(org, idOf(reply))).meter).toMatchObject({ estimated: true });
  });

  test.concurrent('is held before anything is fetched or sent', async () => {
    const { id, upstream } = taskModel('see-cohere');
    const src = { url: `${media.url}/png-unpaid` };
    const { reply } = await embed(id, content(image(src)), {}, 1_000);
    expect(errorOf(reply)).toMatchObject({ code: 'insufficient_credits' });
    expect(media.asked).not.toContain('/png-unpaid');
    expect(sentTo(upstream)).toBeUndefined();
  });
});

describe('an endpoint', () => {
  test.concurrent('of a model that is not listed with images is excluded by capability', async () => {
    const { id, upstream } = taskModel('cohere');
    const { reply, org } = await embed(id, content(image()));
    expect(reply.status).toBe(400);
    expect(errorOf(reply)).toMatchObject({
      code: 'no_endpoint_available',
      excluded_by: [{ provider: 'cohere', reason: 'capability' }],
    });
    expect(sentTo(upstream)).toBeUndefined();
    expect((await world().ended(org, idOf(reply))).charged).toBe(0);
  });

  test.concurrent.each(['warn', 'drop', 'strict'])(
    'whose wire has no word for images refuses the first of them (%s)',
    async (compat) => {
      const { id, upstream } = taskModel('see-openai');
      const { reply } = await embed(id, ['x', content(text('a'), image())], { compat });
      expect(errorOf(reply)).toMatchObject({
        ...{ code: 'unsupported_parameter', param: 'input[1].content[1]' },
      });
      expect(sentTo(upstream)).toBeUndefined();
    },
  );

  test.concurrent('that takes one part an input is left out for one that takes more', async () => {
    const { id } = taskModel('see-pair');
    const route = { providers: { order: ['jina', 'cohere'] } };
    const mixed = await embed(id, content(text('a'), image()), { route });
    expect([mixed.reply.status, mixed.reply.headers['x-svc-provider']]).toEqual([200, 'cohere']);
    const alone = await embed(id, content(image()), { route });
    expect(alone.reply.headers['x-svc-provider']).toBe('jina');
    const { reply } = await embed(taskModel('see-jina').id, ['x', content(text('a'), image())]);
    expect(errorOf(reply)).toMatchObject({ code: 'unsupported_parameter', param: 'input[1].content' });
  });
});

describe('what is wrong is named by its path', () => {
  const cases: readonly (readonly [unknown, string])[] = [
    [{}, 'input.content'],
    [content(), 'input.content'],
    [{ ...content(image()), role: 'user' }, 'input.role'],
    [[content(image(), { type: 'video' })], 'input[0].content[1].type'],
    [[content({ type: 'text' })], 'input[0].content[0].text'],
    [[content(text(''))], 'input[0].content[0].text'],
    [[content({ type: 'image' })], 'input[0].content[0].src'],
    [[content({ ...image(), detail: 'low' })], 'input[0].content[0].detail'],
    [['x', content(image({ url: 'http://a.example/b.png' }))], 'input[1].content[0].src.url'],
    [[content(image({ url: 'data:text/plain;base64,YQ==' }))], 'input[0].content[0].src.url'],
    [[content(image({ url: 'data:image/png,plain' }))], 'input[0].content[0].src.url'],
    [[content(image({ base64: BASE64 }))], 'input[0].content[0].src.media_type'],
    [
      [content(image({ base64: BASE64, media_type: 'application/pdf' }))],
      'input[0].content[0].src.media_type',
    ],
    [[content(image({ base64: '!', media_type: 'image/png' }))], 'input[0].content[0].src.base64'],
    [[content(image({ file_id: 'f', family: 'gemini' }))], 'input[0].content[0].src'],
    [[1], 'input[0]'],
  ];
  test.concurrent.each(cases)('%j at %s', async (input, param) => {
    const { reply } = await embed('tasks/see-cohere-0', input);
    expect([reply.status, errorOf(reply)]).toMatchObject([400, { code: 'invalid_request', param }]);
  });

  test.concurrent('the surface of OpenAI clients takes no images', async () => {
    const org = await world().org();
    const body = { model: 'tasks/see-cohere-0', input: [content(image())] };
    const reply = await ask(world(), org, '/v1/embeddings', body);
    expect(errorOf(reply)).toMatchObject({ code: 'invalid_request', param: 'input[0]' });
  });

  test.concurrent.each([
    ['/nowhere', 'media_fetch_failed'],
    ['/html', 'invalid_media'],
    ['https://10.0.0.1/a.png', 'media_fetch_failed'],
  ])('an address that gives no image: %s', async (path, code) => {
    const { id, upstream } = taskModel('see-cohere');
    const url = path.startsWith('/') ? media.url + path : path;
    const { org, reply } = await embed(id, ['x', content(text('a'), image({ url }))]);
    expect(errorOf(reply)).toMatchObject({ code, param: 'input[1].content[1].src.url' });
    expect(sentTo(upstream)).toBeUndefined();
    expect((await world().ended(org, idOf(reply))).charged).toBe(0);
  });
});
