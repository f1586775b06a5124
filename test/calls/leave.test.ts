// A caller that leaves, in each phase of a call (docs/outcomes.md#the-caller-leaves).
import { ledgerNaming, ledgerSchemaOf } from '@svc/core/db/index.ts';
import { describe, expect, test } from 'vitest';
import { withClient } from '../support/books.ts';
import type { Exchange } from './caller.ts';
import { chunk, streamHead, textChunk } from './upstream.ts';
import {
  bodyOf,
  type Dialect,
  eventually,
  expectBooksInOrder,
  type Kind,
  type Org,
  priceOf,
  send,
  useWorld,
} from './world.ts';

const world = useWorld();

interface Left {
  readonly org: Org;
  readonly upstream: string;
  /** Milliseconds until the provider noticed that the caller left; null if it never did. */
  readonly seen_after_ms: number | null;
}

const simCall = (model: string) => world().sim.calls.find((call) => call.model === model);

/** Sends a call of `text`, leaves when `when` resolves, and waits until the provider is done with it. */
async function leave(
  call: { dialect: Dialect; kind: Kind; text: string; more?: object; headers?: Record<string, string> },
  when: (exchange: Exchange, upstream: string) => Promise<unknown>,
): Promise<Left> {
  const org = await world().org();
  const model = world().model(call.kind);
  const body = bodyOf(model.id, call.text, { max_tokens: 500, ...call.more });
  const more = call.headers === undefined ? {} : { headers: call.headers };
  const exchange = send(world(), call.dialect, org.live_key, body, more);
  await when(exchange, model.upstream);
  const at = Date.now();
  exchange.leave();
  const done = await eventually('the provider is done', () => {
    const found = simCall(model.upstream);
    return found !== undefined && found.ended_ms !== null ? found : null;
  });
  const seen_after_ms = done.client_gone ? (done.ended_ms as number) - at : null;
  return { org, upstream: model.upstream, seen_after_ms };
}

/** The only call of `org`; a caller that leaves before the headers does not learn its id. */
async function onlyCall(org: Org) {
  const id = await eventually('the row', async () => {
    const { rows } = await world().db.query<{ request_id: string }>(
      'select request_id from request_row where org_id = $1',
      [org.org_id],
    );
    return rows[0]?.request_id ?? null;
  });
  return world().ended(org, id);
}

const reached = (_exchange: Exchange, upstream: string) =>
  eventually('the provider has the call', () => simCall(upstream) ?? null);
const inContent = (exchange: Exchange) => exchange.until((text) => text.includes('ipsum'));
const paced = 'sim: tokens=400 chunks=100 chunk_ms=100';
/** Cancelled at once: not when the answer ends by itself, ten seconds and more after its start, nor at a time limit. */
const AT_ONCE_MS = 3_000;

const lanes = [
  { dialect: 'chat', kind: 'chat' },
  { dialect: 'chat', kind: 'messages' },
  { dialect: 'messages', kind: 'messages' },
  { dialect: 'messages', kind: 'chat' },
] as const;

test.concurrent('during the upload: no hold, no row, no charge', async () => {
  const org = await world().org();
  const { id } = world().model('chat');
  const part = JSON.stringify(bodyOf(id, 'Hi')).slice(0, 30);
  const exchange = world().chat(org.live_key, {}, { body: part, declared: 5_000 });
  const other = world().chat(org.live_key, {}, { body: part, declared: 5_000 });
  await eventually(
    'both have sent',
    () => exchange.request.writableLength === 0 && other.request.writableLength === 0,
  );
  exchange.leave();
  expect((await exchange.reply).status).toBe(0);
  const whole = await world().chat(org.live_key, bodyOf(id, 'Hi')).reply;
  await world().ended(org, whole.headers['x-svc-request-id'] as string);
  other.leave();
  const { rows } = await world().db.query('select 1 from request_row where org_id = $1', [org.org_id]);
  expect(rows).toHaveLength(1);
});

test('before the hold is answered: the hold is given back, no attempt is made, nothing is charged', async () => {
  const org = await world().org();
  const { id, upstream } = world().model('chat');
  await withClient(org.ledger_url, async (client) => {
    const named = ledgerNaming(ledgerSchemaOf(org.ledger_url));
    await client.query('begin');
    await client.query(named('select 1 from ledger.book where book_id = $1 for update'), [org.live_book_id]);
    const exchange = world().chat(org.live_key, bodyOf(id, 'Hi'));
    await eventually('the hold waits', async () => {
      // On a connection of its own, because a transaction sees the activity as of its first statement.
      const { rows } = await withClient(org.ledger_url, (other) =>
        other.query<{ n: number }>(
          `select count(*)::int as n from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`,
        ),
      );
      return (rows[0]?.n ?? 0) > 0;
    });
    exchange.leave();
    await exchange.reply;
    // An answer to what was asked after the leaving: the gateway has seen both.
    await fetch(`${world().gateway.base_url}/healthz`);
    await client.query('commit');
  });
  const ended = await onlyCall(org);
  expect(ended).toMatchObject({ charged: 0, meter: null, attempts: [] });
  expect(ended.row).toMatchObject({ status: 'cancelled', error_code: 'client_closed', http_status: 499 });
  expect(simCall(upstream)).toBeUndefined();
});

test.each([true, false])(
  'while the provider is being connected to: no attempt, the hold is given back, nothing is charged (docs/outcomes.md#left-before-anything-was-sent, stream %s)',
  async (stream) => {
    const org = await world().org();
    const { id } = world().model('hung');
    const exchange = world().chat(org.live_key, bodyOf(id, 'Hi', { stream }));
    await eventually('the money is held and the connection waits', async () => {
      const values = [org.live_book_id];
      const { rowCount } = await world().db.query('select 1 from ledger.hold where book_id = $1', values);
      return rowCount === 1 && world().hung.waiting() > 0;
    });
    exchange.leave();
    const ended = await onlyCall(org);
    expect(ended).toMatchObject({ charged: 0, meter: null, attempts: [] });
    expect(ended.row).toMatchObject({ status: 'cancelled', error_code: 'client_closed', http_status: 499 });
    expect(ended.row).toMatchObject({ attempts: 0, provider: '', usage_source: '' });
  },
);

describe.concurrent('a stream whose provider stops billing when it is cancelled (docs/outcomes.md#left-mid-stream)', () => {
  test.each(lanes)(
    'before the first byte: cancelled at once, the prompt is paid ($dialect on $kind)',
    async (lane) => {
      const more = { stream: true };
      const left = await leave({ ...lane, text: 'sim: delay_ms=20000', more }, reached);
      expect(left.seen_after_ms).toBeLessThan(AT_ONCE_MS);
      const ended = await onlyCall(left.org);
      expect(ended.row).toMatchObject({ status: 'cancelled', error_code: 'client_closed', http_status: 499 });
      expect(ended.row).toMatchObject({ usage_source: 'estimate', output_tokens: 0 });
      expect(ended.attempts).toEqual(['cancelled client_gone']);
      expect(ended.row.route_trace?.left).toEqual({ ms: expect.any(Number), read_on: null });
      expect(ended.charged).toBe(priceOf(ended.row.input_tokens, 0));
      expect(ended.charged).toBeGreaterThan(0);
    },
  );

  test.each(lanes)(
    'in the middle: cancelled at once, what was produced is paid ($dialect on $kind)',
    async (lane) => {
      const left = await leave({ ...lane, text: paced, more: { stream: true } }, inContent);
      expect(left.seen_after_ms).toBeLessThan(AT_ONCE_MS);
      const ended = await onlyCall(left.org);
      expect(ended.row).toMatchObject({ status: 'cancelled', error_code: 'client_closed' });
      expect(ended.attempts).toEqual(['cancelled client_gone']);
      expect(ended.charged).toBe(priceOf(ended.row.input_tokens, ended.row.output_tokens));
      expect(ended.row.output_tokens).toBeGreaterThan(0);
      expect(ended.row.output_tokens).toBeLessThan(400);
      const delivered = simCall(left.upstream)?.tokens_delivered ?? 0;
      expect(ended.row.output_tokens).toBeLessThanOrEqual(delivered);
      expect(ended.meter).toMatchObject({ estimated: true });
    },
  );

  test('a prompt counted by the provider in its first event is paid by that count', async () => {
    const left = await leave(
      { dialect: 'messages', kind: 'messages', text: paced, more: { stream: true } },
      inContent,
    );
    const ended = await onlyCall(left.org);
    expect(ended.row.input_tokens).toBe(simCall(left.upstream)?.prompt_tokens);
  });
});

// docs/outcomes.md#left-while-drained, docs/outcomes.md#left-whole-answer
describe.concurrent('an answer that the provider bills whole is drained and paid by its figures', () => {
  const stream = { stream: true };
  const drained = [
    { name: 'bills_full, in the middle', dialect: 'chat', kind: 'full', more: stream, when: inContent },
    { name: 'bills_full, before the first byte', dialect: 'chat', kind: 'full', more: stream, when: reached },
    { name: 'unknown', dialect: 'chat', kind: 'unknown', more: stream, when: inContent },
    { name: 'hidden reasoning', dialect: 'chat', kind: 'hidden', more: stream, when: inContent },
    { name: 'canonical lane', dialect: 'messages', kind: 'full', more: stream, when: inContent },
    { name: 'whole, raw', dialect: 'chat', kind: 'chat', more: {}, when: reached, why: 'whole_answer' },
    {
      name: 'whole, raw',
      dialect: 'messages',
      kind: 'messages',
      more: {},
      when: reached,
      why: 'whole_answer',
    },
    { name: 'whole, canonical lane', dialect: 'messages', kind: 'full', more: {}, when: reached },
  ] as const;
  test.each(drained)('$name ($dialect on $kind)', async ({ dialect, kind, more, when, ...rest }) => {
    const text = 'sim: tokens=60 chunks=20 chunk_ms=80 delay_ms=600';
    const left = await leave({ dialect, kind, text, more }, when);
    expect(left.seen_after_ms).toBeNull();
    const ended = await onlyCall(left.org);
    const reported = simCall(left.upstream)?.reported;
    expect(ended.charged).toBe(priceOf(reported?.prompt_tokens ?? 0, 60));
    expect(ended.row).toMatchObject({
      status: 'cancelled',
      error_code: 'client_closed',
      usage_source: 'provider',
    });
    expect(ended.attempts).toEqual(['ok']);
    const read_on = 'why' in rest ? rest.why : 'billed_whole';
    expect(ended.row.route_trace?.left).toEqual({ ms: expect.any(Number), read_on });
    expect(ended.row.route_trace?.left?.ms).toBeLessThan(ended.row.duration_ms);
    expect(ended.meter).toMatchObject({ estimated: false });
  });

  test('a call with an Idempotency-Key, because its caller will ask again', async () => {
    const headers = { 'idempotency-key': 'left' };
    const text = 'sim: tokens=60 chunks=20 chunk_ms=80';
    const left = await leave({ dialect: 'chat', kind: 'chat', text, more: stream, headers }, inContent);
    expect(left.seen_after_ms).toBeNull();
    const ended = await onlyCall(left.org);
    expect(ended.row).toMatchObject({ status: 'cancelled', output_tokens: 60 });
    expect(ended.row.route_trace?.left?.read_on).toBe('idempotency_key');
    expect(ended.attempts).toEqual(['ok']);
  });
});

test.concurrent('a whole answer of the canonical lane is cancelled where that stops the bill', async () => {
  const left = await leave({ dialect: 'messages', kind: 'chat', text: paced }, async (exchange, upstream) => {
    await reached(exchange, upstream);
    await eventually('some is produced', () => (simCall(upstream)?.tokens_delivered ?? 0) > 20);
  });
  expect(left.seen_after_ms).toBeLessThan(AT_ONCE_MS);
  const ended = await onlyCall(left.org);
  expect(ended.attempts).toEqual(['cancelled client_gone']);
  expect(ended.row.output_tokens).toBeGreaterThan(0);
  expect(ended.charged).toBe(priceOf(ended.row.input_tokens, ended.row.output_tokens));
});

test.concurrent('a drain that fails is paid for what was produced until then', async () => {
  const text = 'sim: tokens=60 chunks=20 chunk_ms=100 error_after=15';
  const left = await leave({ dialect: 'chat', kind: 'full', text, more: { stream: true } }, inContent);
  const ended = await onlyCall(left.org);
  expect(ended.row).toMatchObject({ status: 'cancelled', error_code: 'client_closed', output_tokens: 45 });
  expect(ended.attempts).toEqual(['error stream']);
  expect(ended.charged).toBe(priceOf(ended.row.input_tokens, 45));
});

test.concurrent('a provider that refuses after the caller left is free', async () => {
  // Long enough that it comes after a busy machine has let the caller leave.
  const text = 'sim: slow_headers_ms=2000 status=500';
  const left = await leave({ dialect: 'chat', kind: 'full', text, more: { stream: true } }, reached);
  const ended = await onlyCall(left.org);
  expect(ended).toMatchObject({ charged: 0, meter: null, attempts: ['error server'] });
  expect(ended.row).toMatchObject({ status: 'cancelled', error_code: 'client_closed' });
});

test.concurrent('a caller that leaves between finish and usage pays what is known, and the provider is let go', async () => {
  const org = await world().org();
  const { id, upstream } = world().model('script');
  world().script.on(upstream, 'a', (response) => {
    streamHead(response);
    response.write(textChunk(upstream, 'lorem ipsum dolor magna '));
    response.write(chunk(upstream, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
  });
  const exchange = world().chat(org.live_key, bodyOf(id, 'Hi', { stream: true }));
  await inContent(exchange);
  exchange.leave();
  const ended = await onlyCall(org);
  expect(ended.row).toMatchObject({ status: 'cancelled', output_tokens: 4 });
  expect(ended.charged).toBe(priceOf(ended.row.input_tokens, 4));
  await eventually('the provider is let go', () => world().script.received(upstream)[0]?.left ?? null);
});

test.concurrent.each([
  { input_tokens: Number.MAX_SAFE_INTEGER },
  { input_tokens: 12, cache_read_input_tokens: Number.MAX_SAFE_INTEGER },
])('a count that cannot be true in the first event is none: the prompt is counted ($#)', async (usage) => {
  const org = await world().org();
  const { id, upstream } = world().model('script-messages');
  world().script.on(upstream, 'x', (response) => {
    streamHead(response);
    for (const event of [
      {
        type: 'message_start',
        message: { id: 'm', type: 'message', role: 'assistant', model: upstream, content: [], usage },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: 'lorem ipsum dolor magna ' },
      },
    ]) {
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
  });
  const exchange = world().messages(org.live_key, bodyOf(id, 'x'.repeat(600), { stream: true }));
  await inContent(exchange);
  exchange.leave();
  const ended = await onlyCall(org);
  expect(ended.row).toMatchObject({ status: 'cancelled', output_tokens: 4, usage_source: 'estimate' });
  expect(ended.row.input_tokens).toBeGreaterThan(100);
  expect(ended.charged).toBe(priceOf(ended.row.input_tokens, 4));
});

describe.concurrent('a provider that keeps its connection open', () => {
  const endings = {
    'after the finish': chunkOfFinish,
    'after the end mark': (model: string) => `${chunkOfFinish(model)}data: [DONE]\n\n`,
  };
  function chunkOfFinish(model: string): string {
    return chunk(model, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  }
  test.each(Object.keys(endings) as (keyof typeof endings)[])('%s does not keep ours', async (ending) => {
    const org = await world().org();
    const { id, upstream } = world().model('script');
    world().script.on(upstream, 'a', (response) => {
      streamHead(response);
      response.write(textChunk(upstream, 'lorem ipsum '));
      response.write(endings[ending](upstream));
    });
    const reply = await world().chat(org.live_key, bodyOf(id, 'Hi', { stream: true })).reply;
    expect(reply.text.endsWith('data: [DONE]\n\n')).toBe(true);
    await eventually('the provider is let go', () => world().script.received(upstream)[0]?.left ?? null);
    await expectBooksInOrder(world(), org);
  });
});

test('nothing is left open at the provider', async () => {
  await eventually('no call is open', () => world().sim.stats().open_calls === 0);
});
