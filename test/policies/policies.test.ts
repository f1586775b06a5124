// Policies as calls meet them, over two real gateway processes: the next call is routed by what is active.
import type { Route } from '@svc/core/routing/index.ts';
import { describe, expect, test } from 'vitest';
import { errorOf, svcOf } from '../calls/caller.ts';
import { eventually } from '../calls/world.ts';
import { readBook, untilBook, withClient } from '../support/books.ts';
import { openPolicyWorld, prices, traced } from './world.ts';

const world = await openPolicyWorld();
const { one, two } = world;
const QUIET = 'rules: [{name: privacy, match: {models: ["acme/*"]}, providers: {only: [quiet]}}]';
const LOUD = 'rules: [{name: noise, match: {}, providers: {only: [loud]}}]';

interface StoredRow {
  readonly error_code: string;
  readonly status: string;
  readonly route_trace: Route | null;
  readonly cost_micro: string;
  readonly model: string;
  readonly provider: string;
  readonly warnings: { code: string }[];
}

function rowOf(id: string | undefined): Promise<StoredRow> {
  return withClient(world.database_url, (client) =>
    eventually(`row of ${id}`, async () => {
      const { rows } = await client.query<StoredRow>('select * from request_row where request_id = $1', [id]);
      return rows[0] ?? null;
    }),
  );
}

describe('activation', () => {
  // A busy machine only makes what is measured longer, so one good run of three is proof.
  test('the next call of the same process is routed by it, one of another process within a second', {
    retry: 2,
  }, async () => {
    const org = await world.org();
    const route = async (at = one) =>
      traced(await world.chat(at, org.live_key, 'acme/cheap').reply, 'policy');
    expect([await route(one), await route(two)]).toEqual(['default', 'default']);
    for (const [version, yaml] of [QUIET, LOUD, QUIET].entries()) {
      expect(await world.rule(one, org, 'main', yaml)).toBe(version + 1);
      const began = performance.now();
      expect(await route(one)).toBe(`main/${version + 1}`);
      await eventually(
        'the other process follows',
        async () => (await route(two)) === `main/${version + 1}`,
        1_000,
      );
      expect(performance.now() - began).toBeLessThan(1_000);
    }
    await world.ask(two, org.live_key, 'POST', '/main/deactivate', {});
    expect(await route(two)).toBe('default');
    await eventually('the first process follows', async () => (await route(one)) === 'default', 1_000);
  });

  test('trace and row name policy, version and rule, and the excluded endpoint its reason', async () => {
    const org = await world.org();
    await world.rule(one, org, 'main', QUIET);
    const reply = await world.chat(one, org.live_key, 'acme/cheap').reply;
    expect(reply.status).toBe(200);
    expect(reply.headers['x-svc-provider']).toBe('quiet');
    expect([traced(reply, 'policy'), traced(reply, 'rule')]).toEqual(['main/1', 'privacy']);
    expect(traced(reply, 'drop')).toMatch(/:only$/);
    const row = await rowOf(reply.headers['x-svc-request-id']);
    expect(row.route_trace).toMatchObject({ policy: 'main', version: 1, rule: 'privacy' });
    const other = await world.org();
    const free = await world.chat(one, other.live_key, 'acme/cheap').reply;
    expect(traced(free, 'policy')).toBe('default');
  });

  test("a project's own policy rules before the organization's", async () => {
    const org = await world.org();
    await world.rule(one, org, 'whole', QUIET);
    await world.ask(one, org.live_key, 'POST', '', { name: 'part', yaml: LOUD });
    const scope = { project_id: org.project_id };
    await world.ask(one, org.live_key, 'POST', '/part/activate', { version: 1, scope });
    const call = () => world.chat(one, org.live_key, 'acme/cheap').reply;
    expect(traced(await call(), 'policy')).toBe('part/1');
    await world.ask(one, org.live_key, 'POST', '/part/deactivate', { scope });
    expect(traced(await call(), 'policy')).toBe('whole/1');
  });

  test('the single read counts the gateways that route by it, of a draft none, and none that has stopped', async () => {
    const org = await world.org();
    const third = await world.gateway();
    const version = await world.rule(one, org, 'main', QUIET);
    const read = async () =>
      (await world.ask(one, org.live_key, 'GET', `/main/versions/${version}`)).json['gateways'];
    await eventually('all three follow', async () => {
      const { applied, total } = (await read()) as { applied: number; total: number };
      return applied === 3 && total === 3;
    });
    await world.ask(one, org.live_key, 'POST', '/main/versions', { yaml: LOUD });
    const draft = await world.ask(one, org.live_key, 'GET', '/main/versions/2');
    expect(draft.json['gateways']).toEqual({ applied: 0, total: 3 });
    await third.stop();
    expect(await read()).toEqual({ applied: 2, total: 2 });
  });
});

test('a user stays in one arm over both gateways, is served as it says, and the row names it', async () => {
  const org = await world.org();
  const arms =
    '[{name: control, percent: 50, providers: {only: [loud]}}, {name: candidate, percent: 50, providers: {only: [quiet]}}]';
  await world.rule(one, org, 'split', `defaults: {experiment: {name: where, stick: user, arms: ${arms}}}`);
  await eventually('the other process follows', async () => {
    const reply = await world.chat(two, org.live_key, 'acme/cheap').reply;
    return traced(reply, 'policy') === 'split/1';
  });
  const seen = new Set<string | undefined>();
  for (const user of ['u1', 'u2', 'u3', 'u4', 'u5', 'u6', 'u7', 'u8']) {
    const replies = await Promise.all(
      [one, two, one].map((at) => world.chat(at, org.live_key, 'acme/cheap', { user }).reply),
    );
    const taken = new Set(replies.map((reply) => traced(reply, 'arm')));
    expect(taken.size).toBe(1);
    const [arm] = taken;
    const provider = arm === 'where/candidate' ? 'quiet' : 'loud';
    for (const reply of replies) expect(reply.headers['x-svc-provider']).toBe(provider);
    if (!seen.has(arm)) {
      const row = await rowOf(replies[0]?.headers['x-svc-request-id']);
      expect(row.route_trace?.experiment).toMatchObject({ name: 'where', arm: arm?.slice('where/'.length) });
      expect(Number(row.cost_micro)).toBeGreaterThan(0);
    }
    seen.add(arm);
  }
  expect([...seen].sort()).toEqual(['where/candidate', 'where/control']);
  await eventually('every call is counted', async () => {
    const { json } = await world.ask(one, org.live_key, 'GET', '/split/experiments');
    const data = json['data'] as { requests: number }[];
    return data.reduce((sum, arm) => sum + arm.requests, 0) >= 24;
  });
});

describe('refusals', () => {
  const CLOSED = `rules:
  - {name: closed, match: {metadata: {team: [guests]}}, deny: {message: Guests may not call}}
  - {name: small, match: {}, limits: {max_tokens: 40}}`;

  test.each(['/v1/chat/completions', '/v1/messages'])(
    'a denied call to %s costs nothing and says why',
    async (path) => {
      const org = await world.org();
      await world.rule(one, org, 'main', CLOSED);
      const before = await readBook(world.database_url, org.live_book_id);
      const reply = await fetch(`${one.base_url}${path}`, {
        method: 'POST',
        headers: {
          ...{ authorization: `Bearer ${org.live_key}`, 'content-type': 'application/json' },
          'x-svc-metadata': '{"team":"guests"}',
        },
        body: JSON.stringify({
          ...{ model: 'acme/cheap', max_tokens: 8, messages: [{ role: 'user', content: 'Hi' }] },
        }),
      });
      expect(reply.status).toBe(403);
      const text = await reply.text();
      expect(text).toContain('Guests may not call');
      const { error } = JSON.parse(text) as { error: { details: object } };
      expect(error.details).toMatchObject({ policy: 'main', version: 1, rule: 'closed' });
      const row = await rowOf(reply.headers.get('x-svc-request-id') ?? undefined);
      expect([row.status, row.error_code, Number(row.cost_micro)]).toEqual(['rejected', 'policy_denied', 0]);
      expect(row.route_trace).toMatchObject({ policy: 'main', version: 1, rule: 'closed' });
      expect(await readBook(world.database_url, org.live_book_id)).toEqual(before);
    },
  );

  test('a limit of tokens denies a call that asks for more and caps one that does not say', async () => {
    const org = await world.org();
    await world.rule(one, org, 'main', CLOSED);
    const over = await world.chat(one, org.live_key, 'acme/cheap', { max_tokens: 41 }).reply;
    expect([over.status, errorOf(over)?.['code']]).toEqual([403, 'policy_denied']);
    const long = { messages: [{ role: 'user', content: '[[sim:{"tokens":500}]]' }], max_tokens: undefined };
    const reply = await world.chat(one, org.live_key, 'acme/cheap', long).reply;
    expect(reply.status).toBe(200);
    const { usage } = JSON.parse(reply.text) as { usage: { completion_tokens: number } };
    expect(usage.completion_tokens).toBeLessThanOrEqual(40);
    expect(JSON.stringify(svcOf(reply)?.['warnings'])).toContain('max_tokens_capped');
  });

  test('a limit of cost denies a call that could pass it, and its row names what was too expensive', async () => {
    const org = await world.org();
    await world.rule(one, org, 'main', 'defaults: {limits: {max_cost_micro: 1}}');
    const expensive = await world.chat(one, org.live_key, 'acme/cheap').reply;
    expect([expensive.status, errorOf(expensive)?.['code']]).toEqual([403, 'policy_denied']);
    const row = await rowOf(expensive.headers['x-svc-request-id']);
    expect(row.route_trace).toMatchObject({
      ...{ policy: 'main', version: 1 },
      excluded: [{ reason: 'price' }, { reason: 'price' }],
    });
    await world.rule(one, org, 'main', 'defaults: {limits: {max_cost_micro: 1000000}}');
    expect((await world.chat(one, org.live_key, 'acme/cheap').reply).status).toBe(200);
  });

  test('a locked sort is not changed by the call, and the answer has a warning', async () => {
    const org = await world.org();
    await world.rule(one, org, 'main', 'defaults: {sort: price, lock: [sort]}');
    const route = { svc: { route: { sort: 'latency' } } };
    const reply = await world.chat(one, org.live_key, 'acme/cheap', route).reply;
    expect(traced(reply, 'sort')).toBe('price');
    expect(JSON.stringify(svcOf(reply)?.['warnings'])).toContain('route_locked');
  });

  test('a rule about a model holds for every way to write its name, as a fallback too', async () => {
    const org = await world.org();
    const closed = 'rules: [{name: closed, match: {models: [acme/cheap]}, deny: {message: Not this one}}]';
    await world.rule(one, org, 'main', closed);
    for (const name of ['cheap', 'cheap-latest', 'acme/cheap-2025-01-31']) {
      const denied = await world.chat(one, org.live_key, name).reply;
      expect([name, denied.status, errorOf(denied)?.['code']]).toEqual([name, 403, 'policy_denied']);
      const route = { svc: { route: { fallback_models: [name] } } };
      const fallen = await world.chat(one, org.live_key, 'dead', route).reply;
      expect([name, fallen.status]).toEqual([name, 502]);
    }
  });

  test('a call cannot reach a provider that its policy leaves out', async () => {
    const org = await world.org();
    await world.rule(one, org, 'main', QUIET);
    const route = { svc: { route: { providers: { only: ['loud'] } } } };
    const reply = await world.chat(one, org.live_key, 'acme/cheap', route).reply;
    expect([reply.status, errorOf(reply)?.['code']]).toEqual([400, 'no_endpoint_available']);
    const row = await rowOf(reply.headers['x-svc-request-id']);
    expect(row.route_trace).toMatchObject({ policy: 'main', version: 1, rule: 'privacy' });
  });
});

test('a fallback model is billed at its own price, not at that of the model asked for', async () => {
  const org = await world.org();
  await world.rule(one, org, 'main', 'defaults: {fallback_models: [acme/cheap], max_attempts: 4}');
  const reply = await world.chat(one, org.live_key, 'acme/dead').reply;
  expect(reply.status).toBe(200);
  const { usage } = JSON.parse(reply.text) as {
    usage: { prompt_tokens: number; completion_tokens: number };
  };
  const price = prices['acme/cheap'];
  const cost = usage.prompt_tokens * price + usage.completion_tokens * 2 * price;
  const book = await untilBook(world.database_url, org.live_book_id, (now) => now.held === 0);
  expect(book.charges.map(({ amount }) => 0 - amount)).toEqual([cost]);
  const row = await rowOf(reply.headers['x-svc-request-id']);
  expect([Number(row.cost_micro), row.model]).toEqual([cost, 'acme/dead']);
  expect(row.provider).not.toBe('dead');
});

test('a stream under a policy is routed, recorded and billed like any other call', async () => {
  const org = await world.org();
  await world.rule(two, org, 'main', QUIET);
  const reply = await world.chat(two, org.live_key, 'acme/cheap', { stream: true }).reply;
  expect([reply.status, reply.headers['x-svc-provider']]).toEqual([200, 'quiet']);
  const row = await rowOf(reply.headers['x-svc-request-id']);
  expect(row).toMatchObject({ status: 'ok', route_trace: { policy: 'main', version: 1, rule: 'privacy' } });
});
