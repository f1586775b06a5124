// What a call may cost and what happens where the money ends (docs/money/pricing.md, docs/outcomes.md#money-ends).
import { describe, expect, test } from 'vitest';
import { grantCredits } from '../../support/provision.ts';
import { errorOf, eventsOf, type Json, type Reply, saidBy, svcOf } from '../caller.ts';
import { bodyOf, eventually, grammarFaults, idOf, priceOf, send, useWorld, uuidOf } from '../world.ts';

const world = useWorld({ models: { chat: 20 } });

const codesOf = (reply: Reply) =>
  ((svcOf(reply) as Json)['warnings'] as Json[]).map((warning) => warning['code']);
const simCall = (model: string) => world().sim.calls.find((call) => call.model === model);
const uncapped = (body: object): object => {
  const { max_tokens: _cap, ...rest } = body as Json;
  return rest;
};

test.concurrent('two calls without max_tokens run at once, each capped by credit with a warning, and the cap is sent', async () => {
  const org = await world().org(30_000);
  const models = [world().model('chat'), world().model('chat')];
  const replies = await Promise.all(
    models.map(({ id }) => {
      const body = uncapped(bodyOf(id, 'sim: tokens=40 chunks=10 chunk_ms=50', { stream: true }));
      return world().chat(org.live_key, body).reply;
    }),
  );
  for (const [i, reply] of replies.entries()) {
    expect(reply.status).toBe(200);
    expect(codesOf(reply)).toEqual(['max_tokens_capped']);
    expect(reply.headers['x-svc-warnings']).toBe('max_tokens_capped');
    const sent = simCall(models[i]?.upstream ?? '')?.body as Json;
    const cap = (sent['max_completion_tokens'] ?? sent['max_tokens']) as number;
    expect(svcOf(reply)?.['warnings'][0].message).toContain(` ${cap} `);
    expect(cap).toBeGreaterThan(1_000);
    expect(priceOf(0, cap)).toBeLessThan(30_000);
    expect(saidBy(reply)).toHaveLength(240);
    await world().ended(org, idOf(reply));
  }
});

test.concurrent('a top-up counts for the next call, wherever it was booked: no cap is set by what was there before', async () => {
  const org = await world().org(20_000);
  const { id } = world().model('chat');
  const ask = () => world().chat(org.live_key, uncapped(bodyOf(id, 'Hi'))).reply;
  const before = await ask();
  expect(codesOf(before)).toEqual(['max_tokens_capped']);
  await world().ended(org, idOf(before));
  await grantCredits(org.ledger_url, { book_id: org.live_book_id, amount_micro_usd: 1_000_000 });
  expect(codesOf(await ask())).toEqual([]);
});

test.concurrent('fewer than 16 affordable tokens without max_tokens are refused', async () => {
  const org = await world().org(100);
  const { id } = world().model('chat');
  const reply = await world().chat(org.live_key, uncapped(bodyOf(id, 'Hi'))).reply;
  expect(reply.status).toBe(402);
  expect(errorOf(reply)).toMatchObject({ code: 'insufficient_credits' });
});

const heldFor = async (id: string) => {
  const { rows } = await world().db.query<{ amount: string }>(
    'select amount from ledger.hold where hold_id = $1',
    [uuidOf(id)],
  );
  return rows[0] === undefined ? null : Number(rows[0].amount);
};

test.concurrent('a long stream raises its hold as it goes, and is charged in full', async () => {
  const org = await world().org();
  const { id } = world().model('chat');
  const body = bodyOf(id, 'sim: tokens=7000 chunks=70 chunk_ms=60', { max_tokens: 8_000, stream: true });
  const exchange = world().chat(org.live_key, body);
  await exchange.until((text) => text.includes('lorem'));
  const request_id = eventsOf(exchange.text())[0]?.['id'] as string;
  const first = (await heldFor(request_id)) ?? 0;
  expect(first).toBeLessThan(priceOf(0, 4_500));
  await eventually('the hold is raised', async () => ((await heldFor(request_id)) ?? 0) > first);
  const reply = await exchange.reply;
  const ended = await world().ended(org, idOf(reply));
  expect(ended.row).toMatchObject({ status: 'ok', output_tokens: 7_000 });
  expect(codesOf(reply)).toEqual([]);
  expect(ended.charged).toBe(priceOf(ended.row.input_tokens, 7_000));
});

describe.concurrent('credit that ends in the middle of an answer (docs/outcomes.md#credit-reached-mid-stream)', () => {
  test.each([
    ['chat', 'chat', true],
    ['chat', 'messages', true],
    ['messages', 'messages', true],
    ['messages', 'chat', false],
  ] as const)('is a normal end with the reason (%s on %s, stream %s)', async (dialect, kind, stream) => {
    const org = await world().org(22_000);
    const { id, upstream } = world().model(kind);
    const text = 'sim: tokens=7000 chunks=140 chunk_ms=20';
    const reply = await send(world(), dialect, org.live_key, bodyOf(id, text, { max_tokens: 8_000, stream }))
      .reply;
    expect(reply.status).toBe(200);
    expect(errorOf(reply)).toBeNull();
    if (stream) expect(grammarFaults(dialect, reply, { raw: dialect === kind })).toEqual([]);
    expect(codesOf(reply)).toEqual(['credit_limit_reached']);
    expect(reply.text).toContain(
      dialect === 'chat' ? '"finish_reason":"length"' : '"stop_reason":"max_tokens"',
    );
    const ended = await world().ended(org, idOf(reply));
    expect(ended.row).toMatchObject({ status: 'ok', stop_reason: 'max_tokens', usage_source: 'estimate' });
    expect(ended.row.output_tokens).toBe(Math.floor(saidBy(reply).length / 6));
    // What is held for 4,096 tokens is used up before the answer ends, counted at three bytes a token.
    expect(ended.row.output_tokens).toBeGreaterThanOrEqual(2_048);
    expect(ended.row.output_tokens).toBeLessThan(4_096);
    expect(ended.charged).toBe(priceOf(ended.row.input_tokens, ended.row.output_tokens));
    expect(svcOf(reply)?.['cost'].total_micro_usd).toBe(ended.charged);
    await eventually('the provider is let go', () => simCall(upstream)?.client_gone ?? null);
  });
});

test.concurrent('a budget that ends in the middle of an answer is named, and not the balance', async () => {
  const org = await world().org(undefined, [{ name: 'small', daily_budget_micro: 22_000 }]);
  const body = bodyOf(world().model('chat').id, 'sim: tokens=7000 chunks=140 chunk_ms=20', {
    max_tokens: 8_000,
    stream: true,
  });
  const reply = await world().chat(org.keys[0]?.secret as string, body).reply;
  expect(codesOf(reply)).toEqual(['credit_limit_reached']);
  expect(svcOf(reply)?.['warnings'][0].message).toBe(
    'A budget of the key, its project or the run does not allow a longer answer, so it was ended here.',
  );
  expect((await world().ended(org, idOf(reply))).charged).toBeLessThanOrEqual(22_000);
});

describe.concurrent('a provider that ignores the cap (docs/outcomes.md#cap-ignored)', () => {
  test.each([
    ['chat', true],
    ['messages', true],
    ['messages', false],
  ] as const)('is cut off, and never charged above the hold (%s, stream %s)', async (dialect, stream) => {
    const org = await world().org();
    const { id, upstream } = world().model('chat');
    const text = 'sim: tokens=3000 chunks=300 chunk_ms=5 ignore_cap=1';
    const reply = await send(world(), dialect, org.live_key, bodyOf(id, text, { max_tokens: 50, stream }))
      .reply;
    if (stream) expect(grammarFaults(dialect, reply, { raw: dialect === 'chat' })).toEqual([]);
    expect(codesOf(reply)).toEqual(['cap_enforced']);
    expect(reply.text).toContain(
      dialect === 'chat' ? '"finish_reason":"length"' : '"stop_reason":"max_tokens"',
    );
    const ended = await world().ended(org, idOf(reply));
    expect(ended.row).toMatchObject({ status: 'ok', stop_reason: 'max_tokens', usage_source: 'estimate' });
    // The hold is for 50 tokens of output and a prompt that is counted with room to spare.
    expect(ended.charged).toBeLessThanOrEqual(priceOf(200, 50));
    expect(ended.charged).toBeGreaterThan(priceOf(0, 40));
    await eventually('the provider is let go', () => simCall(upstream)?.client_gone ?? null);
  });

  test('is reported from one whose tokens are mostly hidden: its answer is not cut, and its prompt counts as text', {
    timeout: 60_000,
  }, async () => {
    const org = await world().org();
    const { id } = world().model('hidden');
    const ask = (text: string, stream: boolean) =>
      world().chat(org.live_key, bodyOf(id, text, { max_tokens: 400, stream })).reply;
    // The provider bills ten times what it shows; the gateway learns bytes per token from that.
    const many = Array.from({ length: 110 }, () => ask('sim: tokens=20 over_report_output=180', false));
    for (const reply of await Promise.all(many)) expect(reply.status).toBe(200);
    const reply = await ask('sim: tokens=200 chunks=20', true);
    expect(codesOf(reply)).toEqual([]);
    expect(saidBy(reply)).toHaveLength(1_200);
    const unmetered = await ask(`sim: no_usage=1 tokens=20 ${'heron '.repeat(1_000)}`, true);
    expect(codesOf(unmetered)).toEqual(['usage_estimated']);
    const { row } = await world().ended(org, idOf(unmetered));
    expect(row.input_tokens).toBeGreaterThan(1_000);
    expect(row.input_tokens).toBeLessThan(2_000);
  });
});

describe.concurrent('usage that is reported', () => {
  const PIXEL =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
  const withImage = (text: string) => [
    {
      role: 'user',
      content: [
        { type: 'text', text },
        { type: 'image_url', image_url: { url: PIXEL } },
      ],
    },
  ];

  // docs/outcomes.md#usage-above-bound
  test.each([
    ['output', 'over_report_output=1000000000'],
    ['input', 'over_report=1000000000'],
  ])('above what the call can have used is cut to it, and the caller is told (%s)', async (_, knob) => {
    const org = await world().org();
    const { id } = world().model('chat');
    for (const stream of [false, true]) {
      const body = bodyOf(id, `sim: tokens=10 ${knob}`, { stream, max_tokens: 50 });
      const reply = await world().chat(org.live_key, body).reply;
      expect(codesOf(reply)).toEqual(['usage_above_bound']);
      const ended = await world().ended(org, idOf(reply));
      expect(ended.row.output_tokens).toBe(knob.includes('output') ? 50 : 10);
      expect(ended.row.input_tokens).toBeLessThan(1_200);
      expect(ended.charged).toBe(priceOf(ended.row.input_tokens, ended.row.output_tokens));
      expect(ended.row).toMatchObject({ status: 'ok', usage_source: 'provider' });
    }
  });

  // docs/outcomes.md#cost-above-the-hold
  test('passes no hard budget: what neither hold nor budget allows is not charged', async () => {
    const org = await world().org(1_000_000, [{ name: 'bounded', daily_budget_micro: 6_000, hard: true }]);
    const { id } = world().model('chat');
    for (let n = 0; n < 8; n++) {
      const body = bodyOf(id, 'sim: tokens=5 over_report=900 over_report_output=900', { max_tokens: 20 });
      const reply = await world().chat(org.live_key, body).reply;
      if (reply.status !== 200) {
        expect(errorOf(reply)?.['code']).toBe('budget_exhausted');
        break;
      }
      await world().ended(org, idOf(reply));
    }
    const { rows } = await world().db.query<{ spent: string }>(
      'select sum(spent) as spent from ledger.win where book_id = $1 and kind = 1',
      [org.live_book_id],
    );
    expect(Number(rows[0]?.spent)).toBeLessThanOrEqual(6_000);
    expect(Number(rows[0]?.spent)).toBeGreaterThan(5_000);
  });

  // docs/outcomes.md#media-above-the-hold
  test('above the hold, for media that only the provider can count, is charged from the balance and reported', async () => {
    const org = await world().org(20_000);
    const { id } = world().model('chat');
    const body = { ...bodyOf(id, ''), messages: withImage('sim: over_report=100000'), stream: true };
    const reply = await world().chat(org.live_key, body).reply;
    expect(codesOf(reply)).toEqual(['hold_exceeded']);
    const cost = svcOf(reply)?.['cost'].total_micro_usd as number;
    const ended = await world().ended(org, idOf(reply));
    expect(ended.row.input_tokens).toBeGreaterThan(100_000);
    expect(ended.row.output_tokens).toBe(16);
    // What the balance does not cover is written off, and the next call is refused.
    expect([ended.charged, cost > 20_000]).toEqual([20_000, true]);
    const { rows } = await world().db.query(
      'select sum(amount)::int as amount from ledger.writeoff where book_id = $1',
      [org.live_book_id],
    );
    expect(rows[0]).toEqual({ amount: cost - 20_000 });
    const next = await world().chat(org.live_key, bodyOf(id, 'Hi')).reply;
    expect(next.status).toBe(402);
    await world().ended(org, idOf(next));
  });
});

test.concurrent('the same id from the provider twice makes two requests and two charges', async () => {
  const org = await world().org();
  const { id } = world().model('chat');
  const ids: string[] = [];
  for (const stream of [true, false]) {
    const reply = await world().chat(org.live_key, bodyOf(id, 'sim: same_id=1', { stream })).reply;
    expect((await world().ended(org, idOf(reply))).charged).toBeGreaterThan(0);
    ids.push(idOf(reply));
  }
  expect(new Set(ids).size).toBe(2);
});

test.concurrent('what a key spent today is in its month at once, whenever the rows of its calls are written', async () => {
  const org = await world().org();
  const { id } = world().model('chat');
  let spent = 0;
  for (let n = 0; n < 8; n++) {
    const reply = await world().chat(org.live_key, bodyOf(id, 'Hi')).reply;
    spent += svcOf(reply)?.['cost'].total_micro_usd as number;
    const answer = await fetch(`${world().gateway.base_url}/v1/limits`, {
      headers: { authorization: `Bearer ${org.live_key}` },
    });
    const { keys } = (await answer.json()) as { keys: Json[] };
    expect(keys).toMatchObject([{ spend_today_micro: spent, spend_month_micro: spent }]);
  }
  expect(spent).toBeGreaterThan(0);
});
