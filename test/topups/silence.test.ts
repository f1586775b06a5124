// A rail that reports nothing: how long is measured while a payment is waited for, and who is told when a poll books one.
import { shiftClock } from '@svc/core/kernel/index.ts';
import { listStaffItems, pollTopup, readSilences } from '@svc/core/topups/index.ts';
import { afterEach, expect, test } from 'vitest';
import { eventsA, startWorld } from './world.ts';

const world = await startWorld();
const { rows } = world;
afterEach(() => world.expectRight());
const HOUR = 3_600;
const silences = (hours: number) => readSilences(world.pool, new Date(Date.now() + hours * HOUR * 1_000));
const items = async () => (await listStaffItems(world.pool)).filter(({ kind }) => kind === 'rail_silent');

test('a rail is silent only while a top-up of it waits, from then or from its last event on', async () => {
  expect(await silences(100)).toEqual({ 'rail-a': 0, 'rail-b': 0 });
  const first = await world.topup(await world.indian('silent-1'));
  expect((await silences(0))['rail-a']).toBeLessThan(60);
  const after_two = await silences(2);
  expect(after_two['rail-a']).toBeGreaterThanOrEqual(2 * HOUR - 60);
  expect(after_two['rail-b']).toBe(0);
  const second = await world.topup(await world.indian('silent-2'));
  await rows(`update topup set created_at = created_at - interval '5 hours' where id = any ($1)`, [
    [first.id, second.id],
  ]);
  expect((await silences(0))['rail-a']).toBeGreaterThanOrEqual(5 * HOUR - 60);
  await world.deliverA(eventsA.captured(first));
  expect((await silences(0))['rail-a']).toBeLessThan(60);
  await world.deliverA(eventsA.captured(second));
  expect((await silences(9))['rail-a']).toBe(0);
});

test('an address that the rail has switched off: polls book every payment, and the staff are told once', async () => {
  const topups = [];
  for (let i = 0; i < 3; i++) topups.push(await world.topup(await world.indian(`off-${i}`)));
  for (const topup of topups) world.sim_a.act(topup.gateway_ref as string, 'upi');
  shiftClock(0.5 * HOUR * 1_000);
  expect(await pollTopup(world.context, { topup_id: topups[0]!.id })).toMatchObject({ status: 'paid' });
  expect(await items()).toEqual([]);
  shiftClock(30 * HOUR * 1_000);
  for (const topup of topups.slice(1)) {
    expect(await pollTopup(world.context, { topup_id: topup.id })).toMatchObject({ status: 'paid' });
  }
  expect(await items()).toMatchObject([{ subject: 'rail-a' }]);
  shiftClock(0);
});
