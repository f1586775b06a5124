// A database that takes connections and does not answer (docs/outcomes.md#the-gateway-itself): as good as away.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProxy } from '../../core/ledger/testing/proxy.ts';
import { createTestDatabase } from '../support/database.ts';
import { errorOf, svcOf } from './caller.ts';
import { bodyOf, eventually, idOf, openWorld, type World } from './world.ts';

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

const text = 'sim: tokens=20 chunks=10 chunk_ms=60';

for (const headers of [{}, { 'idempotency-key': 'frozen' }]) {
  const how = 'idempotency-key' in headers ? 'with' : 'without';
  test(`an answer ${how} an Idempotency-Key comes with its cost and is charged once after`, async () => {
    const org = await world.org();
    const body = bodyOf(world.model('chat').id, text, { stream: true });
    const stream = world.chat(org.live_key, body, { headers });
    await stream.until((seen) => seen.includes('lorem'));
    proxy.freeze();
    const reply = await stream.reply;
    proxy.thaw();
    expect(errorOf(reply)).toBeNull();
    const cost = svcOf(reply)?.['cost'].total_micro_usd;
    expect(cost).toBeGreaterThan(0);
    expect((await world.ended(org, idOf(reply))).charged).toBe(cost);
  }, 60_000);
}

// docs/outcomes.md#database-away-before-the-hold
test('a new call is refused with 503 whether it names a cap or not, and whatever else is wrong with it', async () => {
  const org = await world.org();
  const { id } = world.model('chat');
  // The key and what belongs to its organisation are known by now, its balance is not.
  expect((await world.chat(org.live_key, bodyOf('calls/none', 'Hi')).reply).status).toBe(404);
  proxy.freeze();
  const { max_tokens: _, ...uncapped } = bodyOf(id, 'Hi') as { max_tokens: number };
  const key = { headers: { 'idempotency-key': 'refused' } };
  const replies = await Promise.all([
    world.chat(org.live_key, bodyOf(id, 'Hi')).reply,
    world.chat(org.live_key, uncapped).reply,
    // An earlier call with this key may have an answer for it.
    world.chat(org.live_key, bodyOf('calls/none', 'Hi'), key).reply,
  ]);
  proxy.thaw();
  for (const reply of replies) {
    expect(reply.status).toBe(503);
    expect(errorOf(reply)?.['code']).toBe('service_unavailable');
    expect(errorOf(reply)?.['details'].component).toMatch(/^(ledger|postgres)$/);
  }
  expect(world.sim.calls.filter(({ model }) => id.endsWith(model))).toEqual([]);
}, 60_000);

test('so is the first call of an organisation whose policies were never read', async () => {
  const org = await world.org();
  const headers = { authorization: `Bearer ${org.live_key}` };
  expect((await fetch(`${world.gateway.base_url}/v1/models`, { headers })).status).toBe(200);
  proxy.freeze();
  const reply = await world.chat(org.live_key, bodyOf(world.model('chat').id, 'Hi')).reply;
  proxy.thaw();
  expect([reply.status, errorOf(reply)?.['code']]).toEqual([503, 'service_unavailable']);
}, 60_000);

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
