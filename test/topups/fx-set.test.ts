// Exchange rates that staff set: what is taken, what is refused and why, and what the audit log has.

import { proposeRatesOperation } from '@svc/core/desk/index.ts';
import { createStaff } from '@svc/core/identity/index.ts';
import { type Context, type Id, newRequestId, silentLog } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import {
  listStaffItems,
  openFx,
  planRates,
  putStaffItem,
  readRates,
  setRates,
} from '@svc/core/topups/index.ts';
import { describe, expect, test } from 'vitest';
import { countWaiting, holding } from './holding.ts';
import { atTime, startWorld } from './world.ts';

const world = await startWorld();
const { rows } = world;
const NOW = new Date('2026-11-25T10:00:00.000Z');
const money_in = { ...world.context.services.money_in, fx: openFx('https://rates.test/daily') };
const { id: staff_id } = await createStaff(world.context, Buffer.alloc(32, 7), {
  ...{ email: 'asks@svc.example', roles: ['finance'] },
});
const context: Context = atTime(
  createContext({
    ...{ request_id: newRequestId(), pool: world.pool, log: silentLog },
    services: { ...world.context.services, money_in } as Context['services'],
    caller: { kind: 'staff', name: 'asks', staff_id, roles: ['finance'] },
  }),
  NOW,
);

const E8 = 100_000_000;
const table = {
  ...{ USD: E8, INR: 88 * E8, EUR: 0.86 * E8, GBP: 0.76 * E8, JPY: 155 * E8, SGD: 1.3 * E8 },
  ...{ AUD: 1.5 * E8, CAD: 1.4 * E8, AED: 367_250_000 },
};
const keep = (day: string, state: 'in_force' | 'waiting', rates: object = table) =>
  rows(`insert into fx_day (source, fx_day, rates, state, fetched_at) values ('json', $1, $2, $3, $4)`, [
    ...[day, JSON.stringify(rates), state, NOW],
  ]);
const clear = () => rows('delete from fx_day');
const plan = (day: string, ...rates: { currency: 'INR' | 'EUR' | 'JPY'; rate: string }[]) =>
  planRates(context, { day, rates });
const inr = (rate: string) => ({ currency: 'INR', rate }) as const;
const refusal = (param: string, words: string) => ({
  ...{ code: 'invalid_request', param, message: expect.stringContaining(words) },
});

test('rates of the release do not age, those of a source do', async () => {
  await clear();
  await keep('2026-11-20', 'in_force');
  const years_later = new Date('2031-01-01T00:00:00.000Z');
  expect(await readRates(world.pool, openFx('static'), years_later)).toMatchObject({ stale: false });
  expect(await readRates(world.pool, money_in.fx, years_later)).toMatchObject({ stale: true });
});

describe('rates of a day', () => {
  test('go over those in force, and the other currencies stay', async () => {
    await clear();
    await keep('2026-11-20', 'in_force');
    expect(await plan('2026-11-25', inr('90.5'), { currency: 'JPY', rate: '150' })).toEqual({
      day: { fx_day: '2026-11-25', rates: { ...table, INR: 90.5 * E8, JPY: 150 * E8 } },
      before: { fx_day: '2026-11-20', rates: table },
    });
  });

  test('go over those of a day that waits for a person', async () => {
    await clear();
    await keep('2026-11-20', 'in_force');
    await keep('2026-11-24', 'waiting', { ...table, INR: 99 * E8, EUR: 0.9 * E8 });
    const { day, before } = await plan('2026-11-24', inr('90'));
    expect(day.rates).toEqual({ ...table, INR: 90 * E8, EUR: 0.9 * E8 });
    expect(before.rates).toEqual(table);
  });

  test('are between half and twice those of before', async () => {
    await clear();
    await keep('2026-11-20', 'in_force');
    for (const rate of ['44', '176', '44.00000000'])
      expect((await plan('2026-11-25', inr(rate))).day.rates.INR).toBe(Number(rate) * E8);
    const eur = { currency: 'EUR', rate: '0.87' } as const;
    for (const rate of ['43.99999999', '176.00000001', '1'])
      await expect(plan('2026-11-25', eur, inr(rate))).rejects.toMatchObject(
        refusal('rates[1].rate', 'twice 88.00000000'),
      );
    for (const rate of ['0', '0.00000000'])
      await expect(plan('2026-11-25', inr(rate))).rejects.toMatchObject(refusal('rates[0].rate', 'above 0'));
    await expect(plan('2026-11-25', inr('90'), inr('91'))).rejects.toMatchObject(
      refusal('rates[1].currency', 'twice'),
    );
  });

  test('are of a day that there is, not yet to come, and newer than the one in force', async () => {
    await clear();
    await keep('2026-11-20', 'in_force');
    for (const day of ['nonsense', '2026-02-30', '2026-11-25T00:00:00Z'])
      await expect(plan(day, inr('90'))).rejects.toMatchObject(refusal('day', 'Expected a day'));
    await expect(plan('2026-11-26', inr('90'))).rejects.toMatchObject(
      refusal('day', 'yet to come; today is 2026-11-25, in UTC'),
    );
    for (const day of ['2026-11-20', '2026-11-19'])
      await expect(plan(day, inr('90'))).rejects.toMatchObject(refusal('day', 'in force'));
    expect((await plan('2026-11-21', inr('90'))).day.fx_day).toBe('2026-11-21');
    await clear();
    // Before the first there is none to be newer than.
    expect((await plan('2026-11-01', inr('90'))).before.fx_day).toBeNull();
  });
});

describe('setting', () => {
  /** What a second person has confirmed. */
  async function approved(day: string) {
    const asked = { day, rates: [inr('90')] };
    const proposed = { ...asked, source: 'the bank', reason: 'the source is away' };
    const { approval_id } = (await proposeRatesOperation.run(context, proposed)) as {
      approval_id: Id<'approval'>;
    };
    return { asked, approval: { id: approval_id, reason: 'the source is away' } };
  }
  const waits = { kind: 'fx_jump', subject: 'json 2026-11-24', details: {}, at: NOW };
  const items = async () => (await listStaffItems(world.pool)).filter(({ kind }) => kind === 'fx_jump');
  const dayOf = async (day: string) =>
    (await rows('select rates, state, approval_id from fx_day where fx_day = $1', [day]))[0];

  test('puts the day in force, decides what waited, and is in the audit log with the rates before and after', async () => {
    await clear();
    await keep('2026-11-20', 'in_force');
    await keep('2026-11-24', 'waiting', { ...table, INR: 99 * E8 });
    await putStaffItem(world.pool, waits);
    const { asked, approval } = await approved('2026-11-24');
    await setRates(context, asked, approval);
    expect(await dayOf('2026-11-24')).toEqual({
      ...{ rates: { ...table, INR: 90 * E8 }, state: 'in_force', approval_id: approval.id },
    });
    expect(await items()).toEqual([]);
    const audit = await rows(
      `select action, org_id, target_type, target_id, target_display, before, after, reason from audit_entry
        where action = 'staff.fx.set'`,
    );
    expect(audit).toEqual([
      {
        ...{ action: 'staff.fx.set', org_id: '', target_type: 'fx_day', target_id: '2026-11-24' },
        ...{ target_display: 'json 2026-11-24', before: { day: '2026-11-20', INR: '88.00000000' } },
        ...{ after: { INR: '90.00000000' }, reason: 'the source is away' },
      },
    ]);
  });

  test('is refused where another day is in force by now', async () => {
    await clear();
    await keep('2026-11-20', 'in_force');
    const { asked, approval } = await approved('2026-11-24');
    await keep('2026-11-25', 'in_force');
    const set = setRates(context, asked, approval);
    await expect(set).rejects.toMatchObject({ code: 'state_conflict', param: 'day' });
    expect(await dayOf('2026-11-24')).toBeUndefined();
  });

  test('is refused with the field where a rate is not near that of before any more', async () => {
    await clear();
    await keep('2026-11-20', 'in_force');
    const { asked, approval } = await approved('2026-11-24');
    await keep('2026-11-21', 'in_force', { ...table, INR: 200 * E8 });
    const set = setRates(context, asked, approval);
    await expect(set).rejects.toMatchObject({ code: 'state_conflict', param: 'rates[0].rate' });
  });

  test('is refused where the day itself comes in between, which stays as it came', async () => {
    await clear();
    await keep('2026-11-20', 'in_force');
    await keep('2026-11-24', 'waiting', { ...table, INR: 99 * E8 });
    const { asked, approval } = await approved('2026-11-24');
    const comes = `update fx_day set state = 'in_force' where fx_day = $1::text::date`;
    const sent = await holding(
      world.url,
      '2026-11-24',
      async () => {
        const setting = setRates(context, asked, approval);
        const refused = expect(setting).rejects.toMatchObject({ code: 'state_conflict', param: 'day' });
        await expect.poll(() => countWaiting(world.url)).toBe(1);
        return [refused];
      },
      comes,
    );
    await sent[0];
    expect(await dayOf('2026-11-24')).toMatchObject({ rates: { INR: 99 * E8 }, approval_id: null });
  });

  test('passes on what is no refusal', async () => {
    const broken: Context = Object.create(context, { services: { value: { money_in: { fx: null } } } });
    const set = setRates(broken, { day: '2026-11-24', rates: [] }, { id: 'apr_x', reason: '' });
    await expect(set).rejects.toBeInstanceOf(TypeError);
  });
});
