// kill -9 of a gateway while a copy for a shadow is under way. Bound: a lease of two seconds, and the sweeper's round.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { refuse, wholeAnswer } from '../calls/upstream.ts';
import { eventually, expectBooksInOrder, openWorld, priceOf, type World } from '../calls/world.ts';
import { call, copiesGet, copyOf, shadowed } from '../policies/shadow-calls.ts';
import { readBook } from '../support/books.ts';

/** Time for lease and sweep after a process is back. How long a process takes to start depends on the machine. */
const HEALED_MS = 25_000;
let world: World;

beforeAll(async () => {
  world = await openWorld({
    models: { 'script-pair': 3 },
    gateway: 'alone',
    env: { SVC_LEDGER_LEASE_SECONDS: '2' },
  });
});
afterAll(() => world.close());

test('what the copy held comes back, its call stays charged once, and copies go on', async () => {
  const scene = await shadowed(world);
  const { org, upstream } = scene;
  let asked = false;
  copiesGet(world, scene, () => {
    asked = true;
  });
  const id = await call(world, scene);
  await eventually('the copy is under way', () => asked);
  await eventually('the row of its call is written', async () => {
    const { rowCount } = await world.db.query('select 1 from request_row where request_id = $1', [id]);
    return rowCount === 1;
  });
  expect((await readBook(world.database_url, org.live_book_id)).held).toBeGreaterThan(0);
  await world.gateway.kill();
  await world.restart();
  await eventually(
    'nothing is held any more',
    async () => (await readBook(world.database_url, org.live_book_id)).held === 0,
    HEALED_MS,
  );
  expect((await world.ended(org, id)).charged).toBe(priceOf(10, 3));
  copiesGet(world, scene, refuse(200, wholeAnswer(upstream)));
  const copy = await copyOf(world, await call(world, scene));
  expect((await world.ended(org, copy.request_id)).charged).toBe(priceOf(10, 3));
  await expectBooksInOrder(world, org);
});

test('a gateway that is told to stop does not wait for a copy that hangs', async () => {
  const scene = await shadowed(world);
  let asked = false;
  copiesGet(world, scene, () => {
    asked = true;
  });
  await call(world, scene);
  await eventually('the copy is under way', () => asked);
  const began = performance.now();
  expect(await world.gateway.stop()).toBe(0);
  // It would wait for a call for 30 seconds.
  expect(performance.now() - began).toBeLessThan(15_000);
  await world.restart();
  await expectBooksInOrder(world, scene.org);
});
