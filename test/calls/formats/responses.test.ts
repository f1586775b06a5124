// The responses dialect end to end: those outcomes of docs/outcomes.md that this dialect shows in its own way, and its
// replays (docs/idempotency.md#calls).
import { describe, expect, test } from 'vitest';
import { checkResponsesStream } from '../../grammar/responses.ts';
import { finalResponse } from '../../grammar/responses-cases.ts';
import { errorOf, type Json, open, type Reply } from '../caller.ts';
import { expectBooksInOrder, idOf, type Org, priceOf, useWorld } from '../world.ts';

const world = useWorld({ models: { chat: 24, messages: 24, 'script-messages': 1 } });

const ways = (['chat', 'messages'] as const).flatMap((kind) =>
  [true, false].map((stream) => ({ kind, stream })),
);
const name = 'on $kind, stream $stream';

function ask(org: Org, body: object, headers: Record<string, string> = {}): Promise<Reply> {
  return open(world().gateway.base_url, {
    path: '/v1/responses',
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${org.live_key}`, ...headers },
  }).reply;
}

/** The response that `reply` shows; a stream must be one of the grammar. */
function responseOf(reply: Reply): Json {
  if (reply.text.startsWith('{')) return JSON.parse(reply.text);
  expect(checkResponsesStream(reply.text)).toEqual([]);
  return finalResponse(reply.text);
}

async function run(way: (typeof ways)[number], knobs: string, more: object = {}, balance?: number) {
  const org = await world().org(balance);
  const { id } = world().model(way.kind);
  const input = `Say something. sim: ${knobs}`;
  const reply = await ask(org, { model: id, input, max_output_tokens: 64, stream: way.stream, ...more });
  return { org, reply, ended: await world().ended(org, idOf(reply)) };
}

describe.concurrent('an answer that succeeds', () => {
  test.each(ways)(`is charged what it tells (${name})`, async (way) => {
    const { reply, ended } = await run(way, 'tokens=20 chunks=5');
    const response = responseOf(reply);
    expect(response).toMatchObject({ id: idOf(reply), status: 'completed', usage: { output_tokens: 20 } });
    expect(response['svc'].cost.total_micro_usd).toBe(ended.charged);
    const reported = way.stream ? reply.trailers : reply.headers;
    expect(reported['x-svc-cost-micro']).toBe(String(ended.charged));
    expect(ended.row).toMatchObject({ status: 'ok', dialect_in: 'responses', usage_source: 'provider' });
  });
});

describe.concurrent('a fault', () => {
  test.each(ways)(`before any content is an HTTP error in the envelope of chat (${name})`, async (way) => {
    const { reply, ended } = await run(way, 'error_after=0');
    expect(reply.status).toBeGreaterThanOrEqual(500);
    expect(JSON.parse(reply.text).error).toMatchObject({
      request_id: idOf(reply),
      code: ended.row.error_code,
    });
    expect(ended).toMatchObject({ charged: 0, meter: null, row: { status: 'error' } });
  });

  const after = [
    { knobs: 'tokens=20 chunks=10 error_after=4', code: 'upstream_error', attempt: 'error stream' },
    { knobs: 'tokens=20 chunks=10 cut_after=4', code: 'upstream_incomplete', attempt: 'error truncated' },
  ].flatMap((fault) => (['chat', 'messages'] as const).map((kind) => ({ ...fault, kind })));
  test.each(after)(
    'after content is a failed response, free ($knobs on $kind)',
    async ({ kind, knobs, code, attempt }) => {
      const { reply, ended } = await run({ kind, stream: true }, knobs);
      expect(reply.status).toBe(200);
      const response = responseOf(reply);
      expect(response).toMatchObject({ status: 'failed', error: { code: 'server_error' } });
      expect(response['svc'].error.code).toBe(ended.row.error_code);
      if (code === 'upstream_incomplete') expect(ended.row.error_code).toBe(code);
      expect(response['output'].at(-1)).toMatchObject({ type: 'message', status: 'incomplete' });
      expect(ended).toMatchObject({
        charged: 0,
        attempts: [attempt],
        row: { status: 'error', http_status: 200 },
      });
    },
  );
});

test.concurrent('a fault behind a timed commit, before any content, is a response of its own that failed', {
  timeout: 40_000,
}, async () => {
  const { reply, ended } = await run({ kind: 'messages', stream: true }, 'delay_ms=16500 error_after=0');
  expect(reply.status).toBe(200);
  expect(reply.text.startsWith(': svc keep-alive\n\n')).toBe(true);
  expect(responseOf(reply)).toMatchObject({ status: 'failed', output: [] });
  expect(ended).toMatchObject({ charged: 0, row: { status: 'error' } });
});

describe.concurrent('an answer that ends otherwise', () => {
  test.each(ways)(`without usage is counted and reported so (${name})`, async (way) => {
    const { reply, ended } = await run(way, 'tokens=20 no_usage=1');
    const response = responseOf(reply);
    expect(response['status']).toBe('completed');
    expect(response['svc'].warnings.map(({ code }: Json) => code)).toEqual(['usage_estimated']);
    expect(ended.row).toMatchObject({ status: 'ok', usage_source: 'estimate' });
  });

  test.each(ways)(`by the end of credit is incomplete (${name})`, async (way) => {
    const cap = { max_output_tokens: 8_000 };
    const { reply, ended } = await run(way, 'tokens=7000 chunks=140 chunk_ms=15', cap, 22_000);
    const response = responseOf(reply);
    expect(response).toMatchObject({
      ...{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, completed_at: null },
    });
    expect(response['svc'].warnings.map(({ code }: Json) => code)).toEqual(['credit_limit_reached']);
    expect(response['output'].at(-1)).toMatchObject({ type: 'message', status: 'incomplete' });
    expect(ended.charged).toBe(priceOf(ended.row.input_tokens, ended.row.output_tokens));
  });
});

describe.concurrent('an answer given again under its key', () => {
  test.each(ways)(
    `is the same response, streamed or whole, for no more money (first ${name})`,
    async (way) => {
      const org = await world().org();
      const { id } = world().model(way.kind);
      const tools = [{ type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } }];
      const body = {
        ...{
          model: id,
          instructions: 'Be brief.',
          input: 'sim: tools=2 reasoning=5',
          max_output_tokens: 64,
          tools,
        },
        include: ['reasoning.encrypted_content'],
      };
      const key = { 'idempotency-key': 'k' };
      const first = await ask(org, { ...body, stream: way.stream }, key);
      const original = responseOf(first);
      expect(original).toMatchObject({ status: 'completed', instructions: 'Be brief.', tools });
      for (const stream of [true, false]) {
        const again = await ask(org, { ...body, stream }, key);
        expect(again.headers['x-svc-idempotent-replay']).toBe('true');
        expect(responseOf(again)).toEqual(original);
      }
      await expectBooksInOrder(world(), org);
      const { rows } = await world().db.query(
        'select 1 from ledger.entry where book_id = $1 and request_id is not null',
        [org.live_book_id],
      );
      expect(rows).toHaveLength(1);
    },
  );
});

test.concurrent('what reading refuses is reported with its path and costs nothing', async () => {
  const org = await world().org();
  const { id } = world().model('chat');
  const reply = await ask(org, { model: id, input: [{ role: 'user', content: [{ type: 'input_text' }] }] });
  expect(reply.status).toBe(400);
  expect(errorOf(reply)).toMatchObject({ code: 'invalid_request', param: 'input[0].content[0].text' });
  expect((await world().ended(org, idOf(reply))).row).toMatchObject({ status: 'rejected' });
});

test.concurrent('a tool that no endpoint offers and that is forced is refused with its place, before any attempt', async () => {
  const org = await world().org();
  const { id } = world().model('chat');
  const reply = await ask(org, {
    model: id,
    input: 'x',
    tools: [{ type: 'file_search' }],
    tool_choice: 'required',
  });
  expect(errorOf(reply)).toMatchObject({
    code: 'unsupported_parameter',
    param: expect.stringMatching(/^tools\[0\]/),
  });
  expect(reply.headers['x-svc-attempts']).toBe('0');
});
