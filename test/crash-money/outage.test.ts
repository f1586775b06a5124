// Everything of ours away for thirty hours, in which payers go on paying and the rails give our address up.
import { advanceClock } from '@svc/core/runtime/index.ts';
import { readSilences } from '@svc/core/topups/index.ts';
import { expect, test } from 'vitest';
import { drawFrom } from '../crash/draw.ts';
import { atFileEnd } from '../support/ends.ts';
import { until } from '../support/programs/until.ts';
import { nothingPromised } from './customer.ts';
import { judge } from './oracle.ts';
import { REST_MS } from './run.ts';
import { StaffActs } from './staff.ts';
import { waiting } from './waiting.ts';
import { type Customer, openWorld, type World } from './world.ts';

const HOUR_MS = 3_600_000;

async function post(world: World, { key }: Customer, path: string, body: object) {
  const reply = await fetch(`${world.origin(0)}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await reply.json()) as Record<string, unknown>;
}

/** Starts a top-up; its id at the rail. */
async function start(world: World, customer: Customer): Promise<{ id: string; ref: string }> {
  const amount_minor = customer.rail === 'rail-a' ? 100_000 : 2_500;
  const { topup } = await post(world, customer, '/v1/credits/topups', { amount_minor });
  const { id, gateway_ref } = topup as { id: string; gateway_ref: string };
  return { id, ref: gateway_ref };
}

function pay({ sim_a, sim_b }: World, { rail }: Customer, ref: string): void {
  if (rail === 'rail-a') sim_a.act(ref, 'upi');
  else sim_b.act(ref, 'pay');
}

async function untilRest(world: World): Promise<void> {
  let left: readonly string[] = [];
  const look = async () => {
    const { days, moments } = await waiting(world);
    left = [...days, ...moments];
    return left.length === 0;
  };
  await until('rest', look, REST_MS).catch(() => {});
  expect(left).toEqual([]);
}

test('every payment made while nothing of ours ran is booked by one poll, and a refund that the rail took is not sent again', {
  timeout: 500_000,
}, async () => {
  const world = await openWorld(6);
  atFileEnd(() => world.close());
  const { sim_a, sim_b, customers } = world;
  const [first, ...others] = customers as [Customer, ...Customer[]];
  const before = await start(world, first);
  pay(world, first, before.ref);
  const statuses = async () =>
    (await world.rows<{ status: string }>('select status from topup order by id')).map(
      ({ status }) => status,
    );
  await until('the first is booked', async () => (await statuses()).join() === 'paid');

  const started = await Promise.all(others.map((customer) => start(world, customer)));
  for (const sim of [sim_a, sim_b]) sim.turn({ webhooks: { drop: ['*'] } });
  sim_a.turn({ api: [{ match: 'POST /v1/payments', mode: 'late_answer', delay_ms: 60_000 }] });
  void post(world, first, `/v1/credits/topups/${before.id}/refund`, { amount_minor: 20_000 }).catch(() => {});
  await until('the rail has taken the refund', () => sim_a.store.refunds.size === 1, 60_000);
  await world.kill('worker');

  // The first hour: nobody polls, and the silence is measured.
  await world.withPool((pool) => advanceClock(pool, HOUR_MS));
  const silent = await world.withPool((pool) => readSilences(pool, new Date(Date.now() + HOUR_MS)));
  expect(silent['rail-a']).toBeGreaterThan(3_500);
  expect(silent['rail-b']).toBeGreaterThan(3_500);

  await Promise.all([world.kill('postgres'), world.kill('gateway 0'), world.kill('gateway 1')]);
  for (const [i, customer] of others.entries()) pay(world, customer, started[i]!.ref);
  const calls_before = [...sim_a.calls, ...sim_b.calls].length;
  await world.start('postgres');
  await world.withPool((pool) => advanceClock(pool, 29 * HOUR_MS));
  await Promise.all([world.start('worker'), world.start('gateway 0'), world.start('gateway 1')]);
  await untilRest(world);

  expect(await statuses()).toEqual(customers.map(() => 'paid'));
  expect(sim_a.store.refunds.size).toBe(1);
  expect(sim_a.calls.filter((call) => /^POST .*refund$/.test(call))).toHaveLength(1);
  // One question for each payment, and those about fees and the refund: nothing was asked in vain for long.
  expect([...sim_a.calls, ...sim_b.calls].length - calls_before).toBeLessThan(customers.length * 5);
  expect(await judge(world, nothingPromised(), new StaffActs(world, drawFrom(1)))).toEqual([]);
});
