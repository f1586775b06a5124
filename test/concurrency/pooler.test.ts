// A gateway whose database is behind a pooler in transaction mode (docs/operate/databases.md#a-pooler-before-postgresql): two
// connections of the server for everything but LISTEN and the leader's lock.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorOf, svcOf } from '../calls/caller.ts';
import { bodyOf, eventually, idOf, openWorld, type World } from '../calls/world.ts';
import { startPooler } from '../sim/pooler.ts';
import { createTestDatabase } from '../support/database.ts';
import { startGatewayProcess } from '../support/gateway.ts';

let pooler: Awaited<ReturnType<typeof startPooler>>;
let world: World;
beforeAll(async () => {
  const direct = await createTestDatabase();
  pooler = await startPooler(direct, { size: 3 });
  // What the test itself reads goes directly.
  world = await openWorld({
    database_url: direct,
    env: { SVC_DATABASE_URL: pooler.url, SVC_DATABASE_DIRECT_URL: direct },
  });
});
afterAll(async () => {
  await world?.close();
  await pooler.close();
});

test('calls at once, whole and streamed, are charged what they cost, and a repeated one once', async () => {
  const [org, { id }] = [await world.org(), world.model('chat')];
  const key = { headers: { 'idempotency-key': 'again' } };
  const replies = await Promise.all(
    Array.from(
      { length: 20 },
      (_, i) => world.chat(org.live_key, bodyOf(id, 'Hi', { stream: i % 2 > 0 })).reply,
    ),
  );
  const first = await world.chat(org.live_key, bodyOf(id, 'Hi'), key).reply;
  const again = await world.chat(org.live_key, bodyOf(id, 'Hi'), key).reply;
  expect([again.status, idOf(again)]).toEqual([200, idOf(first)]);
  for (const reply of [...replies, first]) {
    expect(errorOf(reply)).toBeNull();
    const cost = svcOf(reply)?.['cost'].total_micro_usd;
    expect(cost).toBeGreaterThan(0);
    expect((await world.ended(org, idOf(reply))).charged).toBe(cost);
  }
  expect(pooler.transactions).toBeGreaterThan(50);
});

test('the management API works, and a key that is revoked is refused within a second', async () => {
  const org = await world.org();
  const api = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${world.gateway.base_url}${path}`, {
      method,
      headers: { authorization: `Bearer ${org.live_key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: bodies of several routes
    return { status: response.status, body: (await response.json()) as any };
  };
  const { project_id } = org;
  const made = await api('POST', '/v1/keys', { name: 'soon gone', project_id, scopes: ['inference'] });
  expect(made.status).toBe(201);
  const { secret, id } = made.body;
  const model = world.model('chat').id;
  expect((await world.chat(secret, bodyOf(model, 'Hi')).reply).status).toBe(200);
  expect((await api('DELETE', `/v1/keys/${id}`)).status).toBe(200);
  const refused = async () => (await world.chat(secret, bodyOf(model, 'Hi')).reply).status === 401;
  await eventually('the key is refused', refused, 1_000);
});

test('connections that the pooler drops under running streams cost no answer and no money', async () => {
  const { id } = world.model('chat');
  const running = 'sim: tokens=20 chunks=10 chunk_ms=100';
  const orgs = await Promise.all(Array.from({ length: 4 }, () => world.org()));
  const streams = orgs.map((org) => world.chat(org.live_key, bodyOf(id, running, { stream: true })));
  await Promise.all(streams.map((stream) => stream.until((seen) => seen.includes('lorem'))));
  pooler.cut();
  for (const [i, stream] of streams.entries()) {
    const reply = await stream.reply;
    expect(errorOf(reply)).toBeNull();
    const { charged } = await world.ended(orgs[i]!, idOf(reply));
    expect(charged).toBe(svcOf(reply)?.['cost'].total_micro_usd);
  }
  const { reply } = world.chat(orgs[0]!.live_key, bodyOf(id, 'Hi'));
  expect((await reply).status).toBe(200);
});

test('a gateway that is given the pooler alone does not start, and says what is missing', async () => {
  await expect(startGatewayProcess({ database_url: pooler.url })).rejects.toThrow(
    /SVC_DATABASE_URL leads through a connection pooler in transaction mode.*set SVC_DATABASE_DIRECT_URL/,
  );
});
