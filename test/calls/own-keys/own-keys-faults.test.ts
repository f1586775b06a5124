// A provider that refuses a caller's own key or breaks off with it: what the caller is told, what follows, who pays
// (docs/errors.md, docs/outcomes.md); and streams with an own key.
import { afterAll, describe, expect, test } from 'vitest';
import { startBedrockSim } from '../../sim/providers/index.ts';
import { errorOf, saidBy } from '../caller.ts';
import { endChunks, refuse, streamHead, textChunk, usageOf, wholeAnswer } from '../upstream.ts';
import { bodyOf, eventually, grammarFaults, idOf, priceOf } from '../world.ts';
import { feeOf, useOwnWorld } from './own-keys-world.ts';

const account = {
  access_key_id: 'AKIASIMULATEDOWNKEYS',
  secret: 'sim/secret+of+mine',
  session_token: 'token==',
};
const aws = await startBedrockSim({ accounts: [account] });
afterAll(() => aws.close());
const world = useOwnWorld(() => aws.url);
const { attemptsOf, bring, model } = world;

describe.concurrent('a provider that refuses an own key', () => {
  const text = 'Incorrect API key provided: sk-own-0123456789-xxxx. See https://provider.example/keys';
  /** Refuses all but the pool's key. */
  const onlyPool = (upstream: string, status = 401, headers: Record<string, string> = {}) =>
    world().script.on(upstream, 'a', (response, received) => {
      const own = received.headers.authorization !== 'Bearer sk-calls-one';
      const error = { message: text, type: 'invalid_request_error', code: 'invalid_api_key' };
      const answer = own ? refuse(status, { error }, headers) : refuse(200, wholeAnswer(upstream));
      answer(response, received);
    });

  test('is reported to the caller in its own words, redacted, and free', async () => {
    const org = await world().org();
    const { id, upstream } = model('s');
    onlyPool(upstream);
    await bring(org, 'own-s');
    for (let i = 0; i < 2; i++) {
      const reply = await world().chat(org.live_key, bodyOf(id, 'Hi')).reply;
      expect(reply.status).toBe(403);
      expect(errorOf(reply)).toMatchObject({
        code: 'byok_key_rejected',
        type: 'permission_error',
        message: 'Incorrect API key provided: [redacted]. See [redacted]',
        details: { upstream: { provider: 'own-s', status: 401, code: 'invalid_api_key' } },
      });
      const ended = await world().ended(org, idOf(reply));
      expect(ended).toMatchObject({ charged: 0, meter: null, attempts: ['error auth'] });
    }
  });

  test('is followed by the pool where the key falls back, at the price of the pool', async () => {
    const org = await world().org();
    const { id, upstream } = model('s');
    onlyPool(upstream);
    const own = await bring(org, 'own-s', { fallback_to_pool: true });
    const reply = await world().chat(org.live_key, bodyOf(id, 'Hi')).reply;
    expect(reply.status).toBe(200);
    const { row, charged, attempts } = await world().ended(org, idOf(reply));
    expect(attempts).toEqual(['error auth', 'ok']);
    expect(row).toMatchObject({ byok: false });
    expect(charged).toBe(priceOf(10, 3));
    expect(await attemptsOf(reply)).toMatchObject([
      { pool_id: 'byok', key_hint: own.hint },
      { pool_id: 'main', key_hint: '' },
    ]);
    // Cooling down, the key is not tried in vain by the next call.
    const next = await world().chat(org.live_key, bodyOf(id, 'Hi')).reply;
    expect((await world().ended(org, idOf(next))).attempts).toEqual(['ok']);
  });

  test('leaves the endpoint open to everybody else', async () => {
    const [mine, theirs] = await Promise.all([world().org(), world().org()]);
    const { id, upstream } = model('s');
    onlyPool(upstream);
    await bring(mine, 'own-s');
    for (let i = 0; i < 8; i++) await world().chat(mine.live_key, bodyOf(id, 'Hi')).reply;
    expect((await world().chat(theirs.live_key, bodyOf(id, 'Hi')).reply).status).toBe(200);
  });

  test('for its rate makes that key rest at that endpoint, and no other', async () => {
    const [mine, theirs] = await Promise.all([world().org(), world().org()]);
    const [one, two] = [model('s'), model('s')];
    onlyPool(one.upstream, 429, { 'retry-after': '30' });
    world().script.on(two.upstream, 'a', refuse(200, wholeAnswer(two.upstream)));
    await bring(mine, 'own-s');
    const first = await world().chat(mine.live_key, bodyOf(one.id, 'Hi')).reply;
    expect([first.status, errorOf(first)?.['code']]).toEqual([429, 'upstream_rate_limited']);
    expect(errorOf(first)?.['message']).toContain('Incorrect API key');
    const second = await world().chat(mine.live_key, bodyOf(one.id, 'Hi')).reply;
    expect([second.status, errorOf(second)?.['excluded_by']]).toMatchObject([503, [{ reason: 'rate' }]]);
    expect(Number(second.headers['retry-after'])).toBeGreaterThan(20);
    expect(world().script.received(one.upstream)).toHaveLength(1);
    expect((await world().chat(mine.live_key, bodyOf(two.id, 'Hi')).reply).status).toBe(200);
    expect((await world().chat(theirs.live_key, bodyOf(one.id, 'Hi')).reply).status).toBe(200);
  });

  test('is followed by the next key of the organization', async () => {
    const org = await world().org();
    const { id, upstream } = model('s');
    const [bad, good] = [await bring(org, 'own-s'), await bring(org, 'own-s')];
    world().script.on(upstream, 'a', (response, received) => {
      const ok = received.headers.authorization === `Bearer ${good.secret}`;
      (ok ? refuse(200, wholeAnswer(upstream)) : refuse(401, { error: { message: 'no' } }))(
        response,
        received,
      );
    });
    const sent = () =>
      world()
        .script.received(upstream)
        .map(({ headers }) => headers.authorization);
    expect((await world().chat(org.live_key, bodyOf(id, 'Hi')).reply).status).toBe(200);
    expect(sent()).toEqual([`Bearer ${bad.secret}`, `Bearer ${good.secret}`]);
    // The one that was refused is tried last from now on.
    expect((await world().chat(org.live_key, bodyOf(id, 'Hi')).reply).status).toBe(200);
    expect(sent().slice(2)).toEqual([`Bearer ${good.secret}`]);
  });
});

describe.concurrent('a stream with an own key', () => {
  test('that breaks off is reported in the words of the provider without the key, and free', async () => {
    const org = await world().org();
    const { id, upstream } = model('s');
    const secret = 'planted0123456789abcdef';
    const own = await bring(org, 'own-s', { secret });
    world().script.on(upstream, 'a', (response) => {
      streamHead(response);
      response.write(textChunk(upstream, 'So far'));
      const error = { message: `Account of ${secret} is suspended`, type: 'billing_error' };
      response.end(`data: ${JSON.stringify({ error })}\n\n`);
    });
    const reply = await world().chat(org.live_key, bodyOf(id, 'Hi', { stream: true })).reply;
    expect(grammarFaults('chat', reply)).toEqual([]);
    expect(errorOf(reply)?.['message']).toBe('Account of [redacted] is suspended');
    expect(reply.text).not.toContain('planted');
    const { charged, row } = await world().ended(org, idOf(reply));
    expect([charged, row]).toMatchObject([0, { byok: true, status: 'error' }]);
    expect(await attemptsOf(reply)).toMatchObject([{ pool_id: 'byok', key_hint: own.hint }]);
  });

  test('raises its hold by fees alone, beyond what tokens of the pool would cost, and ends whole', async () => {
    // 20,000 tokens cost 95,000 micro-USD at the pool and 4,750 as a fee.
    const org = await world().org(9_000);
    const { id, upstream } = model('s');
    await bring(org, 'own-s', { fallback_to_pool: true });
    world().script.on(upstream, 'a', (response) => {
      streamHead(response);
      for (let i = 0; i < 40; i++) response.write(textChunk(upstream, 'abcd'.repeat(500)));
      response.end(endChunks(upstream, usageOf(10, 20_000)));
    });
    const body = bodyOf(id, 'Hi', { stream: true, max_tokens: 24_000 });
    const reply = await world().chat(org.live_key, body).reply;
    expect(reply.status).toBe(200);
    expect(saidBy(reply)).toHaveLength(80_000);
    const { charged } = await world().ended(org, idOf(reply));
    expect(charged).toBe(feeOf(10, 20_000));
  });

  test('that its caller leaves costs the fee of what came until then', async () => {
    const org = await world().org();
    const { id, upstream } = model('s');
    await bring(org, 'own-s');
    world().script.on(upstream, 'a', (response) => {
      streamHead(response);
      response.write(textChunk(upstream, 'word '.repeat(400)));
    });
    const exchange = world().chat(org.live_key, bodyOf(id, 'Hi', { stream: true, max_tokens: 4_000 }));
    await exchange.until((text) => text.includes('word'));
    const request_id = await eventually('the id', async () => {
      const { rows } = await world().db.query<{ hold_id: string }>(
        'select hold_id from ledger.hold where book_id = $1',
        [org.live_book_id],
      );
      return rows[0]?.hold_id ?? null;
    });
    exchange.leave();
    const cost = await eventually('the settle', async () => {
      const { rows } = await world().db.query<{
        cost: string;
        input: number;
        output: number;
        estimated: boolean;
      }>(
        'select cost, input_tokens as input, output_tokens as output, estimated from ledger.meter where request_id = $1',
        [request_id],
      );
      return rows[0] ?? null;
    });
    expect(cost.estimated).toBe(true);
    expect(Number(cost.cost)).toBe(feeOf(cost.input, cost.output));
    expect(cost.output).toBeGreaterThan(100);
  });

  test('settles the fee and not the price for an Idempotency-Key, once', async () => {
    const org = await world().org();
    const { id, upstream } = model('s');
    await bring(org, 'own-s');
    world().script.on(upstream, 'a', refuse(200, wholeAnswer(upstream)));
    const headers = { 'idempotency-key': 'own-once' };
    const first = await world().chat(org.live_key, bodyOf(id, 'Hi'), { headers }).reply;
    const second = await world().chat(org.live_key, bodyOf(id, 'Hi'), { headers }).reply;
    expect([first.status, second.status, idOf(second)]).toEqual([200, 200, idOf(first)]);
    expect(world().script.received(upstream)).toHaveLength(1);
    expect((await world().ended(org, idOf(first))).charged).toBe(feeOf(10, 3));
  });
});

test('an AWS key of a caller signs the calls of its organization, and a wrong one is reported as refused', async () => {
  const [mine, theirs] = [await world().org(), await world().org()];
  const { id } = model('aws');
  const secret = `${account.access_key_id}:${account.secret}:${account.session_token}`;
  const own = await bring(mine, 'own-aws', { secret });
  await bring(theirs, 'own-aws', { secret: `${account.access_key_id}:wrong-secret-planted` });
  for (const stream of [true, false]) {
    const reply = await world().chat(mine.live_key, bodyOf(id, 'Hi', { stream })).reply;
    expect(reply.status).toBe(200);
    const { row, charged } = await world().ended(mine, idOf(reply));
    expect(row).toMatchObject({ byok: true, provider: 'own-aws' });
    expect(charged).toBe(feeOf(row.input_tokens, row.output_tokens));
    expect(await attemptsOf(reply)).toMatchObject([{ pool_id: 'byok', key_hint: own.hint }]);
  }
  const refused = await world().chat(theirs.live_key, bodyOf(id, 'Hi')).reply;
  expect([refused.status, errorOf(refused)?.['code']]).toEqual([403, 'byok_key_rejected']);
  expect(refused.text).not.toContain('planted');
  const { charged } = await world().ended(theirs, idOf(refused));
  expect(charged).toBe(0);
  // Nor does what is written about calls repeat a secret: log, rows, audit.
  const { rows } = await world().db.query<{ said: string }>(
    `select row::text as said from request_row row
      union all select attempt::text from request_attempt attempt
      union all select entry::text from audit_entry entry`,
  );
  const written = `${world().gateway.output()}${rows.map(({ said }) => said).join('')}`;
  expect(written).toContain('own-aws');
  for (const secret of ['planted', account.secret, 'sk-own-0123456789'])
    expect(written).not.toContain(secret);
});
