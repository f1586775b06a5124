// The steps that follow a top-up, each compared whole: progress, polls, the end of its time, work at the rail.
import { type Id, type Log, newId, newRequestId, silentLog } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import {
  addRailTask,
  applyCharge,
  cancelTopup,
  expireTopup,
  listStaffItems,
  pollTopup,
  type Rail,
  RailError,
  readProgress,
  receiptMail,
  runRailTasks,
  type Topup,
} from '@svc/core/topups/index.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { atTime, events, startWorld } from './world.ts';

const world = await startWorld();
const { context, read, rows } = world;
let serial = 0;
const fresh = async () => world.topup(await world.org(`step-${++serial}`));
const paid = async () => {
  const topup = await fresh();
  await world.deliver(events.completed(topup));
  return read(topup.id);
};
const captured = (topup: Topup) => ({
  ...({ kind: 'captured', payment_ref: `pi_${topup.id}`, method: 'card' } as const),
  ...{ amount_minor: topup.total_minor, currency: topup.currency },
});
const failed = { kind: 'failed', last: false, code: 'card_declined', message: 'No money.' } as const;

/** A context whose rail-b does some things in another way, and the faults that were logged in it. */
function withRail(change: Partial<Rail> | null) {
  const faults: unknown[] = [];
  const log: Log = { ...silentLog, error: (fields) => void faults.push(fields) };
  const { money_in } = context.services;
  const rail = change === null ? null : { ...world.rail, ...change };
  const services = {
    ...context.services,
    money_in: { ...money_in, rails: { 'rail-a': null, 'rail-b': rail } },
  };
  const parts = { request_id: newRequestId(), caller: { kind: 'public' }, pool: world.pool, log, services };
  return { by: createContext(parts as Parameters<typeof createContext>[0]), faults };
}

/** Polls a top-up of which the rail says this; whether it was asked. */
async function poll(topup_id: Id<'topup'>, says: Awaited<ReturnType<Rail['readCheckout']>>, at?: Date) {
  let asked = 0;
  const { by } = withRail({
    readCheckout: async () => {
      asked++;
      return says;
    },
  });
  const progress = await pollTopup(at === undefined ? by : atTime(by, at), { topup_id });
  return { progress, asked };
}

describe('progress', () => {
  test('is that of a pending top-up, and then that of a paid one', async () => {
    const topup = await fresh();
    const progress = {
      ...{ topup_id: topup.id, status: 'pending', paid_at_ms: null, fee_known: false },
      ...{ created_at_ms: topup.created_at.getTime(), expires_at_ms: topup.expires_at.getTime() },
    };
    expect(await readProgress(context, { topup_id: topup.id })).toEqual(progress);
    const says = { facts: [captured(topup)], fees: { [`pi_${topup.id}`]: 103 } };
    const done = await poll(topup.id, says);
    const { paid_at } = await read(topup.id);
    expect(done).toEqual({
      progress: { ...progress, status: 'paid', paid_at_ms: paid_at?.getTime(), fee_known: true },
      asked: 1,
    });
  });

  test('of a top-up that nobody knows is none, whatever is asked for', async () => {
    const args = { topup_id: newId('topup') };
    for (const step of [readProgress, pollTopup, expireTopup, receiptMail])
      await expect(step(context, args)).rejects.toMatchObject({ code: 'not_found' });
    const charge = { gateway_ref: null, facts: [] };
    await expect(applyCharge(context, args.topup_id, charge)).rejects.toMatchObject({ code: 'not_found' });
    const reported = { gateway_ref: null, facts: [failed] };
    await expect(applyCharge(context, args.topup_id, reported)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a poll', () => {
  const NOTHING = { facts: [], fees: {} };

  test('asks nothing where there is nothing to learn: no order, no rail, in review, paid with its fee', async () => {
    const unnamed = await fresh();
    await rows('update topup set gateway_ref = null where id = $1', [unnamed.id]);
    const review = await fresh();
    await rows(`update topup set status = 'review', payment_ref = $1 where id = $1`, [review.id]);
    const known = await paid();
    await rows('update topup set fee_minor = 103 where id = $1', [known.id]);
    for (const { id } of [unnamed, review, known]) expect((await poll(id, NOTHING)).asked).toBe(0);
    const { by } = withRail(null);
    const pending = await fresh();
    expect(await pollTopup(by, { topup_id: pending.id })).toMatchObject({ status: 'pending' });
  });

  test('asks for the fee of what is paid, and of what failed or is over whether it was paid after all', async () => {
    const of_fee = await paid();
    const { fee_minor } = of_fee;
    expect(fee_minor).toBeNull();
    const says = { facts: [], fees: { [`pi_${of_fee.id}`]: 103, pi_other: 7 } };
    expect(await poll(of_fee.id, says)).toMatchObject({ asked: 1, progress: { fee_known: true } });
    expect((await read(of_fee.id)).fee_minor).toBe(103);
    const over = await fresh();
    await cancelTopup(context, { org_id: over.org_id, id: over.id });
    expect(await poll(over.id, NOTHING)).toMatchObject({ asked: 1, progress: { status: 'expired' } });
  });

  test('takes the facts in their order, and leaves a fee that is not of the booked payment', async () => {
    const topup = await fresh();
    const says = { facts: [failed, captured(topup)], fees: { pi_other: 7 } };
    expect((await poll(topup.id, says)).progress).toMatchObject({ status: 'paid', fee_known: false });
    expect(await read(topup.id)).toMatchObject({ failure_code: null, fee_minor: null });
  });

  test('that finds a payment of another amount leaves its fee for when it is decided', async () => {
    const topup = await fresh();
    const fact = { ...captured(topup), amount_minor: 1 };
    const says = { facts: [fact], fees: { [fact.payment_ref]: 7 } };
    expect((await poll(topup.id, says)).progress).toMatchObject({ status: 'review', fee_known: false });
  });

  test('without a fee learns none', async () => {
    const topup = await fresh();
    const says = { facts: [captured(topup)], fees: {} };
    expect((await poll(topup.id, says)).progress).toMatchObject({ status: 'paid', fee_known: false });
    expect((await poll(topup.id, { facts: [], fees: {} })).progress).toMatchObject({ fee_known: false });
  });
});

describe('a rail that is silent', () => {
  const silent = async () => (await listStaffItems(world.pool)).filter(({ kind }) => kind === 'rail_silent');
  beforeEach(() => rows(`delete from staff_item where kind = 'rail_silent' returning staff_item_id`));
  const after = ({ created_at }: Topup, ms: number) => new Date(created_at.getTime() + ms);

  test('for an hour is put before the staff when a poll finds what no event told', async () => {
    const [early, late] = [await fresh(), await fresh()];
    await poll(early.id, { facts: [captured(early)], fees: {} }, after(early, 3_599_999));
    expect(await silent()).toEqual([]);
    await poll(late.id, { facts: [captured(late)], fees: {} }, after(late, 3_600_000));
    const details = { silent_seconds: 3_600, topup_id: late.id };
    expect(await silent()).toMatchObject([
      { subject: 'rail-b', details, created_at: after(late, 3_600_000) },
    ]);
    expect((await silent())[0]?.details).toEqual(details);
  });

  test('says nothing by a poll that books nothing', async () => {
    const [pending, done] = [await fresh(), await fresh()];
    await world.deliver(events.completed(done));
    await poll(pending.id, { facts: [failed], fees: {} }, after(pending, 2 * 3_600_000));
    await poll(done.id, { facts: [captured(done)], fees: {} }, after(done, 2 * 3_600_000));
    expect(await silent()).toEqual([]);
  });
});

describe('the end of its time', () => {
  test('comes at the very millisecond', async () => {
    const topup = await fresh();
    const expire = (ms: number) =>
      expireTopup(atTime(context, new Date(topup.expires_at.getTime() + ms)), { topup_id: topup.id });
    expect((await expire(-1)).status).toBe('pending');
    expect((await expire(0)).status).toBe('expired');
    expect(await rows('select kind, ref from rail_task where topup_id = $1', [topup.id])).toEqual([
      { kind: 'close_order', ref: topup.gateway_ref },
    ]);
  });

  test('changes nothing of what is paid', async () => {
    const topup = await paid();
    const late = atTime(context, new Date(topup.expires_at.getTime() + 1));
    expect(await expireTopup(late, { topup_id: topup.id })).toMatchObject({ status: 'paid' });
    expect(await rows('select 1 from rail_task where topup_id = $1', [topup.id])).toEqual([]);
  });
});

describe('a debit that was answered', () => {
  test('is booked under the name that the rail gave it, fact by fact', async () => {
    const topup = await fresh();
    await rows('update topup set gateway_ref = null, checkout_url = null where id = $1', [topup.id]);
    const charge = { gateway_ref: `pi_debit_${topup.id}`, facts: [failed, captured(topup)] };
    const after = await applyCharge(context, topup.id, charge);
    expect(after).toEqual(await read(topup.id));
    expect(after).toMatchObject({ status: 'paid', gateway_ref: charge.gateway_ref, checkout_url: null });
  });

  test('without a name or a fact leaves the top-up as it is', async () => {
    const topup = await fresh();
    await rows('update topup set gateway_ref = null where id = $1', [topup.id]);
    const before = await read(topup.id);
    expect(await applyCharge(context, topup.id, { gateway_ref: null, facts: [] })).toEqual(before);
  });
});

describe('a receipt', () => {
  test('of a paid top-up whose document is gone is a defect', async () => {
    const topup = await paid();
    await rows('update topup set org_id = $2 where id = $1', [
      topup.id,
      (await world.org(`step-${++serial}`)).id,
    ]);
    const mailed = receiptMail(context, { topup_id: topup.id });
    await expect(mailed).rejects.toThrow(`${topup.id} is paid and has no document`);
    await rows('update topup set org_id = $2 where id = $1', [topup.id, topup.org_id]);
  });
});

describe('work at a rail', () => {
  const T0 = new Date('2026-11-21T10:00:00.000Z');
  const at = (seconds: number) => new Date(T0.getTime() + seconds * 1_000);
  beforeEach(() => rows('delete from rail_task returning rail_task_id'));
  const add = (ref: string, kind: 'refund_payment' | 'close_order' = 'close_order') =>
    addRailTask(world.pool, { rail: 'rail-b', kind, ref, topup_id: null, at: T0 });
  const taskOf = async (ref: string) =>
    (
      await rows<{ attempts: number; last_error: string | null; next_at: Date; done_at: Date | null }>(
        'select attempts, last_error, next_at, done_at from rail_task where ref = $1',
        [ref],
      )
    )[0];
  const away = new RailError('Away.', { declined: false });
  const refusing = () => withRail({ closeCheckout: () => Promise.reject(away) });

  test('closes orders and gives payments back', async () => {
    await add('cs_1');
    await add('pi_1', 'refund_payment');
    const done: string[] = [];
    const { by } = withRail({
      closeCheckout: async (ref) => void done.push(`close ${ref}`),
      refundPayment: async (ref) => void done.push(`refund ${ref}`),
    });
    expect(await runRailTasks(atTime(by, at(5)))).toBe(2);
    expect(done.sort()).toEqual(['close cs_1', 'refund pi_1']);
    expect(await taskOf('cs_1')).toMatchObject({ attempts: 1, last_error: null, done_at: at(5) });
  });

  test('that the rail refuses is put off, twice as long each time up to an hour, and no defect is logged', async () => {
    await add('cs_1');
    const { by, faults } = refusing();
    let now = 0;
    const waited: number[] = [];
    for (let turn = 0; turn < 13; turn++) {
      expect(await runRailTasks(atTime(by, at(now)))).toBe(0);
      const { next_at = T0 } = (await taskOf('cs_1')) ?? {};
      const next = (next_at.getTime() - T0.getTime()) / 1_000;
      waited.push(next - now);
      now = next;
    }
    expect(waited).toEqual([4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 3_600, 3_600, 3_600]);
    expect(await taskOf('cs_1')).toMatchObject({ attempts: 13, last_error: 'Away.', done_at: null });
    expect(faults).toEqual([]);
  });

  test('of a rail that is not configured any more is put off', async () => {
    await add('cs_1');
    expect(await runRailTasks(atTime(withRail(null).by, T0))).toBe(0);
    expect(await taskOf('cs_1')).toMatchObject({ last_error: 'rail-b is not configured' });
  });

  test('that meets a defect is put off, and the log has it', async () => {
    await add('cs_1');
    const error = new TypeError('an answer of a form that nobody foresaw');
    const { by, faults } = withRail({ closeCheckout: () => Promise.reject(error) });
    expect(await runRailTasks(atTime(by, T0))).toBe(0);
    expect(faults).toEqual([{ error, rail_task_id: expect.any(Number) }]);
    expect(await taskOf('cs_1')).toMatchObject({ last_error: error.message, done_at: null });
  });

  test('stops where the database is away or what was thrown is no error, and is somebody’s again in two minutes', async () => {
    const gone = Object.assign(new Error('gone'), { code: '57P01' });
    for (const [ref, thrown] of [
      ['cs_1', gone],
      ['cs_2', 'a text'],
    ] as const) {
      await rows('delete from rail_task returning rail_task_id');
      await add(ref);
      const { by } = withRail({ closeCheckout: () => Promise.reject(thrown) });
      await expect(runRailTasks(atTime(by, T0))).rejects.toBe(thrown);
      expect(await taskOf(ref)).toMatchObject({ attempts: 1, next_at: at(120), done_at: null });
    }
  });

  test('is done twenty at a time, unless fewer are asked for', async () => {
    for (let i = 0; i < 23; i++) await add(`cs_${i}`);
    const { by } = withRail({ closeCheckout: async () => {} });
    const run = (limit?: number) => runRailTasks(atTime(by, at(1)), limit);
    expect([await run(2), await run(), await run()]).toEqual([2, 20, 1]);
  });
});
