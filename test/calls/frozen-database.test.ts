// A database that takes connections and does not answer (docs/outcomes.md#the-gateway-itself): the same as one that is down.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProxy } from '../../core/ledger/testing/proxy.ts';
import { createTestDatabase } from '../support/database.ts';
import { errorOf, type Reply, svcOf } from './caller.ts';
import { bodyOf, eventually, idOf, type Org, openWorld, type World } from './world.ts';

let proxy: Awaited<ReturnType<typeof startProxy>>;
let world: World;
beforeAll(async () => {
  proxy = await startProxy(await createTestDatabase());
  world = await openWorld({ database_url: proxy.url });
});
afterAll(async () => {
  proxy.thaw();
  await world?.close();
  proxy.close();
});

const running = 'sim: tokens=20 chunks=10 chunk_ms=150';
const ways = [
  { how: 'without', headers: {} },
  { how: 'with', headers: { 'idempotency-key': 'frozen' } },
];

interface Running {
  readonly org: Org;
  readonly reply: Reply;
}

/** What callers got while the database did not answer: all in one such time, because each costs seconds. */
const got: { running: Running[]; fresh: Reply[]; unread: Reply | null } = {
  running: [],
  fresh: [],
  unread: null,
};
/** The model of calls that are refused. */
let refused: ReturnType<World['model']>;

beforeAll(async () => {
  refused = world.model('chat');
  const [org, unread] = [await world.org(), await world.org()];
  // The key and its organization's policies are in memory by now, the balance is not.
  expect((await world.chat(org.live_key, bodyOf('calls/none', 'Hi')).reply).status).toBe(404);
  // Only the key is in memory by now; policies were never read.
  const headers = { authorization: `Bearer ${unread.live_key}` };
  expect((await fetch(`${world.gateway.base_url}/v1/models`, { headers })).status).toBe(200);
  const streams = await Promise.all(
    ways.map(async ({ headers }) => {
      const org = await world.org();
      const body = bodyOf(world.model('chat').id, running, { stream: true });
      return { org, stream: world.chat(org.live_key, body, { headers }) };
    }),
  );
  await Promise.all(streams.map(({ stream }) => stream.until((seen) => seen.includes('lorem'))));
  proxy.freeze();
  const { max_tokens: _, ...uncapped } = bodyOf(refused.id, 'Hi') as { max_tokens: number };
  const key = { headers: { 'idempotency-key': 'refused' } };
  [got.running, got.fresh, got.unread] = await Promise.all([
    Promise.all(streams.map(async ({ org, stream }) => ({ org, reply: await stream.reply }))),
    Promise.all([
      world.chat(org.live_key, bodyOf(refused.id, 'Hi')).reply,
      world.chat(org.live_key, uncapped).reply,
      // An earlier call with this key may have an answer for it.
      world.chat(org.live_key, bodyOf('calls/none', 'Hi'), key).reply,
    ]),
    world.chat(unread.live_key, bodyOf(refused.id, 'Hi')).reply,
  ]);
  proxy.thaw();
});

test.each(ways.map(({ how }, at) => ({ how, at })))(
  'an answer $how an Idempotency-Key comes with its cost and is charged once after',
  async ({ at }) => {
    const { org, reply } = got.running[at] as Running;
    expect(errorOf(reply)).toBeNull();
    const cost = svcOf(reply)?.['cost'].total_micro_usd;
    expect(cost).toBeGreaterThan(0);
    expect((await world.ended(org, idOf(reply))).charged).toBe(cost);
  },
);

// docs/outcomes.md#database-away-before-the-hold
test('a new call is refused with 503 whether it names a cap or not, and whatever else is wrong with it', () => {
  expect(got.fresh).toHaveLength(3);
  for (const reply of got.fresh) {
    expect(reply.status).toBe(503);
    expect(errorOf(reply)?.['code']).toBe('service_unavailable');
    expect(errorOf(reply)?.['details'].component).toMatch(/^(ledger|postgres)$/);
  }
  expect(world.sim.calls.filter(({ model }) => refused.id.endsWith(model))).toEqual([]);
});

test('so is the first call of an organization whose policies were never read', () => {
  expect([got.unread?.status, errorOf(got.unread as Reply)?.['code']]).toEqual([503, 'service_unavailable']);
});

test('connections that the network forgot in silence are given up, and calls are served again', async () => {
  const org = await world.org();
  const { id } = world.model('chat');
  expect((await world.chat(org.live_key, bodyOf(id, 'Hi')).reply).status).toBe(200);
  proxy.forget();
  await eventually(
    'a call is served',
    async () => {
      const { status } = await world.chat(org.live_key, bodyOf(id, 'Hi')).reply;
      return status === 200;
    },
    45_000,
  );
}, 60_000);
