// What the official clients do by themselves after a cut or a timeout: they ask again, and never pay twice for it,
// streamed or whole, in every dialect they speak.
import { createServer, connect as dial, type Socket } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { eventually, type Kind, type Org, useWorld } from '../calls/world.ts';

const world = useWorld({ models: { chat: 40 } });
// A client that the machine kept from coming back in time would have left.
vi.setConfig({ maxConcurrency: 8 });

/** A connection to the gateway that a test can cut. */
interface Wire {
  readonly origin: string;
  /** Cuts what is connected now. */
  cut(): void;
  /** Requests that were sent, and connections that the gateway has ended. */
  seen(): { readonly asked: number; readonly ended: number };
  close(): void;
}

const wires: Wire[] = [];
/** Opens a wire; `silent`: the gateway does not see that a caller has hung up, as behind a proxy that waits. */
async function openWire(silent = false): Promise<Wire> {
  const sockets = new Set<Socket>();
  const there = new Set<Socket>();
  const seen = { asked: 0, ended: 0 };
  const server = createServer({ allowHalfOpen: silent }, (caller) => {
    const gateway = dial(world().gateway.port, '127.0.0.1');
    there.add(gateway);
    caller.once('data', () => seen.asked++);
    gateway.on('close', () => {
      there.delete(gateway);
      seen.ended++;
    });
    for (const [one, other] of [
      [caller, gateway],
      [gateway, caller],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        if (!silent || one === gateway) other.destroy();
      });
      one.pipe(other, { end: !silent });
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  const wire: Wire = {
    origin: `http://127.0.0.1:${port}`,
    cut: () => [...sockets, ...there].forEach((socket) => void socket.destroy()),
    seen: () => seen,
    close() {
      server.close();
      wire.cut();
    },
  };
  wires.push(wire);
  return wire;
}
afterAll(() => wires.forEach((wire) => void wire.close()));

interface Options {
  readonly origin: string;
  readonly key: string;
  readonly model: string;
  readonly text: string;
  readonly stream: boolean;
  readonly timeout?: number;
  readonly maxRetries?: number;
  readonly signal?: AbortSignal;
}

const openai = ({ origin, key, timeout = 20_000, maxRetries = 2 }: Options) =>
  new OpenAI({ baseURL: `${origin}/v1`, apiKey: key, timeout, maxRetries });

/** Each asks and returns the text of its answer. */
const clients = {
  'openai chat': async (o: Options) => {
    const body = { model: o.model, max_tokens: 64, messages: [{ role: 'user' as const, content: o.text }] };
    const { completions } = openai(o).chat;
    if (!o.stream) return (await completions.create(body, pick(o))).choices[0]?.message.content ?? '';
    let text = '';
    const stream = await completions.create({ ...body, stream: true }, pick(o));
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    return text;
  },
  'openai responses': async (o: Options) => {
    const body = { model: o.model, max_output_tokens: 64, input: o.text };
    const { responses } = openai(o);
    if (!o.stream) return (await responses.create(body, pick(o))).output_text;
    let text = '';
    for await (const event of await responses.create({ ...body, stream: true }, pick(o))) {
      if (event.type === 'response.output_text.delta') text += event.delta;
    }
    return text;
  },
  anthropic: async (o: Options) => {
    const { origin, key, timeout = 20_000, maxRetries = 2 } = o;
    const { messages } = new Anthropic({ baseURL: origin, apiKey: key, timeout, maxRetries });
    const body = { model: o.model, max_tokens: 64, messages: [{ role: 'user' as const, content: o.text }] };
    if (!o.stream) {
      const { content } = await messages.create(body, pick(o));
      return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    }
    let text = '';
    for await (const event of await messages.create({ ...body, stream: true }, pick(o))) {
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text;
    }
    return text;
  },
} satisfies Record<string, (options: Options) => Promise<string>>;
type Client = keyof typeof clients;

function pick({ signal }: Options): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

const asked = (upstream: string) => world().sim.calls.filter(({ model }) => model === upstream);

async function rowsOf(org: Org) {
  const { rows } = await world().db.query<{ request_id: string; status: string; cost_micro: string }>(
    'select request_id, status, cost_micro from request_row where org_id = $1',
    [org.org_id],
  );
  return rows;
}

async function expectPaidOnce(org: Org, upstream: string): Promise<void> {
  expect(asked(upstream)).toHaveLength(1);
  const [row, ...more] = await eventually('a row', async () => {
    const rows = await rowsOf(org);
    return rows.length > 0 && rows;
  });
  expect(more).toEqual([]);
  expect(row?.status).toBe('ok');
  const ended = await world().ended(org, row?.request_id ?? '');
  expect(ended.charged).toBeGreaterThan(0);
  const { rows } = await world().db.query<{ n: number }>(
    'select count(*)::int as n from ledger.entry where book_id = $1 and request_id is not null',
    [org.live_book_id],
  );
  expect(rows[0]?.n).toBe(1);
}

const pairs: readonly { readonly client: Client; readonly kind: Kind }[] = [
  { client: 'openai chat', kind: 'chat' },
  { client: 'openai chat', kind: 'full' },
  { client: 'openai responses', kind: 'chat' },
  { client: 'anthropic', kind: 'messages' },
  { client: 'anthropic', kind: 'chat' },
];
const ways = pairs.flatMap((pair) => [true, false].map((stream) => ({ ...pair, stream })));

const chatBody = (text: string) => ({ max_tokens: 64, messages: [{ role: 'user', content: text }] });
const dialects = [
  { path: '/v1/chat/completions', kind: 'chat', bodyOf: chatBody },
  { path: '/v1/messages', kind: 'messages', bodyOf: chatBody },
  {
    path: '/v1/responses',
    kind: 'chat',
    bodyOf: (text: string) => ({ max_output_tokens: 64, input: text }),
  },
].flatMap((dialect) => [true, false].map((stream) => ({ ...dialect, kind: dialect.kind as Kind, stream })));
const RETRY_COUNT = 'x-stainless-retry-count';

beforeAll(async () => {
  // Each code path once, before it counts how long it takes.
  const { live_key: key } = await world().org();
  for (const client of Object.values(clients)) {
    for (const stream of [true, false]) {
      const { id: model } = world().model('chat');
      await client({ origin: world().gateway.base_url, key, model, stream, text: 'sim: tokens=2' });
    }
  }
});

describe.concurrent("a client's own retry never pays twice (docs/outcomes.md#asked-again-by-the-client)", () => {
  test.each(ways)('cut before the answer: $client on $kind, stream $stream', async (way) => {
    const org = await world().org();
    const { id: model, upstream } = world().model(way.kind);
    const wire = await openWire();
    const text = 'sim: tokens=20 chunks=5 delay_ms=900';
    const said = clients[way.client]({ ...wire, ...way, key: org.live_key, model, text });
    await eventually('the provider is asked', () => asked(upstream).length > 0);
    wire.cut();
    expect((await said).split(' ').length).toBeGreaterThanOrEqual(20);
    await expectPaidOnce(org, upstream);
  });

  test.each(ways)(
    'the answer is done before the client is back: $client on $kind, stream $stream',
    async (way) => {
      const org = await world().org();
      const { id: model, upstream } = world().model(way.kind);
      const wire = await openWire();
      const text = 'sim: tokens=20 chunks=5 delay_ms=120';
      const said = clients[way.client]({ ...wire, ...way, key: org.live_key, model, text });
      await eventually('the provider is asked', () => asked(upstream).length > 0);
      wire.cut();
      expect((await said).split(' ').length).toBeGreaterThanOrEqual(20);
      await expectPaidOnce(org, upstream);
    },
  );

  test.each(ways)(
    'its first connection only seems to be open: $client on $kind, stream $stream',
    async (way) => {
      const org = await world().org();
      const { id: model, upstream } = world().model(way.kind);
      const wire = await openWire(true);
      // Gone at 2 s, back by 2.5 for two seconds.
      const text = 'sim: tokens=20 chunks=5 delay_ms=3400';
      const said = clients[way.client]({ ...wire, ...way, key: org.live_key, model, text, timeout: 2_000 });
      expect((await said).split(' ').length).toBeGreaterThanOrEqual(20);
      expect(wire.seen().asked).toBe(2);
      expect(wire.seen().ended).toBe(1);
      await expectPaidOnce(org, upstream);
    },
  );

  test.each(dialects)(
    'two retries at once while the first is connected: $path, stream $stream',
    async (way) => {
      const org = await world().org();
      const { id: model, upstream } = world().model(way.kind);
      const body = { ...way.bodyOf('sim: tokens=20 chunks=5 delay_ms=900'), model, stream: way.stream };
      const ask = (count: number) =>
        world().chat(org.live_key, body, { path: way.path, headers: { [RETRY_COUNT]: String(count) } }).reply;
      const first = ask(0);
      await eventually('the provider is asked', () => asked(upstream).length > 0);
      const replies = await Promise.all([first, ask(1), ask(1)]);
      const answered = replies.filter(({ complete, status }) => complete && status === 200);
      expect(answered.map(({ text }) => text.includes('lorem'))).toEqual([true]);
      expect(replies[0]).toMatchObject({ status: 0, complete: false });
      await expectPaidOnce(org, upstream);
    },
  );

  test.each([true, false])('two timeouts in a row (stream %s)', async (stream) => {
    const org = await world().org();
    const { id: model, upstream } = world().model('chat');
    const options = { origin: world().gateway.base_url, key: org.live_key, model, stream, timeout: 1_000 };
    // Gone at 1 s, back by 1.5, gone at 2.5 at most, back from 3.1 to 3.5 for another second.
    const text = 'sim: tokens=20 delay_ms=2600';
    expect(await clients['openai chat']({ ...options, text })).toContain('lorem');
    await expectPaidOnce(org, upstream);
  });

  test('a call that failed while its client was away is tried anew', async () => {
    const org = await world().org();
    const { id: model, upstream } = world().model('chat');
    const wire = await openWire();
    const text = `sim: mark=${upstream} fail_first=1 slow_headers_ms=200 tokens=20`;
    const said = clients.anthropic({ ...wire, key: org.live_key, model, text, stream: true });
    await eventually('the provider is asked', () => asked(upstream).length > 0);
    wire.cut();
    expect(await said).toContain('lorem');
    expect(asked(upstream)).toHaveLength(2);
    const rows = await eventually('both rows', async () => {
      const found = await rowsOf(org);
      return found.length === 2 && found;
    });
    expect(rows.map(({ status }) => status).sort()).toEqual(['error', 'ok']);
  });
});

describe.concurrent('who stays away has left', () => {
  test('a stream is cancelled within two seconds and paid as far as it came', async () => {
    const org = await world().org();
    const { id: model, upstream } = world().model('chat');
    const leave = new AbortController();
    const said = clients['openai chat']({
      ...{ origin: world().gateway.base_url, key: org.live_key, model, stream: true },
      ...{ text: 'sim: tokens=64 chunks=64 chunk_ms=200 delay_ms=300', signal: leave.signal },
    });
    said.catch(() => {});
    await eventually('the provider is asked', () => asked(upstream).length > 0);
    leave.abort();
    const left_at = performance.now();
    await expect(said).rejects.toThrow();
    const [row] = await eventually('its row', async () => {
      const rows = await rowsOf(org);
      return rows.length > 0 && rows;
    });
    // The whole answer would have taken thirteen.
    expect(performance.now() - left_at).toBeLessThan(8_000);
    const ended = await world().ended(org, row?.request_id ?? '');
    expect(ended.row).toMatchObject({ status: 'cancelled', error_code: 'client_closed' });
    expect(ended.row.output_tokens).toBeLessThan(60);
    expect(asked(upstream)).toHaveLength(1);
  });
});
