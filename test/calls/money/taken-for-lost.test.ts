// A gateway that is cut off from a database which others reach (docs/outcomes.md#database-away-at-the-settle): its
// calls are swept, and those that end after all are charged late and have the row of their end.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProxy } from '../../../core/ledger/testing/proxy.ts';
import { createTestDatabase } from '../../support/database.ts';
import { untilReady } from '../../support/gateway.ts';
import { errorOf, eventsOf, svcOf } from '../caller.ts';
import { endChunks, streamHead, textChunk, usageOf } from '../upstream.ts';
import { bodyOf, eventually, idOf, openWorld, type World } from '../world.ts';

const env = { SVC_LEDGER_LEASE_SECONDS: '2' };
let proxy: Awaited<ReturnType<typeof startProxy>>;
/** Leads the jobs, because it was there first. */
let leader: World;
let world: World;
beforeAll(async () => {
  const database_url = await createTestDatabase();
  proxy = await startProxy(database_url);
  leader = await openWorld({ database_url, env });
  world = await openWorld({ database_url: proxy.url, env });
});
afterAll(async () => {
  proxy.thaw();
  await world?.close();
  await leader?.close();
  proxy.close();
});

test('an answer of a gateway that was cut off is charged once, and its row says so', async () => {
  const org = await world.org();
  const { id } = world.model('chat');
  const stream = world.chat(
    org.live_key,
    bodyOf(id, 'sim: tokens=30 chunks=10 chunk_ms=100', { stream: true }),
  );
  await stream.until((seen) => seen.includes('lorem'));
  const request_id = eventsOf(stream.text())[0]?.['id'] as string;
  proxy.freeze();
  const reply = await stream.reply;
  await eventually('the sweeper has written its row', async () => {
    const { rows } = await leader.db.query('select 1 from request_row where request_id = $1', [request_id]);
    return rows.length > 0;
  });
  expect(errorOf(reply)).toBeNull();
  expect(idOf(reply)).toBe(request_id);
  const cost = svcOf(reply)?.['cost'].total_micro_usd;
  proxy.thaw();
  const row = await eventually('the row of the end', async () => {
    const { rows } = await leader.db.query(
      `select status, error_code, cost_micro::int as cost_micro from request_row where request_id = $1`,
      [request_id],
    );
    return rows[0]?.status === 'ok' ? rows[0] : null;
  });
  expect(row).toEqual({ status: 'ok', error_code: '', cost_micro: cost });
  // The row may come before the settle, which waits in the journal until the ledger's own connections are back.
  await eventually('the settle is booked', async () => {
    const { rows } = await leader.db.query('select 1 from ledger.entry where book_id = $1 and amount < 0', [
      org.live_book_id,
    ]);
    return rows.length > 0;
  });
  const ended = await leader.ended(org, request_id);
  expect(ended).toMatchObject({ charged: cost, attempts: ['ok'] });
}, 90_000);

/**
 * A call under `key` at the gateway that is cut off, whose hold is swept. It ends when `finish` is called; one at the other gateway
 * ends at once.
 */
async function sweptCall(key: string) {
  const org = await world.org();
  const { id, upstream } = world.model('script');
  let finish: () => void = () => {};
  for (const { script } of [world, leader]) {
    script.on(upstream, 'a', (response) => {
      streamHead(response);
      response.write(textChunk(upstream, 'a heron'));
      const end = () => response.end(endChunks(upstream, usageOf(100, 10)));
      if (script === leader.script) end();
      else finish = end;
    });
  }
  const ask = (gateway: World) =>
    gateway.chat(org.live_key, bodyOf(id, 'Hi', { stream: true }), { headers: { 'idempotency-key': key } });
  const first = ask(world);
  await first.until((text) => text.includes('heron'));
  proxy.freeze();
  await eventually('the hold is swept', async () => {
    const { rows } = await leader.db.query('select 1 from ledger.hold where book_id = $1', [
      org.live_book_id,
    ]);
    return rows.length === 0;
  });
  return { org, ask, first, finish: () => finish() };
}

test('a call that ends before the retry of its Idempotency-Key comes is charged, and the retry gets its answer', async () => {
  const { org, ask, first, finish } = await sweptCall('kept');
  proxy.thaw();
  await untilReady(`${world.gateway.base_url}/readyz`, () => null);
  finish();
  const reply = await first.reply;
  const cost = svcOf(reply)?.['cost'].total_micro_usd;
  expect(cost).toBeGreaterThan(0);
  await eventually("the row of the end, in place of the sweeper's", async () => {
    const { rows } = await leader.db.query('select status from request_row where request_id = $1', [
      idOf(reply),
    ]);
    return rows[0]?.status === 'ok';
  });
  expect((await leader.ended(org, idOf(reply))).charged).toBe(cost);
  const retry = await ask(leader).reply;
  expect([idOf(retry), retry.headers['x-svc-idempotent-replay']]).toEqual([idOf(reply), 'true']);
  const { rows } = await leader.db.query('select 1 from ledger.entry where book_id = $1 and amount < 0', [
    org.live_book_id,
  ]);
  expect(rows).toHaveLength(1);
}, 90_000);

test('a call whose Idempotency-Key was given to its retry meanwhile is not charged beside it, and does not answer', async () => {
  const { org, ask, first, finish } = await sweptCall('once');
  const retry = await ask(leader).reply;
  expect(svcOf(retry)?.['cost'].total_micro_usd).toBeGreaterThan(0);
  proxy.thaw();
  await untilReady(`${world.gateway.base_url}/readyz`, () => null);
  finish();
  const reply = await first.reply;
  expect(errorOf(reply)).toMatchObject({ code: 'idempotency_in_progress' });
  expect(idOf(reply)).not.toBe(idOf(retry));
  expect(svcOf(reply)?.['cost']).toMatchObject({ total_micro_usd: 0, lines: [] });
  expect((await leader.ended(org, idOf(reply))).charged).toBe(0);
  const again = await ask(leader).reply;
  expect([idOf(again), again.headers['x-svc-idempotent-replay']]).toEqual([idOf(retry), 'true']);
}, 90_000);
