// Idempotency-Key on every route that takes calls (docs/idempotency.md#calls), each rule tested by the
// same table: a retry gets the same answer without a further charge, also when the gateway was killed in between.
import { describe, expect, test } from 'vitest';
import { checkChatStream } from '../grammar/chat.ts';
import { checkCompletionsStream } from '../grammar/completions.ts';
import { checkMessagesStream } from '../grammar/messages.ts';
import { checkNativeStream, readNativeStream } from '../grammar/native.ts';
import { checkResponsesStream } from '../grammar/responses.ts';
import { type Exchange, errorOf, eventsOf, type Json, type Reply } from './caller.ts';
import { answer, taskExtras, taskModel } from './formats/tasks-world.ts';
import {
  chunk,
  endChunks,
  type Handler,
  refuse,
  streamHead,
  textChunk,
  usageOf,
  wholeAnswer,
} from './upstream.ts';
import { eventually, idOf, type Org, useWorld } from './world.ts';

const world = useWorld({
  gateway: 'alone',
  models: { 'script-full': 80 },
  extras: taskExtras,
  env: { SVC_LEDGER_LEASE_SECONDS: '2' },
});

const SAID = 'lorem ipsum dolor ';
const ask = [{ role: 'user', content: 'Hi' }];
const native = { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] };
const joined = (pieces: unknown[]) => pieces.map((piece) => piece ?? '').join('');

interface Route {
  readonly path: string;
  readonly body: Json;
  /** Further members of the request, besides those of the table's stream and conflict. */
  readonly other: Json;
  /** The content of a whole answer. */
  whole(json: Json): unknown;
  /** The content of a stream; absent: the route never streams. */
  streamed?(reply: Reply): unknown;
  faults?(text: string): string[];
}

const routes: readonly Route[] = [
  {
    path: '/v1/chat/completions',
    body: { max_tokens: 64, messages: ask },
    other: { max_tokens: 63 },
    whole: ({ choices }) => choices[0].message.content,
    streamed: (reply) => joined(eventsOf(reply.text).map((e) => e['choices'][0]?.delta.content)),
    faults: (text) => checkChatStream(text, { include_usage: false }),
  },
  {
    path: '/v1/messages',
    body: { max_tokens: 64, messages: ask },
    other: { max_tokens: 63 },
    whole: ({ content }) => joined(content.map(({ text }: Json) => text)),
    streamed: (reply) => joined(eventsOf(reply.text).map((e) => e['delta']?.text)),
    faults: (text) => checkMessagesStream(text),
  },
  {
    path: '/v1/completions',
    body: { max_tokens: 64, prompt: 'Hi' },
    other: { max_tokens: 63 },
    whole: ({ choices }) => choices[0].text,
    streamed: (reply) => joined(eventsOf(reply.text).map((e) => e['choices'][0]?.text)),
    faults: (text) => checkCompletionsStream(text, { include_usage: false }),
  },
  {
    path: '/v1/responses',
    body: { max_output_tokens: 64, input: 'Hi' },
    other: { max_output_tokens: 63 },
    whole: ({ output }) => output[0].content[0].text,
    streamed: (reply) =>
      joined(eventsOf(reply.text).map((e) => (e['type'] === 'response.output_text.delta' ? e['delta'] : ''))),
    faults: (text) => checkResponsesStream(text),
  },
  {
    path: '/v1/svc/generate',
    body: { ...native, generation: { max_tokens: 64 } },
    other: { generation: { max_tokens: 63 } },
    whole: ({ candidates }) => candidates[0].content[0].text,
    streamed: ({ text }) => (readNativeStream(text) as Json)['candidates'][0].content[0].text,
    faults: (text) => checkNativeStream(text),
  },
  {
    path: '/v1/embeddings',
    body: { input: ['one', 'two'], encoding_format: 'float' },
    other: { input: ['one', 'three'] },
    whole: ({ data }) => data.map(({ embedding }: Json) => embedding),
  },
  {
    path: '/v1/svc/embed',
    body: { input: ['one', 'two'] },
    other: { input: ['one', 'three'] },
    whole: ({ data, embeddings }) => data ?? embeddings,
  },
  {
    path: '/v1/svc/rerank',
    body: { query: 'one', documents: ['two', 'three'] },
    other: { query: 'four' },
    whole: ({ results }) => results,
  },
];

interface Scene {
  readonly route: Route;
  readonly org: Org;
  readonly body: Json;
  /** How often the provider was asked. */
  asked(): number;
  send(more?: Json, key?: string): Exchange;
  /** What the provider answers from now on. */
  script(handler: Handler): void;
}

const vectors = answer({
  data: [0, 1].map((index) => ({ object: 'embedding', index, embedding: [index, 0.5] })),
  usage: { prompt_tokens: 2, total_tokens: 2 },
});
const ranking = answer({
  id: 'x',
  results: [0, 1].map((index) => ({ index, relevance_score: 0.5 - index / 4 })),
});

/** A chat provider that says the same whole and streamed. */
function says(upstream: string): Handler {
  return (response, { body }) => {
    if (body['stream'] !== true) {
      const message = { role: 'assistant', content: SAID };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      return answer(wholeAnswer(upstream, { choices }))(response, null as never);
    }
    streamHead(response);
    response.write(textChunk(upstream, SAID.slice(0, 6)) + textChunk(upstream, SAID.slice(6)));
    response.end(endChunks(upstream, usageOf(10, 3)));
  };
}

/** A provider that begins an answer, or sends nothing, and never ends. */
const hangs =
  (upstream: string): Handler =>
  (response, { body }) => {
    if (body['stream'] !== true) return;
    streamHead(response);
    response.write(
      chunk(upstream, { choices: [{ index: 0, delta: { content: SAID }, finish_reason: null }] }),
    );
  };

/** A provider that answers calls of `route` at once. */
function handlerOf({ path, streamed }: Route, upstream: string): Handler {
  if (path.endsWith('rerank')) return ranking;
  return streamed === undefined ? vectors : says(upstream);
}

async function scene(route: Route): Promise<Scene> {
  const org = await world().org();
  const task = route.streamed === undefined;
  const rank = route.path.endsWith('rerank');
  const { id, upstream } = task ? taskModel(rank ? 'rank-script' : 'script') : world().model('script-full');
  const site = rank ? 'c' : 'a';
  const script = (handler: Handler) => world().script.on(upstream, site, handler);
  script(handlerOf(route, upstream));
  const body = { model: id, ...route.body };
  return {
    ...{ route, org, body, script },
    asked: () => world().script.received(upstream).length,
    send(more = {}, key = 'k') {
      const headers = { authorization: `Bearer ${org.live_key}`, 'idempotency-key': key };
      return world().chat(org.live_key, { ...body, ...more }, { path: route.path, headers });
    },
  };
}

const isStream = (reply: Reply) => reply.headers['content-type']?.startsWith('text/event-stream') === true;

/** The content and the cost of a reply. */
function bought({ route }: Scene, reply: Reply): unknown {
  expect(reply.status, reply.text).toBe(200);
  const streamed = isStream(reply);
  if (streamed) expect(route.faults?.(reply.text)).toEqual([]);
  const content = streamed ? route.streamed?.(reply) : route.whole(JSON.parse(reply.text) as Json);
  const reported = streamed ? reply.trailers : reply.headers;
  return { id: idOf(reply), content, cost: Number(reported['x-svc-cost-micro']) };
}

async function expectPaidOnce({ org }: Scene, id: string): Promise<void> {
  expect((await world().ended(org, id)).charged).toBeGreaterThan(0);
  const { rows } = await world().db.query<{ n: number }>(
    'select count(*)::int as n from ledger.entry where book_id = $1 and request_id is not null',
    [org.live_book_id],
  );
  expect(rows[0]?.n).toBe(1);
}

const modesOf = ({ streamed }: Route) =>
  streamed === undefined ? [{}] : [{ stream: true }, { stream: false }];
const pairs = routes.flatMap((route) =>
  modesOf(route).flatMap((first) =>
    modesOf(route).map((second) => ({ path: route.path, route, first, second })),
  ),
);

describe.concurrent('a retry is a replay', () => {
  test.each(pairs)('$path, $first then $second', async ({ route, first, second }) => {
    const at = await scene(route);
    const original = await at.send(first).reply;
    const replay = await at.send(second).reply;
    expect(replay.headers['x-svc-idempotent-replay']).toBe('true');
    expect(isStream(replay)).toBe('stream' in second && second.stream === true);
    expect(bought(at, replay)).toEqual(bought(at, original));
    expect(at.asked()).toBe(1);
    await expectPaidOnce(at, idOf(original));
  });
});

const every = routes.flatMap((route) => modesOf(route).map((mode) => ({ path: route.path, route, mode })));

describe.concurrent('a key that is taken', () => {
  test.each(every)('by a call that runs is 409: $path, $mode', async ({ route, mode }) => {
    const at = await scene(route);
    let finish = () => {};
    const held = new Promise<void>((done) => {
      finish = done;
    });
    const upstream = at.body['model'].replace(/^(calls|tasks)\//, '');
    const usual = handlerOf(route, upstream);
    at.script((response, received) => void held.then(() => usual(response, received)));
    const first = at.send(mode);
    await eventually('the provider is asked', () => at.asked() === 1);
    const second = await at.send(mode).reply;
    expect([second.status, errorOf(second)?.['code']]).toEqual([409, 'idempotency_in_progress']);
    expect(second.headers).toMatchObject({ 'retry-after': '1', 'x-should-retry': 'true' });
    finish();
    const original = await first.reply;
    expect(bought(at, await at.send(mode).reply)).toEqual(bought(at, original));
    expect(at.asked()).toBe(1);
    await expectPaidOnce(at, idOf(original));
  });

  test.each(routes)('by another body is 422: $path', async (route) => {
    const at = await scene(route);
    const original = await at.send().reply;
    const other = await at.send(route.other).reply;
    expect([other.status, errorOf(other)?.['code']]).toEqual([422, 'idempotency_conflict']);
    expect(other.headers['x-should-retry']).toBe('false');
    await expectPaidOnce(at, idOf(original));
  });

  test.each(every)('is free again after an error: $path, $mode', async ({ route, mode }) => {
    const at = await scene(route);
    const upstream = at.body['model'].replace(/^(calls|tasks)\//, '');
    at.script(refuse(400, { error: { message: 'no', type: 'invalid_request_error' }, message: 'no' }));
    const failed = await at.send(mode).reply;
    expect(failed.status).toBe(400);
    await world().ended(at.org, idOf(failed));
    at.script(handlerOf(route, upstream));
    const again = await at.send(mode).reply;
    expect(again.status).toBe(200);
    expect(again.headers['x-svc-idempotent-replay']).toBeUndefined();
    expect(idOf(again)).not.toBe(idOf(failed));
    await expectPaidOnce(at, idOf(again));
  });
});

test.concurrent.each([
  '/v1/svc/dry_run',
  '/v1/svc/count_tokens',
  '/v1/messages/count_tokens',
  '/v1/responses/input_tokens',
])('%s asks and buys nothing: a key means nothing there', async (path) => {
  const org = await world().org();
  const { id: model } = world().model('script-full');
  const send = (text: string) => {
    const headers = { authorization: `Bearer ${org.live_key}`, 'idempotency-key': 'k' };
    const content = path.includes('/svc/') ? [{ type: 'text', text }] : text;
    const messages = [{ role: 'user', content }];
    const body = path.includes('responses') ? { model, input: text } : { model, messages };
    return world().chat(org.live_key, body, { path, headers }).reply;
  };
  for (const text of ['one', 'one', 'two']) {
    const reply = await send(text);
    expect(reply.status, reply.text).toBe(200);
    expect(reply.headers['x-svc-idempotent-replay']).toBeUndefined();
  }
  const { rows } = await world().db.query('select 1 from ledger.idempotency where book_id = $1', [
    org.live_book_id,
  ]);
  expect(rows).toEqual([]);
});

// Last, because the gateway of the file is killed.
test('kill -9 in mid-call frees every key, and what was paid before is replayed after', async () => {
  const running = await Promise.all(every.map(async ({ route, mode }) => ({ mode, at: await scene(route) })));
  const done = await Promise.all(routes.map(async (route) => ({ at: await scene(route) })));
  const paid = await Promise.all(done.map(({ at }) => at.send().reply));
  const lost = running.map(({ at, mode }) => {
    at.script(hangs(at.body['model'].replace(/^(calls|tasks)\//, '')));
    return at.send(mode);
  });
  await eventually('all are under way', () => running.every(({ at }) => at.asked() === 1));
  await world().gateway.kill();
  for (const exchange of lost) expect((await exchange.reply).complete).toBe(false);
  await world().restart();
  for (const [i, { at }] of done.entries()) {
    const replay = await at.send().reply;
    expect(replay.headers['x-svc-idempotent-replay']).toBe('true');
    expect(bought(at, replay)).toEqual(bought(at, paid[i] as Reply));
    expect(at.asked()).toBe(1);
  }
  await Promise.all(
    running.map(async ({ at, mode }) => {
      const upstream = at.body['model'].replace(/^(calls|tasks)\//, '');
      const { path } = at.route;
      at.script(handlerOf(at.route, upstream));
      const again = await eventually(
        `the key of ${path} is free`,
        async () => {
          const reply = await at.send(mode).reply;
          return reply.status === 409 ? null : reply;
        },
        25_000,
      );
      bought(at, again);
      expect(again.headers['x-svc-idempotent-replay']).toBeUndefined();
      expect(at.asked()).toBe(2);
      await expectPaidOnce(at, idOf(again));
    }),
  );
}, 60_000);
