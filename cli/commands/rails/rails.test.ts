// `svcctl rails` as finance uses it: a day is asked for, a program of the installation compares it, and what was found is
// shown.
import { compareRails } from '@svc/core/settlements/index.ts';
import { expect, test } from 'vitest';
import { runSvcctl } from '../../../test/support/programs/svcctl.ts';
import { startWorld } from '../../../test/topups/world.ts';

const world = await startWorld();
const svcctl = (...args: string[]) => runSvcctl(['rails', ...args], { SVC_DATABASE_URL: world.url });
const day = new Date().toISOString().slice(0, 10);
const asked = () => world.rows('select 1 from rail_comparison where asked_at is not null');

test('a day is compared on request, what differs ends with 1, and the days that were looked at are listed', async () => {
  expect(await svcctl('list')).toMatchObject({
    code: 0,
    out: expect.stringContaining('no day was compared'),
  });
  const lost = await world.topup(await world.indian('lost'));
  world.sim_a.act(lost.gateway_ref as string, 'upi');
  const running = svcctl('compare', '--rail', 'rail-a', '--day', day);
  await expect.poll(asked, { timeout: 30_000 }).toHaveLength(1);
  expect(await compareRails(world.context)).toBe(1);
  const shown = await running;
  expect(shown.code).toBe(0);
  expect(shown.out).toContain(
    `${day}  rail-a  1 payments, 0 refunds, 0 disputes, 0 lines, 0 payouts; 1 found`,
  );
  expect(shown.out).toContain('booked  payment_booked  rail-a pay_');
  expect((await world.read(lost.id)).status).toBe('paid');
  world.sim_a.turn({ settlement: { amount_delta: -1 } });
  world.sim_a.settlements.settle();
  await world.rows('update rail_comparison set asked_at = now()');
  await compareRails(world.context);
  const list = await svcctl('list', '--rail', 'rail-a', '--json');
  expect(list.code).toBe(1);
  const { comparisons } = JSON.parse(list.out);
  expect(comparisons[0].findings.map(({ kind }: { kind: string }) => kind)).toEqual([
    'payment_booked',
    'settlement_differs',
  ]);
  expect(await svcctl('compare', '--rail', 'rail-a', '--day', '2026-02-30')).toMatchObject({ code: 2 });
});
