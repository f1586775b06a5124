// Callers' own provider keys in calls: which credential the provider saw, who may be asked, and what it costs
// (docs/providers.md#keys-of-your-callers, docs/money/pricing.md).
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { root } from '../../../cli/installation.ts';
import { ledgersEnv } from '../../support/books.ts';
import { errorOf, type Reply } from '../caller.ts';
import { refuse, wholeAnswer } from '../upstream.ts';
import { bodyOf, eventually, idOf, type Org, priceOf } from '../world.ts';
import { FEE_BPS, feeOf, POOL_TAIL, useOwnWorld } from './own-keys-world.ts';

const world = useOwnWorld();
const { attemptsOf, bring, manage, model, tailsAt } = world;
const run = promisify(execFile);

describe.concurrent('a call with an own key', () => {
  test.each([
    ['chat', 'a', 'own-a', true],
    ['chat', 'a', 'own-a', false],
    ['messages', 'x', 'own-x', true],
    ['messages', 'a', 'own-a', false],
  ] as const)('on %s at %s (%s, stream %s) carries that key and costs the fee', async (...want) => {
    const [dialect, kind, provider, stream] = want;
    const org = await world().org();
    const { id, upstream } = model(kind);
    const own = await bring(org, provider);
    const reply = await world()[dialect](org.live_key, bodyOf(id, 'Tell me of the sea', { stream })).reply;
    expect(reply.status).toBe(200);
    expect(tailsAt(upstream)).toEqual([own.tail]);
    const { row, charged, meter } = await world().ended(org, idOf(reply));
    expect(row).toMatchObject({ byok: true, provider, status: 'ok' });
    expect(charged).toBe(feeOf(row.input_tokens, row.output_tokens));
    expect(charged).toBeGreaterThan(0);
    expect(meter?.cost).toBe(charged);
    expect(await attemptsOf(reply)).toEqual([{ pool_id: 'byok', key_hint: own.hint, outcome: 'ok' }]);
    expect(reply.text).toContain(`"byok_fee"`);
    expect(reply.text).not.toContain(own.secret);
  });

  test('is recomputed to the same charge by svcctl', async () => {
    const org = await world().org();
    const { id } = model('a');
    await bring(org, 'own-a');
    const reply = await world().chat(org.live_key, bodyOf(id, 'Count me')).reply;
    const { charged } = await world().ended(org, idOf(reply));
    const { stdout } = await run(
      process.execPath,
      [`${root}cli/bin/svcctl.js`, 'price', 'check', idOf(reply), '--json'],
      {
        env: {
          PATH: process.env['PATH'],
          NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
          SVC_DATABASE_URL: world().database_url,
          ...ledgersEnv(world().database_url),
          SVC_DATA_DIR: '/nonexistent',
        },
      },
    );
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      recomputed_micro_usd: charged,
      lines: [{ kind: 'byok_fee', unit_price_nano: FEE_BPS / 10, micro_usd: charged }],
    });
  });

  test('needs the fee in the balance and not the price of the pool, also where the pool may follow', async () => {
    // 64 tokens of output cost 304 micro-USD at the pool and 16 as a fee.
    const org = await world().org(60);
    const { id, upstream } = model('a');
    const own = await bring(org, 'own-a', { fallback_to_pool: true });
    const reply = await world().chat(org.live_key, bodyOf(id, 'Hi')).reply;
    expect(reply.status).toBe(200);
    expect(tailsAt(upstream)).toEqual([own.tail]);
    const { charged, row } = await world().ended(org, idOf(reply));
    expect(charged).toBe(feeOf(row.input_tokens, row.output_tokens));
  });

  test('forwards metadata to the account, which a call of the pool does not', async () => {
    const [mine, theirs] = await Promise.all([world().org(), world().org()]);
    const { id, upstream } = model('a');
    await bring(mine, 'own-a');
    for (const org of [mine, theirs]) {
      const body = bodyOf(id, 'Hi', { metadata: { mark: 'account' } });
      expect((await world().chat(org.live_key, body).reply).status).toBe(200);
    }
    const seen = world().sim.calls.filter((call) => call.model === upstream);
    expect(seen.map((call) => (call.body as { metadata?: object }).metadata)).toEqual([
      { mark: 'account' },
      undefined,
    ]);
  });

  test('may name files of the account, which a call of the pool may not', async () => {
    const [mine, theirs] = await Promise.all([world().org(), world().org()]);
    const { id, upstream } = model('s');
    world().script.on(upstream, 'a', refuse(200, wholeAnswer(upstream)));
    await bring(mine, 'own-s', { fallback_to_pool: true });
    const content = [{ type: 'file', file: { file_id: 'file-abc' } }];
    const body = { model: id, max_tokens: 64, messages: [{ role: 'user', content }] };
    const reply = await world().chat(mine.live_key, body).reply;
    expect(reply.status).toBe(200);
    expect(JSON.stringify(world().script.received(upstream)[0]?.body)).toContain('file-abc');
    const refused = [
      await world().chat(theirs.live_key, body).reply,
      await world().chat(mine.live_key, { ...body, svc: { route: { byok: 'never' } } }).reply,
    ];
    for (const answer of refused) {
      expect(errorOf(answer)).toMatchObject({
        code: 'unsupported_parameter',
        param: 'messages[0].content[0]',
        details: { reason: 'own_key_required' },
      });
    }
    expect(world().script.received(upstream)).toHaveLength(1);
  });

  test('carries headers of the account, which reach no other', async () => {
    const org = await world().org();
    const { id, upstream } = model('x');
    const own = await bring(org, 'own-x');
    const headers = { 'anthropic-workspace-id': 'wrkspc-mine' };
    for (const byok of ['only', 'prefer']) {
      const body = bodyOf(id, 'Hi', { svc: { route: { byok } } });
      expect((await world().messages(org.live_key, body, { headers }).reply).status).toBe(200);
    }
    const seen = world().sim.calls.filter((call) => call.model === upstream);
    expect(seen.map((call) => [call.key_hint, call.headers['anthropic-workspace-id']])).toEqual([
      [own.tail, 'wrkspc-mine'],
      [own.tail, undefined],
    ]);
  });
});

describe.concurrent('the setting for own keys', () => {
  const excluded = (reply: Reply) =>
    (errorOf(reply)?.['excluded_by'] as { reason: string }[] | undefined)?.map(({ reason }) => reason);

  test('`only` without one is refused by reason, `never` with one is answered by the pool', async () => {
    const [bare, owner] = await Promise.all([world().org(), world().org()]);
    const { id, upstream } = model('a');
    await bring(owner, 'own-a');
    const only = bodyOf(id, 'Hi', { svc: { route: { byok: 'only' } } });
    const refused = await world().chat(bare.live_key, only).reply;
    expect([refused.status, errorOf(refused)?.['code'], excluded(refused)]).toEqual([
      ...[400, 'no_endpoint_available'],
      ['byok'],
    ]);
    const never = bodyOf(id, 'Hi', { svc: { route: { byok: 'never' } } });
    const reply = await world().chat(owner.live_key, never).reply;
    expect(tailsAt(upstream)).toEqual([POOL_TAIL]);
    const { row, charged } = await world().ended(owner, idOf(reply));
    expect(row).toMatchObject({ byok: false });
    expect(charged).toBe(priceOf(row.input_tokens, row.output_tokens));
  });

  test('is the only way to a provider that requires one, and makes up for a pool without keys', async () => {
    const [bare, owner] = await Promise.all([world().org(), world().org()]);
    for (const [kind, provider, reason] of [
      ['r', 'own-r', 'byok'],
      ['n', 'own-n', 'status'],
    ] as const) {
      const { id, upstream } = model(kind);
      const own = await bring(owner, provider, { fallback_to_pool: true });
      const refused = await world().chat(bare.live_key, bodyOf(id, 'Hi')).reply;
      expect([refused.status, excluded(refused)]).toEqual([400, [reason]]);
      const reply = await world().chat(owner.live_key, bodyOf(id, 'Hi')).reply;
      expect(reply.status).toBe(200);
      expect(tailsAt(upstream)).toEqual([own.tail]);
    }
  });

  test('goes before the order that the caller asks for, and keeps a call without fallback off every pool', async () => {
    const org = await world().org();
    const { id, upstream } = model('s-plain');
    world().script.on(upstream, 'a', refuse(500, { error: { message: 'broken' } }));
    world().script.on(upstream, 'b', refuse(200, wholeAnswer(upstream)));
    await bring(org, 'own-s');
    const route = { providers: { order: ['own-p', 'own-s'] } };
    const reply = await world().chat(org.live_key, bodyOf(id, 'Hi', { svc: { route } })).reply;
    expect([reply.status, errorOf(reply)?.['code']]).toEqual([502, 'upstream_error']);
    expect(
      world()
        .script.received(upstream)
        .map(({ site }) => site),
    ).toEqual(['a']);
    const { charged } = await world().ended(org, idOf(reply));
    expect(charged).toBe(0);
  });

  test('is never met for a test key, whose calls the sandbox answers', async () => {
    const org = await world().org();
    const { id, upstream } = model('a');
    await bring(org, 'own-a');
    const reply = await world().chat(org.sandbox_key, bodyOf(id, 'Hi')).reply;
    expect([reply.status, reply.headers['x-svc-provider']]).toEqual([200, 'sandbox']);
    expect(tailsAt(upstream)).toEqual([]);
    const only = bodyOf(id, 'Hi', { svc: { route: { byok: 'only' } } });
    expect((await world().chat(org.sandbox_key, only).reply).status).toBe(400);
  });
});

describe.concurrent('a request that names things of an account', () => {
  const thread = { thread: { id: 'thr_1' } };

  test('is answered without a key with the error that makes clients send the whole history', async () => {
    const [bare, owner] = [await world().org(), await world().org()];
    const { id, upstream } = model('x');
    await bring(owner, 'own-a');
    const only = bodyOf(id, 'Hi', { ...thread, svc: { route: { byok: 'only' } } });
    for (const org of [bare, owner]) {
      const reply = await world().messages(org.live_key, only).reply;
      expect([reply.status, errorOf(reply)?.['code'], errorOf(reply)?.['param']]).toEqual([
        ...[400, 'unsupported_parameter', 'thread'],
      ]);
      expect(errorOf(reply)?.['details']).toMatchObject({
        error_code: 'thread_unsupported_request',
        unsupported: ['thread'],
      });
    }
    expect(tailsAt(upstream)).toEqual([]);
  });

  test('reaches no account of the pool although a policy locks the setting for own keys', async () => {
    const org = await world().org();
    const { id, upstream } = model('x');
    await bring(org, 'own-x', { fallback_to_pool: true });
    const yaml = 'defaults: { byok: never, lock: [byok] }\n';
    expect((await manage('POST', '/v1/policies', org.live_key, { name: 'pool', yaml })).status).toBe(201);
    await manage('POST', '/v1/policies/pool/activate', org.live_key, { version: 1, scope: {} });
    const only = bodyOf(id, 'Hi', { svc: { route: { byok: 'only' } } });
    const headers = { 'anthropic-workspace-id': 'wrkspc-mine' };
    const reply = await world().messages(org.live_key, only, { headers }).reply;
    expect([reply.status, errorOf(reply)?.['code']]).toEqual([400, 'no_endpoint_available']);
    expect(tailsAt(upstream)).toEqual([]);
    // Whoever names nothing is answered by the pool, as the policy says.
    expect((await world().messages(org.live_key, bodyOf(id, 'Hi')).reply).status).toBe(200);
    expect(tailsAt(upstream)).toEqual([POOL_TAIL]);
  });
});

describe.concurrent('whose key it is', () => {
  test('of two organizations at once, and one without, each call carries its own', async () => {
    const orgs = await Promise.all([world().org(), world().org(), world().org()]);
    const { id, upstream } = model('a');
    const own = [await bring(orgs[0] as Org, 'own-a'), await bring(orgs[1] as Org, 'own-a')];
    const tails = [own[0]?.tail, own[1]?.tail, POOL_TAIL];
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, i) => {
        const org = orgs[i % 3] as Org;
        const body = bodyOf(id, `mark=org${i % 3}`, { stream: i % 2 === 0 });
        return world().chat(org.live_key, body).reply;
      }),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    const seen = world().sim.calls.filter((call) => call.model === upstream);
    expect(seen).toHaveLength(60);
    for (const call of seen) expect(call.key_hint).toBe(tails[Number(call.mark.slice(-1))]);
  });

  // A busy machine only makes what is measured longer, so one good run of three is proof.
  test('a key deleted by another process answers nothing a second later, with or without notifications', {
    retry: 2,
  }, async () => {
    for (const deaf of [false, true]) {
      const org = await world().org();
      const { id, upstream } = model('a');
      const own = await bring(org, 'own-a');
      const call = () =>
        world().chat(org.live_key, bodyOf(id, 'Hi', { svc: { route: { byok: 'only' } } })).reply;
      expect((await call()).status).toBe(200);
      if (deaf) {
        await world().db.query(`alter table byok_key disable trigger byok_key_announces`);
        await world().db.query(`insert into byok_change (org_id) values ($1)`, [org.org_id]);
      }
      const began = performance.now();
      await world().db.query('delete from byok_key where id = $1', [own.id]);
      if (deaf) {
        await world().db.query(`insert into byok_change (org_id) values ($1)`, [org.org_id]);
        await world().db.query(`alter table byok_key enable trigger byok_key_announces`);
      }
      await eventually('the key is gone', async () => (await call()).status === 400, 5_000);
      expect(performance.now() - began).toBeLessThan(1_500);
      const before = tailsAt(upstream).length;
      expect((await call()).status).toBe(400);
      expect(tailsAt(upstream)).toHaveLength(before);
    }
  });

  test('a replaced secret is used from the next call on', async () => {
    const org = await world().org();
    const { id, upstream } = model('a');
    const own = await bring(org, 'own-a');
    await world().chat(org.live_key, bodyOf(id, 'Hi')).reply;
    const changed = await manage('PATCH', `/v1/byok/${own.id}`, org.live_key, {
      secret: 'sk-replaced-0123-NEXT',
    });
    expect(changed.json.key).toMatchObject({ hint: '...NEXT', id: own.id });
    await world().chat(org.live_key, bodyOf(id, 'Hi')).reply;
    const gone = await manage('DELETE', `/v1/byok/${own.id}`, org.live_key);
    expect(gone.status).toBe(204);
    await world().chat(org.live_key, bodyOf(id, 'Hi')).reply;
    expect(tailsAt(upstream)).toEqual([own.tail, 'NEXT', POOL_TAIL]);
  });

  test('when a key was used last is reported', async () => {
    const org = await world().org();
    const { id } = model('a');
    const own = await bring(org, 'own-a');
    await world().chat(org.live_key, bodyOf(id, 'Hi')).reply;
    await eventually(
      'last_used_at',
      async () => {
        const { json } = await manage('GET', '/v1/byok', org.live_key);
        const found = json.data.find((key: { id: string }) => key.id === own.id);
        return found?.last_used_at !== null;
      },
      20_000,
    );
  }, 30_000);
});

test('a key is tried at its provider, and what was said is noted; without an answer nothing is', async () => {
  const org = await world().org();
  let status = 200;
  world().script.on('undefined', 'v', (response, received) => {
    expect(received.path).toBe('/v/v1/models');
    if (status === 0) return void response.destroy();
    refuse(status, status === 200 ? { data: [{}, {}] } : { error: { message: 'no' } })(response, received);
  });
  const own = await bring(org, 'own-v');
  const validate = async (answers: number) => {
    status = answers;
    const {
      status: code,
      json,
      text,
    } = await manage('POST', `/v1/byok/${own.id}/validate`, org.live_key, {});
    expect(code).toBe(200);
    expect(text).not.toContain(own.secret);
    return [json.validation, json.key.status, json.key.validated_at];
  };
  const said = { provider_id: 'own-v', models: null, message: 'no' };
  expect(await validate(401)).toEqual([{ ...said, ok: false, status: 401 }, 'rejected', null]);
  const [reported, state, at] = await validate(200);
  expect([reported, state]).toEqual([{ ...said, ok: true, status: 200, models: 2, message: null }, 'active']);
  expect(at).toMatch(/^20/);
  expect(await validate(500)).toEqual([{ ...said, ok: false, status: 500 }, 'active', at]);
  expect(await validate(0)).toEqual([{ ...said, ok: false, status: 0, message: null }, 'active', at]);
  expect(await validate(403)).toEqual([{ ...said, ok: false, status: 403 }, 'rejected', at]);
  const asked = world().script.received(undefined as never);
  expect(new Set(asked.map(({ headers }) => headers.authorization))).toEqual(
    new Set([`Bearer ${own.secret}`]),
  );
});

test('a dry run tells what an own key would cost, and the policy language knows of one', async () => {
  const org = await world().org();
  const { id } = model('a');
  await bring(org, 'own-a', { fallback_to_pool: true });
  const content = [{ type: 'text', text: 'Hi' }];
  const asked = { model: id, generation: { max_tokens: 64 }, messages: [{ role: 'user', content }] };
  const dry = await manage('POST', '/v1/svc/dry_run', org.live_key, asked);
  expect(dry.json.plan.map((item: { provider: string }) => item.provider)).toEqual(['own-a', 'own-a']);
  const [own, pool] = dry.json.plan as { est_cost_micro: number }[];
  expect(own?.est_cost_micro).toBeLessThan((pool?.est_cost_micro as number) / 10);
  const yaml = 'rules:\n  - name: mine\n    match: { has: [byok] }\n    byok: never\n';
  const made = await manage('POST', '/v1/policies', org.live_key, { name: 'mine', yaml });
  expect(made.status).toBe(201);
  const active = await manage('POST', '/v1/policies/mine/activate', org.live_key, { version: 1, scope: {} });
  expect(active.status).toBe(200);
  const again = await manage('POST', '/v1/svc/dry_run', org.live_key, asked);
  expect(again.json.plan).toHaveLength(1);
  expect(again.json.trace).toContain('rule=mine');
});
