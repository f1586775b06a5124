// What becomes of money when an organization is closed: calls under way, refunds, payments that come late, given credit.
import { closeOrg, endAccess, endCredit, findClosing, reportClosing } from '@svc/core/closing/index.ts';
import { microUsd, newRequestId, shiftClock } from '@svc/core/kernel/index.ts';
import { credit, readBalance, setBudget } from '@svc/core/ledger/index.ts';
import {
  holdOf,
  journalDirectory,
  openTestLedger,
  PATIENT,
  settleOf,
} from '@svc/core/ledger/testing/testing.ts';
import { createMandate, findMandate, pollMandate } from '@svc/core/mandates/index.ts';
import { changeTerms, type Org } from '@svc/core/orgs/index.ts';
import { pollRefund, sendRefund } from '@svc/core/refunds/index.ts';
import { listStaffItems } from '@svc/core/topups/index.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startWorld } from '../refunds/world.ts';
import { atFileEnd } from '../support/ends.ts';
import { events } from '../topups/world.ts';

const world = await startWorld();
const { context, paid, pool, rows, sim } = world;
const { dir, remove } = journalDirectory();
const ledger = await openTestLedger(world.url, dir, PATIENT);
atFileEnd(async () => {
  await ledger.close();
  remove();
});
const DAY_MS = 86_400_000;
/** Once every gateway knows of a closing. */
const SETTLED_MS = 6_000;
let shift_ms = 0;
const pass = (ms: number) => {
  shift_ms += ms;
  shiftClock(shift_ms);
};
let serial = 0;
const newOrg = () => world.org(`closed-${++serial}`);
const balance = ({ live_book_id }: Org) => readBalance(pool, live_book_id);
const look = ({ id: org_id }: Org) => endCredit(context, { org_id });

async function close({ id: org_id }: Org, refund_requested: boolean): Promise<void> {
  await closeOrg(context, { org_id, confirm: null, refund_requested, action: 'staff.orgs.close' });
  await endAccess(context, { org_id });
  pass(SETTLED_MS);
}
const give = ({ live_book_id: book_id }: Org, micro: number) =>
  credit(pool, {
    ...{ book_id, kind: 'grant', granted: true, expires_at: null, amount_micro_usd: microUsd(micro) },
    ...{ ref_type: 'staff', ref_id: newRequestId() },
  });
const refundsOf = ({ id }: Org) =>
  rows<{ id: `rfd_${string}`; status: string; amount_minor: number; topup_id: string }>(
    'select id, status, amount_minor, topup_id from refund where org_id = $1 order by created_at, id',
    [id],
  );
/** What the workflow of each refund does. */
async function carryOut(org: Org): Promise<void> {
  for (const { id: refund_id, status } of await refundsOf(org))
    if (status === 'pending') {
      await sendRefund(context, { refund_id });
      await pollRefund(context, { refund_id });
    }
}
const ticketsOf = ({ id }: Org) =>
  rows<{ topup_id: string }>(
    `select body ->> 'topup_id' as topup_id from ticket where org_id = $1 and kind = 'refund'`,
    [id],
  );

beforeEach(() => {
  shift_ms = 0;
});
afterEach(async () => {
  shiftClock(0);
  sim.turn({ api: [], refunds: 'succeeded' });
  await world.expectBooksRight();
});

test('paid credit goes back whole and given credit expires; the books are right', async () => {
  const org = await newOrg();
  await paid(2_500, org);
  await paid(4_000, org);
  await give(org, 7_000_000);
  await close(org, true);
  expect(await look(org)).toMatchObject({ status: 'waiting', refunds_open: 2 });
  await carryOut(org);
  expect(await look(org)).toMatchObject({ status: 'done', refunds_open: 0 });
  expect((await refundsOf(org)).map(({ status }) => status)).toEqual(['refunded', 'refunded']);
  expect(await balance(org)).toMatchObject({
    available_micro_usd: 0,
    held_micro_usd: 0,
    granted_micro_usd: 0,
  });
  expect((await findClosing(pool, org.id))?.ended_at).not.toBeNull();
});

test('without a request paid credit stays, and given credit expires all the same', async () => {
  const org = await newOrg();
  await paid(2_500, org);
  await give(org, 7_000_000);
  await close(org, false);
  expect(await look(org)).toMatchObject({ status: 'done' });
  expect(await refundsOf(org)).toEqual([]);
  expect(await balance(org)).toMatchObject({ available_micro_usd: 25_000_000, granted_micro_usd: 0 });
});

test('looks that come twenty at a time give back once', async () => {
  const org = await newOrg();
  await paid(2_500, org);
  await close(org, true);
  await Promise.all(Array.from({ length: 20 }, () => look(org)));
  expect(await refundsOf(org)).toHaveLength(1);
  await carryOut(org);
  await Promise.all(Array.from({ length: 20 }, () => look(org)));
  expect(await refundsOf(org)).toHaveLength(1);
});

test('a call under way is settled first, and only what it left goes back', async () => {
  const org = await newOrg();
  await paid(2_500, org);
  const book_id = org.live_book_id;
  const subject = { book_id, key_no: book_id * 1_000, project_no: book_id * 1_000 };
  const { key_no, project_no } = subject;
  for (const of of [{ key_no }, { project_no }])
    await setBudget(pool, { book_id, subject: of, cap_micro_usd: null });
  const hold = holdOf(subject, 20_000_000, newRequestId());
  expect((await ledger.hold(hold)).status).toBe('ok');
  await close(org, true);
  expect(await look(org)).toMatchObject({ status: 'waiting', held: true });
  expect(await refundsOf(org)).toEqual([]);
  await ledger.settle(settleOf(subject, hold.request_id, microUsd(5_000_000)));
  expect(await look(org)).toMatchObject({ status: 'waiting', refunds_open: 1, held: false });
  expect(await refundsOf(org)).toMatchObject([{ amount_minor: 2_000 }]);
  await carryOut(org);
  expect(await look(org)).toMatchObject({ status: 'done' });
});

test('nothing moves in the first seconds, in which a gateway may not know yet', async () => {
  const org = await newOrg();
  await paid(2_500, org);
  await closeOrg(context, {
    ...{ org_id: org.id, confirm: null, refund_requested: true, action: 'staff.orgs.close' },
  });
  expect(await look(org)).toMatchObject({ status: 'waiting' });
  expect(await refundsOf(org)).toEqual([]);
  pass(SETTLED_MS);
  await look(org);
  await carryOut(org);
});

test('a payment that arrives after the closing is booked and goes back', async () => {
  const org = await newOrg();
  const topup = await world.topup(org);
  await close(org, true);
  expect(await look(org)).toMatchObject({ status: 'done' });
  const { payment_intent } = sim.act(topup.gateway_ref as string, 'pay');
  await world.deliver(events.completed(topup, { payment: payment_intent as string }));
  expect(await world.read(topup.id)).toMatchObject({ status: 'paid', invoice_number: expect.any(String) });
  expect(await rows('select name from workflow_signal where workflow_id = $1', [`close-${org.id}`])).toEqual([
    { name: 'booked' },
  ]);
  expect(await look(org)).toMatchObject({ status: 'waiting', refunds_open: 1 });
  expect((await findClosing(pool, org.id))?.ended_at).toBeNull();
  await carryOut(org);
  expect(await look(org)).toMatchObject({ status: 'done' });
  expect(await refundsOf(org)).toMatchObject([{ status: 'refunded', topup_id: topup.id }]);
});

test('a payment that arrives after the closing is booked and stays where no refund was asked for', async () => {
  const org = await newOrg();
  const topup = await world.topup(org);
  await close(org, false);
  const { payment_intent } = sim.act(topup.gateway_ref as string, 'pay');
  await world.deliver(events.completed(topup, { payment: payment_intent as string }));
  expect(await look(org)).toMatchObject({ status: 'done' });
  expect(await balance(org)).toMatchObject({ available_micro_usd: 25_000_000 });
});

test('a payment beyond the window becomes one ticket, and keeps no other from going back', async () => {
  const org = await newOrg();
  const old = await paid(2_500, org);
  await rows(`update topup set paid_at = paid_at - interval '181 days' where id = $1`, [old.id]);
  const fresh = await paid(4_000, org);
  await close(org, true);
  for (let looks = 0; looks < 3; looks++) await look(org);
  expect(await ticketsOf(org)).toEqual([{ topup_id: old.id }]);
  expect(await refundsOf(org)).toMatchObject([{ topup_id: fresh.id }]);
  await carryOut(org);
  expect(await look(org)).toMatchObject({ status: 'done' });
});

test('a refund that the rail refuses becomes a ticket, and the credit stays', async () => {
  const org = await newOrg();
  const topup = await paid(2_500, org);
  await close(org, true);
  await look(org);
  sim.turn({ api: [{ match: 'POST /v1/refunds', mode: 'error', status: 400 }] });
  const [asked] = await refundsOf(org);
  await sendRefund(context, { refund_id: asked!.id }).catch(() => undefined);
  expect(await refundsOf(org)).toMatchObject([{ status: 'failed' }]);
  expect(await look(org)).toMatchObject({ status: 'done' });
  expect(await look(org)).toMatchObject({ status: 'done' });
  expect(await ticketsOf(org)).toEqual([{ topup_id: topup.id }]);
  expect(await refundsOf(org)).toHaveLength(1);
  expect(await balance(org)).toMatchObject({ available_micro_usd: 25_000_000 });
});

test('mandates are cancelled, for their workflows to take back at the rail', async () => {
  const org = await newOrg();
  const { mandate } = await createMandate(context, { org_id: org.id, method: 'card' });
  sim.store.mandates.save(mandate.setup_ref as string);
  await pollMandate(context, { mandate_id: mandate.id });
  await close(org, false);
  expect(await findMandate(pool, { id: mandate.id, org_id: null })).toMatchObject({
    ...{ status: 'cancelled', reason: 'org_closed' },
  });
});

test('an organization that staff made active again loses nothing more', async () => {
  const org = await newOrg();
  await paid(2_500, org);
  await give(org, 7_000_000);
  await close(org, true);
  await changeTerms(context, org.id, { status: 'active' });
  expect(await look(org)).toMatchObject({ status: 'reopened' });
  expect(await refundsOf(org)).toEqual([]);
  expect(await balance(org)).toMatchObject({ available_micro_usd: 32_000_000 });
  // Closed once more, it goes through all of it again.
  await close(org, true);
  expect(await look(org)).toMatchObject({ status: 'waiting', refunds_open: 1 });
  expect(await rows('select name from workflow_signal where workflow_id = $1', [`close-${org.id}`])).toEqual([
    { name: 'closed' },
  ]);
  await carryOut(org);
});

test('what has not come to its end is put before the staff, once', async () => {
  const org = await newOrg();
  await paid(2_500, org);
  await close(org, true);
  await look(org);
  pass(3 * DAY_MS);
  for (let times = 0; times < 2; times++) await reportClosing(context, { org_id: org.id });
  const items = (await listStaffItems(pool)).filter(({ kind }) => kind === 'closing_waits');
  expect(items).toMatchObject([{ details: { org_id: org.id } }]);
  await carryOut(org);
});
