// Both dialects on the Gemini family, through a real gateway: answers, tools across turns, media, and how calls fail.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorOf, eventsOf, type Json, type Reply, saidBy, svcOf } from '../caller.ts';
import { type MediaServer, mediaEnv, PNG, startMediaServer } from '../media-server.ts';
import { bodyOf, type Dialect, eventually, grammarFaults, idOf, priceOf, send, useWorld } from '../world.ts';

const world = useWorld({
  models: { 'gemini-3': 70 },
  env: mediaEnv(),
  extras: () => ({
    providers: '',
    models: `
  - id: calls/reads
    name: Reads
    context_length: 128000
    max_output: 8192
    capabilities: { pdf: true }
    endpoints:
      - provider: sim-g
        upstream_model: reads
        region: local
        price: { input: "1.25", output: "4.75" }`,
  }),
});
let media: MediaServer;
beforeAll(async () => {
  media = await startMediaServer();
});
afterAll(() => media.close());

const ways = (['chat', 'messages'] as const).flatMap((dialect) =>
  [true, false].map((stream) => ({ dialect, stream })),
);
type Way = (typeof ways)[number];

const schema = { type: 'object', properties: { city: { type: 'string' } } };
const tools = {
  chat: [{ type: 'function', function: { name: 'weather', parameters: schema } }],
  messages: [{ name: 'weather', input_schema: schema }],
};

/** What the provider was sent for `upstream`, latest last. */
function sentTo(upstream: string): Json[] {
  return world()
    .sim.calls.filter(({ model }) => model === upstream)
    .map(({ body }) => body as Json);
}

function image(dialect: Dialect, url: string): Json {
  return dialect === 'chat'
    ? { type: 'image_url', image_url: { url } }
    : { type: 'image', source: { type: 'url', url } };
}

async function ask(
  way: Way,
  content: unknown,
  more: object = {},
  kind: 'gemini-3' | 'gemini-3-cross' | 'gemini-3-between' = 'gemini-3',
) {
  const org = await world().org();
  const { id, upstream } = world().model(kind);
  const messages = Array.isArray(content) && 'role' in content[0] ? content : [{ role: 'user', content }];
  const body = { ...bodyOf(id, ''), messages, stream: way.stream, ...more };
  const reply = await send(world(), way.dialect, org.live_key, body).reply;
  if (way.stream && reply.status === 200) expect(grammarFaults(way.dialect, reply)).toEqual([]);
  return { org, id, upstream, reply };
}

/** The assistant's message of an answer with calls, as a client would send it back, and the ids of its calls. */
function messageOf({ dialect, stream }: Way, reply: Reply): { message: Json; ids: string[] } {
  if (dialect === 'chat') {
    const calls: Json[] = [];
    const deltas = stream
      ? eventsOf(reply.text).map((event) => event['choices']?.[0]?.delta ?? {})
      : [JSON.parse(reply.text).choices[0].message];
    for (const piece of deltas.flatMap((delta) => delta['tool_calls'] ?? [])) {
      const known = calls[piece.index ?? calls.length];
      if (known === undefined) calls.push(structuredClone(piece));
      else known['function'].arguments += piece.function.arguments;
    }
    const message = { role: 'assistant', content: null, tool_calls: calls };
    return { message, ids: calls.map((call) => call['id']) };
  }
  let content: Json[] = stream ? [] : JSON.parse(reply.text).content;
  for (const event of stream ? eventsOf(reply.text) : []) {
    if (event['type'] === 'content_block_start')
      content[event['index']] = { ...event['content_block'], json: '' };
    if (event['type'] !== 'content_block_delta') continue;
    const block = content[event['index']] as Json;
    block['json'] += event['delta'].partial_json ?? '';
    if (event['delta'].signature !== undefined) block['signature'] = event['delta'].signature;
  }
  content = content.map(({ json, ...block }) =>
    block['type'] === 'tool_use' && json !== undefined ? { ...block, input: JSON.parse(json) } : block,
  );
  const ids = content.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
  return { message: { role: 'assistant', content }, ids };
}

function resultOf(dialect: Dialect, ids: readonly string[]): Json[] {
  if (dialect === 'chat') return ids.map((id) => ({ role: 'tool', tool_call_id: id, content: `rain ${id}` }));
  return [
    { role: 'user', content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'rain' })) },
  ];
}

describe.concurrent.each(ways)('$dialect, stream $stream', (way) => {
  const { dialect, stream } = way;

  test('an answer is passed on, settled by the reported usage, and requested as a stream', async () => {
    const { org, reply, upstream } = await ask(way, 'sim: tokens=10 cached=2');
    expect(reply.status).toBe(200);
    expect(saidBy(reply)).toMatch(/^lorem ipsum/);
    expect(sentTo(upstream)).toMatchObject([{ stream: true, generationConfig: { maxOutputTokens: 64 } }]);
    const call = world().sim.calls.find(({ model }) => model === upstream);
    expect(call).toMatchObject({ family: 'gemini', key_hint: '-one' });
    const { row, charged } = await world().ended(org, idOf(reply));
    expect(row).toMatchObject({
      status: 'ok',
      provider: 'sim-g',
      output_tokens: 10,
      usage_source: 'provider',
    });
    // Cached tokens have no rate of their own here.
    expect(Math.abs(charged - priceOf(call?.prompt_tokens ?? 0, 10))).toBeLessThanOrEqual(1);
  });

  test('calls go round with their signature, in this dialect and back', async () => {
    const asked = 'sim: tools=2';
    const first = await ask(way, asked, { tools: tools[dialect] });
    const { message, ids } = messageOf(way, first.reply);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(2);
    expect(ids[0]).toMatch(/^call_[0-9A-Z]{26}_0$/);
    const history = [{ role: 'user', content: 'weather?' }, message, ...resultOf(dialect, ids)];
    const second = await ask(way, history, { tools: tools[dialect] });
    // The simulator refuses a changed or missing signature.
    expect(second.reply.status).toBe(200);
    const [, model, results] = (sentTo(second.upstream)[0] as Json)['contents'];
    expect(model.parts).toMatchObject([
      { functionCall: { id: ids[0], name: 'weather' }, thoughtSignature: expect.any(String) },
      { functionCall: { id: ids[1] } },
    ]);
    expect(results.parts.map((part: Json) => part['functionResponse'].name)).toEqual(['weather', 'weather']);
    expect(svcOf(second.reply)?.['warnings']).toEqual([]);
  });

  test("another model's calls are taken, and its thoughts dropped with a warning", async () => {
    const { message, ids } =
      dialect === 'chat'
        ? {
            message: {
              role: 'assistant',
              reasoning_content: 'hm',
              tool_calls: [{ id: 'c', type: 'function', function: { name: 'weather', arguments: '{}' } }],
            },
            ids: ['c'],
          }
        : {
            message: {
              role: 'assistant',
              content: [
                { type: 'thinking', thinking: 'hm', signature: 'EqQB' },
                { type: 'tool_use', id: 'c', name: 'weather', input: {} },
              ],
            },
            ids: ['c'],
          };
    const history = [{ role: 'user', content: 'weather?' }, message, ...resultOf(dialect, ids)];
    const { reply } = await ask(way, history, { tools: tools[dialect] });
    expect(reply.status).toBe(200);
    expect(svcOf(reply)?.['warnings'].map((warning: Json) => warning['code'])).toEqual([
      'reasoning_signature_dropped',
    ]);
  });

  test('thoughts are shown', async () => {
    const options = dialect === 'chat' ? { reasoning_effort: 'low' } : { thinking: { type: 'adaptive' } };
    const { reply, upstream } = await ask(way, 'think', options);
    expect(sentTo(upstream)[0]?.['generationConfig'].thinkingConfig).toMatchObject({ includeThoughts: true });
    expect(reply.text).toContain(dialect === 'chat' ? '"reasoning_content":"lorem' : '"thinking":"lorem');
    expect(reply.text).toContain(dialect === 'chat' ? 'google-gemini-v1' : 'svc1.');
  });

  test('a picture by base64 or by address reaches the provider as bytes', async () => {
    const inline =
      dialect === 'chat'
        ? image('chat', `data:image/png;base64,${PNG.toString('base64')}`)
        : {
            type: 'image',
            source: { type: 'base64', media_type: 'image/png', data: PNG.toString('base64') },
          };
    const path = `/png-${dialect}-${stream}`;
    const content = [{ type: 'text', text: 'see' }, inline, image(dialect, `${media.url}/to${path}`)];
    const { org, reply, upstream } = await ask(way, content);
    expect(reply.status).toBe(200);
    const data = { inlineData: { mimeType: 'image/png', data: PNG.toString('base64') } };
    expect(sentTo(upstream)[0]?.['contents'][0].parts).toEqual([{ text: 'see' }, data, data]);
    expect(media.asked).toContain(path);
    expect((await world().ended(org, idOf(reply))).row).toMatchObject({ status: 'ok', has_images: true });
  });

  test('a blocked prompt is refused and free', async () => {
    const { org, reply } = await ask(way, 'sim: finish=BLOCK_PROHIBITED_CONTENT');
    expect(reply.status).toBe(400);
    expect(errorOf(reply)).toMatchObject({ code: 'content_filtered' });
    const ended = await world().ended(org, idOf(reply));
    expect(ended).toMatchObject({ charged: 0, attempts: ['error content_filter'] });
    expect(ended.row).toMatchObject({ status: 'error', error_code: 'content_filtered' });
  });

  test('an answer that a filter stopped is settled', async () => {
    const { org, reply } = await ask(way, 'sim: finish=SAFETY tokens=4');
    expect(reply.text).toContain(dialect === 'chat' ? '"content_filter"' : '"stop_reason":"refusal"');
    const { row, charged } = await world().ended(org, idOf(reply));
    expect(row).toMatchObject({ status: 'ok', stop_reason: 'content_filter', output_tokens: 4 });
    expect(charged).toBeGreaterThan(0);
  });

  test('a throttled provider is left for the next, its key at rest', async () => {
    const mark = `gem-${dialect}-${stream}`;
    const route = { providers: { order: ['sim-g', 'sim-a'] } };
    const text = `sim: fail_first=1 fail_status=429 mark=${mark} tokens=3`;
    const { org, reply } = await ask(way, text, { svc: { route } }, 'gemini-3-cross');
    expect(reply.status).toBe(200);
    const ended = await world().ended(org, idOf(reply));
    expect(ended).toMatchObject({ attempts: ['error rate_limit', 'ok'], row: { provider: 'sim-a' } });
  });

  test('a stream that breaks off ends with an error and is free', async () => {
    for (const knob of ['cut_after=3', 'error_after=3', 'garbage_after=3']) {
      const { org, reply } = await ask(way, `sim: tokens=9 ${knob}`);
      expect(errorOf(reply)?.['code']).toMatch(/^upstream_/);
      expect((await world().ended(org, idOf(reply))).charged).toBe(0);
    }
  });
});

describe.concurrent.each(['chat', 'messages'] as const)('media that cannot be had (%s)', (dialect) => {
  const way = { dialect, stream: true };
  const member = dialect === 'chat' ? 'image_url.url' : 'source.url';
  const param = `messages[0].content[1].${member}`;

  test.each([
    ['/nowhere', 'media_fetch_failed', 'status'],
    ['/cut', 'media_fetch_failed', 'cut'],
    ['/away', 'media_fetch_failed', 'address'],
    ['/html', 'invalid_media', 'kind'],
    ['/text', 'invalid_media', 'kind'],
    ['/large', 'invalid_media', 'too_large'],
    ['https://10.0.0.1/a.png', 'media_fetch_failed', 'address'],
    ['https://nowhere.invalid/a.png', 'media_fetch_failed', 'dns'],
  ])('%s is %s, and free', async (path, code, reason) => {
    const url = path.startsWith('/') ? media.url + path : path;
    const { org, reply, upstream } = await ask(way, [{ type: 'text', text: url }, image(dialect, url)]);
    expect(reply.status).toBe(400);
    expect(errorOf(reply)).toMatchObject({ code, param, details: { reason } });
    expect(sentTo(upstream)).toEqual([]);
    const ended = await world().ended(org, idOf(reply));
    expect(ended).toMatchObject({ charged: 0, meter: null, attempts: [] });
    expect(ended.row).toMatchObject({ status: 'rejected', http_status: 400, error_code: code });
  });

  test('more than twenty are not begun', async () => {
    const many = Array.from({ length: 21 }, (_, i) => image(dialect, `${media.url}/many-${dialect}-${i}`));
    const { reply } = await ask(way, many);
    expect(errorOf(reply)).toMatchObject({
      ...{ code: 'invalid_media', param: `messages[0].content[20].${member}` },
      details: { reason: 'too_many' },
    });
    expect(media.asked.filter((path) => path.startsWith(`/many-${dialect}`))).toEqual([]);
  });

  test('is fetched only where there is money for the call', async () => {
    const org = await world().org(0);
    const { id } = world().model('gemini-3');
    const path = `/png-poor-${dialect}`;
    const body = {
      ...bodyOf(id, ''),
      messages: [{ role: 'user', content: [image(dialect, media.url + path)] }],
    };
    const reply = await send(world(), dialect, org.live_key, body).reply;
    expect(reply.status).toBe(402);
    expect(media.asked).not.toContain(path);
  });

  test('is fetched no longer than its caller waits', async () => {
    const org = await world().org();
    const { id } = world().model('gemini-3');
    const paths = Array.from({ length: 6 }, (_, i) => `/stall-${dialect}-${i}`);
    const content = paths.map((path) => image(dialect, media.url + path));
    const call = send(world(), dialect, org.live_key, {
      ...bodyOf(id, ''),
      messages: [{ role: 'user', content }],
    });
    const of = (list: readonly string[]) =>
      list.filter((path) => path.startsWith(`/stall-${dialect}`)).length;
    await eventually('four asked for', () => of(media.asked) === 4);
    call.leave();
    // Without the limit each would be waited for ten seconds, one after the other.
    await eventually('all four dropped', () => of(media.dropped) === 4, 7_000);
    expect(of(media.asked)).toBe(4);
  });

  test.each([
    ['first', ['sim-g', 'sim-a'], '', ['error client', 'ok']],
    ['second', ['sim-a', 'sim-g', 'sim-b'], 'fail_first=1', ['error overloaded', 'error client', 'ok']],
  ] as const)(
    'go as addresses to the endpoint behind the one that wants their bytes (%s)',
    async (...given) => {
      const [which, order, knob, attempts] = given;
      const url = `${media.url}/nowhere-${dialect}-${which}`;
      const kind = which === 'first' ? 'gemini-3-cross' : 'gemini-3-between';
      const text = `sim: mark=${dialect}-${which} ${knob} tokens=5`;
      const content = [{ type: 'text', text }, image(dialect, url)];
      const { org, reply } = await ask(way, content, { svc: { route: { providers: { order } } } }, kind);
      expect(reply.status).toBe(200);
      const ended = await world().ended(org, idOf(reply));
      expect(ended).toMatchObject({ attempts, row: { provider: order.at(-1) } });
    },
  );

  test.each([
    ['/nowhere', 400, 'media_fetch_failed'],
    // A fault that may pass must not be reported as an error in the request.
    ['/cut', 503, 'upstream_overloaded'],
  ] as const)('behind a provider that failed: %s is told as %i', async (path, status, code) => {
    const route = { providers: { order: ['sim-a', 'sim-g'] } };
    const url = `${media.url}${path}`;
    const text = 'sim: status=503';
    const content = [{ type: 'text', text }, image(dialect, url)];
    const { org, reply } = await ask(way, content, { svc: { route } }, 'gemini-3-cross');
    expect(reply.status).toBe(dialect === 'messages' && status === 503 ? 529 : status);
    expect(errorOf(reply)).toMatchObject(status === 400 ? { code, param } : { code });
    const ended = await world().ended(org, idOf(reply));
    expect(ended).toMatchObject({ charged: 0, meter: null, row: { status: 'error', error_code: code } });
    expect(ended.attempts).toEqual(['error overloaded', 'error client']);
  });

  test('goes to a family that takes addresses as it is', async () => {
    const org = await world().org();
    const { id, upstream } = world().model(dialect);
    const path = `/png-asis-${dialect}`;
    const body = {
      ...bodyOf(id, ''),
      messages: [{ role: 'user', content: [image(dialect, media.url + path)] }],
    };
    const reply = await send(world(), dialect, org.live_key, body).reply;
    expect(reply.status).toBe(200);
    expect(JSON.stringify(sentTo(upstream))).toContain(path);
    expect(media.asked).not.toContain(path);
  });
});

describe('a document by address', () => {
  const asking = async (path: string) => {
    const org = await world().org();
    const document = { type: 'document', source: { type: 'url', url: media.url + path } };
    const body = { ...bodyOf('calls/reads', ''), messages: [{ role: 'user', content: [document] }] };
    const reply = await send(world(), 'messages', org.live_key, body).reply;
    return { org, reply };
  };

  test('is no prompt too long for the context, whatever is held for it', async () => {
    expect((await asking('/text')).reply.status).toBe(200);
  });

  test('is not taken where its text has more tokens than are held for it', async () => {
    const { org, reply } = await asking('/text-long');
    expect(errorOf(reply)).toMatchObject({ code: 'invalid_media', details: { reason: 'too_large' } });
    expect((await world().ended(org, idOf(reply))).charged).toBe(0);
  });
});
