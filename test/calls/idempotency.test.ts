// Idempotency-Key (docs/idempotency.md#calls): a retry gets the answer of its first call without a further charge.
import { describe, expect, test } from 'vitest';
import { AS_PROVIDER_SENT } from '../answers/record.ts';
import { errorOf, eventsOf, type Json, type Reply, saidBy, svcOf } from './caller.ts';
import { endChunks, refuse, streamHead, textChunk, usageOf } from './upstream.ts';
import {
  bodyOf,
  type Dialect,
  eventually,
  grammarFaults,
  idOf,
  type Kind,
  type Org,
  send,
  useWorld,
} from './world.ts';

const world = useWorld({ models: { chat: 40, messages: 20 } });

const simCalls = (model: string) => world().sim.calls.filter((call) => call.model === model);

function ask(
  org: Pick<Org, 'live_key'>,
  body: object,
  key: string,
  dialect: Dialect = 'chat',
  more: Record<string, string> = {},
) {
  return send(world(), dialect, org.live_key, body, { headers: { 'idempotency-key': key, ...more } });
}

async function expectOneCharge(org: Org, first: Reply): Promise<void> {
  const ended = await world().ended(org, idOf(first));
  expect(ended.charged).toBeGreaterThan(0);
  const { rows } = await world().db.query<{ n: number }>(
    'select count(*)::int as n from ledger.entry where book_id = $1 and request_id is not null',
    [org.live_book_id],
  );
  expect(rows[0]?.n).toBe(1);
}

/** The content of an answer without its framing: text, tool calls, finish, cost. */
function meaningOf(dialect: Dialect, reply: Reply): Json {
  const cost = svcOf(reply)?.['cost'] as Json;
  if (dialect === 'messages') {
    if (reply.text.startsWith('{')) {
      const body = JSON.parse(reply.text) as Json;
      return { text: saidBy(reply), stop: body['stop_reason'], cost, id: body['id'] };
    }
    const events = eventsOf(reply.text);
    const stop = events.find(({ type }) => type === 'message_delta')?.['delta'].stop_reason;
    return { text: saidBy(reply), stop, cost, id: events[0]?.['message'].id };
  }
  if (reply.text.startsWith('{')) {
    const body = JSON.parse(reply.text) as Json;
    const [choice] = body['choices'];
    const calls = (choice.message.tool_calls ?? []).map(({ function: f }: Json) => [f.name, f.arguments]);
    return { text: saidBy(reply), calls, stop: choice.finish_reason, cost, id: body['id'] };
  }
  const events = eventsOf(reply.text);
  const calls: [string, string][] = [];
  let stop: unknown = null;
  for (const { choices } of events) {
    for (const { delta, finish_reason } of choices as Json[]) {
      stop = finish_reason ?? stop;
      for (const { index, function: f } of (delta.tool_calls ?? []) as Json[]) {
        calls[index] ??= [f.name, ''];
        (calls[index] as [string, string])[1] += f.arguments ?? '';
      }
    }
  }
  return { text: saidBy(reply), calls, stop, cost, id: events[0]?.['id'] };
}

const tools = [
  {
    type: 'function',
    function: { name: 'look', parameters: { type: 'object', properties: { at: { type: 'string' } } } },
  },
];

describe.concurrent('a retry is a replay (docs/outcomes.md#replay)', () => {
  const turns = [true, false].flatMap((first) => [true, false].map((second) => ({ first, second })));
  const lanes = [
    { dialect: 'chat', kind: 'chat' },
    { dialect: 'chat', kind: 'messages' },
    { dialect: 'messages', kind: 'messages' },
    { dialect: 'messages', kind: 'chat' },
  ] as const;
  const all = lanes.flatMap((lane) => turns.map((turn) => ({ ...lane, ...turn })));
  test.each(all)(
    '$dialect on $kind, stream $first then $second',
    async ({ dialect, kind, first, second }) => {
      const org = await world().org();
      const { id, upstream } = world().model(kind);
      const body = bodyOf(
        id,
        'sim: tokens=20 chunks=5',
        dialect === 'chat' ? { tools, tool_choice: 'none' } : {},
      );
      const original = await ask(org, { ...body, stream: first }, 'k', dialect).reply;
      const replay = await ask(org, { ...body, stream: second }, 'k', dialect).reply;
      expect(replay.status).toBe(200);
      expect(replay.headers['x-svc-idempotent-replay']).toBe('true');
      expect(original.headers['x-svc-idempotent-replay']).toBeUndefined();
      for (const name of [
        'x-svc-request-id',
        'x-svc-provider',
        'x-svc-endpoint-id',
        'x-svc-price-version',
        'x-svc-attempts',
      ]) {
        expect(replay.headers[name]).toBe(original.headers[name]);
      }
      expect(meaningOf(dialect, replay)).toEqual(meaningOf(dialect, original));
      expect(saidBy(replay)).toContain('lorem ipsum');
      if (second) expect(grammarFaults(dialect, replay)).toEqual([]);
      const reported = second ? replay.trailers : replay.headers;
      expect(reported['x-svc-cost-micro']).toBe(String(svcOf(original)?.['cost'].total_micro_usd));
      expect(simCalls(upstream)).toHaveLength(1);
      await expectOneCharge(org, original);
      const rows = await world().db.query('select 1 from request_row where org_id = $1', [org.org_id]);
      expect(rows.rows).toHaveLength(1);
    },
  );

  test('with tool calls, too', async () => {
    const org = await world().org();
    const { id } = world().model('chat');
    const body = bodyOf(id, 'sim: tools=2 text=first', { tools });
    const original = await ask(org, { ...body, stream: true }, 'k').reply;
    const replay = await ask(org, body, 'k').reply;
    expect(meaningOf('chat', replay)).toEqual(meaningOf('chat', original));
    expect(meaningOf('chat', replay)['calls']).toHaveLength(2);
  });

  test('replays are counted on the row of the call, and make no row', async () => {
    const org = await world().org();
    const body = bodyOf(world().model('chat').id, 'sim: tokens=5');
    const original = await ask(org, body, 'k').reply;
    for (const stream of [false, true, false]) {
      const replay = await ask(org, { ...body, stream }, 'k').reply;
      expect(replay.headers['x-svc-idempotent-replay']).toBe('true');
    }
    const read = async (path: string) => {
      const headers = { authorization: `Bearer ${org.live_key}` };
      return (await (await fetch(`${world().gateway.base_url}${path}`, { headers })).json()) as Json;
    };
    const row = await eventually('three are counted', async () => {
      const found = await read(`/v1/requests/${idOf(original)}`);
      return found['replays'] === 3 && found;
    });
    expect(row['request_id']).toBe(idOf(original));
    expect((await read('/v1/requests'))['data']).toHaveLength(1);
    await expectOneCharge(org, original);
  });

  test('usage is in a replayed stream when the retry asks for it', async () => {
    const org = await world().org();
    const { id } = world().model('chat');
    const body = bodyOf(id, 'sim: tokens=20');
    await ask(org, body, 'k').reply;
    const replay = await ask(org, { ...body, stream: true, stream_options: { include_usage: true } }, 'k')
      .reply;
    expect(grammarFaults('chat', replay, { include_usage: true })).toEqual([]);
    expect(eventsOf(replay.text).at(-1)?.['usage'].completion_tokens).toBe(20);
  });

  test.each([64, null])(
    'of an empty balance as well: the first call took it all (max_tokens %s)',
    async (max_tokens) => {
      const org = await world().org(5_000);
      const body = bodyOf(world().model('chat').id, 'sim: over_report=10000', { max_tokens });
      const original = await ask(org, body, 'k').reply;
      expect(original.status).toBe(200);
      const replay = await ask(org, body, 'k').reply;
      expect(replay.headers['x-svc-idempotent-replay']).toBe('true');
      expect(idOf(replay)).toBe(idOf(original));
    },
  );

  test('although no endpoint could serve the call any more', async () => {
    const org = await world().org();
    const { id } = world().model('chat');
    const body = bodyOf(id, 'Hi');
    const original = await ask(org, body, 'k').reply;
    for (let i = 0; i < 6; i++) await world().chat(org.live_key, bodyOf(id, 'sim: status=500')).reply;
    expect((await world().chat(org.live_key, body).reply).status).toBe(503);
    expect(idOf(await ask(org, body, 'k').reply)).toBe(idOf(original));
  });

  test.each([true, false])('of an answer that credit ended (first as stream: %s)', async (stream) => {
    const org = await world().org(22_000);
    const { id } = world().model('messages');
    const body = bodyOf(id, 'sim: tokens=7000 chunks=140 chunk_ms=10', { max_tokens: 8_000 });
    const original = await ask(org, { ...body, stream }, 'k').reply;
    expect(meaningOf('chat', original)['stop']).toBe('length');
    for (const second of [true, false]) {
      const replay = await ask(org, { ...body, stream: second }, 'k').reply;
      expect(replay.status).toBe(200);
      if (second) expect(grammarFaults('chat', replay)).toEqual([]);
      expect(meaningOf('chat', replay)).toEqual(meaningOf('chat', original));
    }
  });
});

test.concurrent('two at once: one is executed, the other gets its answer', async () => {
  const org = await world().org();
  const { id, upstream } = world().model('chat');
  const body = bodyOf(id, 'sim: delay_ms=400');
  const both = await Promise.all([ask(org, body, 'k').reply, ask(org, body, 'k').reply]);
  expect(both.map(({ status }) => status)).toEqual([200, 200]);
  expect(new Set(both.map(idOf)).size).toBe(1);
  expect(both.filter(({ headers }) => headers['x-svc-idempotent-replay'] === 'true')).toHaveLength(1);
  expect(simCalls(upstream)).toHaveLength(1);
  await expectOneCharge(org, both[0] as Reply);
});

test.concurrent('another body under the same key is 422, and the order of keys or stream is no other body', async () => {
  const org = await world().org();
  const { id } = world().model('chat');
  const body = bodyOf(id, 'Hi') as Json;
  const first = await ask(org, body, 'k').reply;
  const other = await ask(org, { ...body, max_tokens: 63 }, 'k').reply;
  expect(other.status).toBe(422);
  expect(errorOf(other)).toMatchObject({ code: 'idempotency_conflict', type: 'conflict_error' });
  expect(other.headers['x-should-retry']).toBe('false');
  const turned = Object.fromEntries(Object.entries(body).reverse());
  const same = await ask(org, { ...turned, stream: false }, 'k').reply;
  expect(idOf(same)).toBe(idOf(first));
  await expectOneCharge(org, first);
});

test.concurrent('still running after two seconds is 409, worth a retry', async () => {
  const org = await world().org();
  const { id, upstream } = world().model('script');
  let finish = () => {};
  world().script.on(upstream, 'a', (response) => {
    streamHead(response);
    response.write(textChunk(upstream, 'lorem '));
    finish = () => response.end(endChunks(upstream, usageOf(10, 1)));
  });
  const body = bodyOf(id, 'Hi', { stream: true });
  const first = ask(org, body, 'k');
  await first.until((text) => text.includes('lorem'));
  const second = await ask(org, body, 'k').reply;
  expect(second.status).toBe(409);
  expect(errorOf(second)).toMatchObject({ code: 'idempotency_in_progress' });
  expect(second.headers).toMatchObject({ 'retry-after': '1', 'x-should-retry': 'true' });
  finish();
  const reply = await first.reply;
  expect(errorOf(second)?.['details'].request_id).toBe(idOf(reply));
  expect(idOf(await ask(org, body, 'k').reply)).toBe(idOf(reply));
  expect(world().script.received(upstream)).toHaveLength(1);
  await expectOneCharge(org, reply);
});

test.concurrent('an error frees the key: the retry is a new call', async () => {
  const org = await world().org();
  const { id } = world().model('chat');
  const body = bodyOf(id, `sim: mark=${id} fail_first=1`);
  const failed = await ask(org, body, 'k').reply;
  expect(failed.status).toBe(503);
  await world().ended(org, idOf(failed));
  const again = await ask(org, body, 'k').reply;
  expect(again.status).toBe(200);
  expect(again.headers['x-svc-idempotent-replay']).toBeUndefined();
  expect(idOf(again)).not.toBe(idOf(failed));
  await expectOneCharge(org, again);
});

test.concurrent.each([
  ['chat', 'chat'],
  ['messages', 'messages'],
  ['chat', 'messages'],
] as const)(
  'a caller left in mid-stream finds the whole answer (%s on %s)',
  async (dialect: Dialect, kind: Kind) => {
    const org = await world().org();
    const { id, upstream } = world().model(kind);
    const body = bodyOf(id, 'sim: tokens=30 chunks=15 chunk_ms=30', { stream: true });
    const first = ask(org, body, 'k', dialect);
    await first.until((text) => text.includes('ipsum'));
    first.leave();
    await first.reply;
    const retry = await eventually('the call is drained', async () => {
      const reply = await ask(org, body, 'k', dialect).reply;
      return reply.status === 409 ? null : reply;
    });
    expect(retry.headers['x-svc-idempotent-replay']).toBe('true');
    expect(saidBy(retry)).toHaveLength(180);
    expect(grammarFaults(dialect, retry)).toEqual([]);
    expect(simCalls(upstream)).toHaveLength(1);
    await expectOneCharge(org, retry);
  },
);

describe.concurrent('an answer that was not kept is refused with the charge of its call', () => {
  async function expectUnavailable(reply: Reply, first: Reply): Promise<void> {
    expect(reply.status).toBe(409);
    const error = errorOf(reply);
    expect(error).toMatchObject({ code: 'idempotency_replay_unavailable' });
    expect(error?.['details'].request_id).toBe(idOf(first));
    expect(JSON.stringify(error?.['details'])).toContain(String(svcOf(first)?.['cost'].total_micro_usd));
    expect(reply.headers['x-should-retry']).toBe('false');
  }

  const keys = (org: Org, path: string, body: object) =>
    fetch(`${world().gateway.base_url}/v1/keys${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${org.live_key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).then((reply) => reply.json() as Promise<Json>);

  test('after the API key was rotated', async () => {
    const org = await world().org();
    const { id } = world().model('chat');
    const body = bodyOf(id, 'Hi');
    const first = await ask(org, body, 'k').reply;
    const rotated = await keys(org, `/${org.keys[0]?.key_id}/rotate`, { grace_seconds: 600 });
    const reply = await ask({ live_key: rotated['secret'] }, body, 'k').reply;
    await expectUnavailable(reply, first);
    await expectOneCharge(org, first);
  });

  test('where the key demands zero retention', async () => {
    const org = await world().org();
    const { id } = world().model('chat');
    const options = { project_id: org.project_id, environment: 'live', name: 'zdr', scopes: ['inference'] };
    const zdr = await keys(org, '', { ...options, data_policy: { zdr: true } });
    const first = await ask({ live_key: zdr['secret'] }, bodyOf(id, 'Hi'), 'k').reply;
    expect(first.status).toBe(200);
    await expectUnavailable(await ask({ live_key: zdr['secret'] }, bodyOf(id, 'Hi'), 'k').reply, first);
    expect((await world().ended(org, idOf(first))).row.zdr).toBe(true);
  });

  test.each([
    { data_policy: 'zdr' },
    { route: { data_policy: 'zdr' } },
    { route: { require: { zdr: true } } },
  ])('where the request demands it: %j', async (svc) => {
    const org = await world().org();
    const { id } = world().model('chat');
    const body = bodyOf(id, 'Hi', { svc });
    const first = await ask(org, body, 'k').reply;
    await expectUnavailable(await ask(org, body, 'k').reply, first);
    const { rows } = await world().db.query(
      'select 1 from ledger.idempotency where sealed_answer is not null and book_id = $1',
      [org.live_book_id],
    );
    expect(rows).toEqual([]);
    expect((await world().ended(org, idOf(first))).row.zdr).toBe(true);
  });
});

test.concurrent('what is kept cannot be read in the database', async () => {
  const org = await world().org();
  const { id } = world().model('chat');
  await ask(org, bodyOf(id, 'sim: text=unmistakable-words'), 'k').reply;
  const { rows } = await world().db.query<{ sealed_answer: Buffer }>(
    'select sealed_answer from ledger.idempotency where book_id = $1',
    [org.live_book_id],
  );
  expect(rows[0]?.sealed_answer.length).toBeGreaterThan(100);
  expect(rows[0]?.sealed_answer.includes('unmistakable')).toBe(false);
});

test.concurrent('a key counts for its path alone, and a bad one is refused by name', async () => {
  const org = await world().org();
  const { id } = world().model('chat');
  const body = bodyOf(id, 'Hi');
  const one = await ask(org, body, 'k', 'chat').reply;
  const two = await ask(org, body, 'k', 'messages').reply;
  expect(two.status).toBe(200);
  expect(idOf(two)).not.toBe(idOf(one));
  const bad = await ask(org, body, 'x'.repeat(129)).reply;
  expect(bad.status).toBe(400);
  expect(errorOf(bad)).toMatchObject({ code: 'invalid_request', param: 'Idempotency-Key' });
  await eventually('all rows', async () => {
    const { rows } = await world().db.query('select 1 from request_row where org_id = $1', [org.org_id]);
    return rows.length === 3;
  });
});

test('an answer that cannot be kept for a replay is still given, paid for, and nothing stays held', async () => {
  const org = await world().org();
  const { id, upstream } = world().model('script-messages');
  // Metering reads it; the canonical form does not.
  const odd = { id: 'msg', type: 'message', role: 'assistant', model: upstream, content: [null] };
  const usage = { input_tokens: 10, output_tokens: 5 };
  world().script.on(upstream, 'x', refuse(200, { ...odd, stop_reason: 'end_turn', usage }));
  const first = await ask(org, bodyOf(id, 'Hi'), 'odd', 'messages', AS_PROVIDER_SENT).reply;
  expect(first.status).toBe(200);
  await expectOneCharge(org, first);
  const again = await ask(org, bodyOf(id, 'Hi'), 'odd', 'messages', AS_PROVIDER_SENT).reply;
  expect(errorOf(again)).not.toBeNull();
  expect(world().script.received(upstream)).toHaveLength(1);
});
