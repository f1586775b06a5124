// Acts of staff that move more than 100 USD: one person asks, another one approves, and both are in the audit log.
import { DEMO_SUPPLIER, taxTerms } from '@svc/core/invoices/index.ts';
import { newId, shiftClock } from '@svc/core/kernel/index.ts';
import { type Billing, findBilling } from '@svc/core/orgs/index.ts';
import { putStaffItem } from '@svc/core/topups/index.ts';
import { insertTopup, moveTopup } from '@svc/core/topups/store.ts';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { withClient } from '../support/books.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { harness, staff } = world;
const { a } = harness;
let asker = '';
let second = '';
let third = '';
let support = '';

beforeAll(async () => {
  asker = await world.signInStaff(['finance']);
  second = await world.signInStaff(['finance']);
  third = await world.signInStaff(['finance']);
  support = await world.signInStaff(['support']);
});
afterEach(() => shiftClock(0));

const refusal = '... on UserError { code message }';
const act = (name: string, payload: string) =>
  `mutation($input: ${name[0]?.toUpperCase()}${name.slice(1)}Input!) { done: ${name}(input: $input) { __typename
    ... on ${name[0]?.toUpperCase()}${name.slice(1)}Payload { ${payload} } ${refusal} } }`;
const grant = act('grantCredit', 'seq replay');
const codes = act('createRedeemBatch', 'csv');
const accept = act('acceptTopup', 'status');
const refuse_payment = act('refuseTopup', 'status');
const approve = act('approveAct', 'csv approval { status decidedBy note }');
const refuse = act('refuseAct', 'approval { status decidedBy note }');

const send = async (who: string, document: string, input: object) =>
  (await world.ask(staff, who, document, { input })).data.done;

const list = async (waiting: boolean | null) =>
  (
    await world.ask(
      staff,
      support,
      `query($waiting: Boolean) { approvals(waiting: $waiting) { nodes { id action orgName amountMicroUsd reason status
         askedBy input { name value } } } }`,
      { waiting },
    )
  ).data.approvals.nodes;

const available = async () =>
  (await world.ask(staff, support, '{ staffOrg(id: "acme") { balance { availableMicroUsd } } }')).data
    .staffOrg.balance.availableMicroUsd;

const grantOf = (reference: string, more: object = {}) => ({
  ...{ orgId: a.org.id, amountMicro: '500000000', reason: 'as in the contract', reference },
  ...more,
});

/** Asks for a grant and returns the id under which it waits. */
async function ask(reference: string): Promise<string> {
  expect(await send(asker, grant, grantOf(reference))).toMatchObject({
    ...{ __typename: 'PermissionError', code: 'pending_approval' },
  });
  const waiting = await list(true);
  return waiting[0].id;
}

test('a grant above 100 USD waits, moves nothing, and is done once another person approves it', async () => {
  const before = await available();
  const id = await ask('big-1');
  expect((await list(true))[0]).toMatchObject({
    ...{ id, action: 'staff.credits.grant', orgName: a.org.name, amountMicroUsd: '500000000' },
    ...{ reason: 'as in the contract', status: 'PENDING', askedBy: 'staff1@svc.example' },
  });
  expect(await available()).toBe(before);
  expect(await send(second, approve, { id, note: 'seen the contract' })).toMatchObject({
    approval: { status: 'APPROVED', decidedBy: 'staff2@svc.example', note: 'seen the contract' },
    csv: null,
  });
  await expect.poll(available).toBe(`${BigInt(before) + 500_000_000n}`);
  const log = await withClient(harness.url, (client) =>
    client.query<{ action: string; actor_display: string; reason: string }>(
      `select action, actor_display, reason from audit_entry where org_id = $1 and action like 'staff.%'
          and action not like '%.get' order by id`,
      [a.org.id],
    ),
  );
  expect(log.rows).toEqual([
    {
      ...{ action: 'staff.approvals.ask', actor_display: 'staff1@svc.example' },
      reason: 'as in the contract',
    },
    {
      ...{ action: 'staff.credits.grant', actor_display: 'staff2@svc.example' },
      reason: 'as in the contract',
    },
    {
      ...{ action: 'staff.approvals.approve', actor_display: 'staff2@svc.example' },
      reason: 'seen the contract',
    },
  ]);
});

test('nobody approves what they asked for, nor without the role, nor what is not there', async () => {
  const id = await ask('big-2');
  expect(await send(asker, approve, { id })).toMatchObject({ code: 'permission_denied' });
  expect(await send(support, approve, { id })).toMatchObject({ code: 'permission_denied' });
  expect(await send(second, approve, { id: 'apr_01KACZ3V8S6T5R4Q3P2N1M0K9J' })).toMatchObject({
    code: 'not_found',
  });
  const attempt = withClient(harness.url, (client) =>
    client.query(
      `update approval set status = 'approved', decided_by = asked_by, decided_at = now() where id = $1`,
      [id],
    ),
  );
  await expect(attempt).rejects.toThrow('approval_by_another');
  expect((await list(true))[0].id).toBe(id);
});

test('asked for again it is the same act, also by somebody else, who may then approve it', async () => {
  const id = await ask('big-3');
  const count = (await list(true)).length;
  await send(asker, grant, grantOf('big-3'));
  expect(await send(second, grant, grantOf('big-3'))).toMatchObject({ code: 'pending_approval' });
  expect(await list(true)).toHaveLength(count);
  expect(await send(second, approve, { id })).toMatchObject({ approval: { status: 'APPROVED' } });
});

test('of many who decide at once one does, and the credit moves once', async () => {
  const before = BigInt(await available());
  const id = await ask('big-4');
  const answers = await Promise.all([
    ...[second, third, second, third].map((who) => send(who, approve, { id })),
    ...[second, third].map((who) => send(who, refuse, { id, reason: 'no' })),
  ]);
  const done = answers.filter(({ approval }) => approval !== undefined);
  expect(done).toHaveLength(1);
  expect(answers.filter(({ code }) => code === 'state_conflict')).toHaveLength(5);
  const moved = done[0].approval.status === 'APPROVED' ? 500_000_000n : 0n;
  await expect.poll(async () => BigInt(await available())).toBe(before + moved);
});

test('who asked takes it back, somebody else refuses it; either way it can be asked for again', async () => {
  const mine = await ask('big-5');
  expect(await send(asker, refuse, { id: mine, reason: 'a typing error' })).toMatchObject({
    approval: { status: 'WITHDRAWN', note: 'a typing error' },
  });
  const again = await ask('big-5');
  expect(again).not.toBe(mine);
  expect(await send(second, refuse, { id: again, reason: 'not in the contract' })).toMatchObject({
    approval: { status: 'REFUSED', decidedBy: 'staff2@svc.example' },
  });
  expect(await send(second, approve, { id: again })).toMatchObject({ code: 'state_conflict' });
  expect((await list(false)).map(({ id }: { id: string }) => id)).toEqual(
    expect.arrayContaining([mine, again]),
  );
});

test('what nobody decided within seven days cannot be approved, and is asked for anew by whoever asks then', async () => {
  const id = await ask('big-6');
  shiftClock(7 * 86_400_000 + 1_000);
  const fresh = [await world.signInStaff(['finance']), await world.signInStaff(['finance'])] as const;
  const late = await world.ask(staff, fresh[0], approve, { input: { id } });
  expect(late.data.done).toMatchObject({ code: 'state_conflict' });
  expect(await send(fresh[0], grant, grantOf('big-6'))).toMatchObject({ code: 'pending_approval' });
  expect(await send(fresh[0], approve, { id })).toMatchObject({ code: 'permission_denied' });
  expect(await send(fresh[1], approve, { id })).toMatchObject({ approval: { status: 'APPROVED' } });
});

test('a batch is judged by what all its codes are worth, and whoever approves gets them', async () => {
  const batch = { amountMicro: '10000000', codes: 11, creditDays: 30, validUntil: '2099-01-01T00:00:00Z' };
  const few = await send(asker, codes, { ...batch, name: 'few', codes: 10 });
  expect(few.csv.split('\r\n')).toHaveLength(12);
  expect(await send(asker, codes, { ...batch, name: 'many' })).toMatchObject({ code: 'pending_approval' });
  const [waiting] = await list(true);
  expect(waiting).toMatchObject({
    action: 'staff.redeem.create',
    orgName: null,
    amountMicroUsd: '110000000',
  });
  const made = await send(second, approve, { id: waiting.id });
  expect(made.csv.split('\r\n')).toHaveLength(13);
});

test('an act that has become impossible is refused to who approves, and stays as it was', async () => {
  const batch = { amountMicro: '60000000', codes: 2, creditDays: 30, validUntil: '2099-01-01T00:00:00Z' };
  await send(asker, codes, { ...batch, name: 'taken' });
  const [{ id }] = await list(true);
  await send(asker, codes, { ...batch, name: 'taken', codes: 1 });
  expect(await send(second, approve, { id })).toMatchObject({ code: 'already_exists' });
  expect((await list(true))[0]).toMatchObject({ id, status: 'PENDING' });
});

test('a grant that was booked already is not approved again, as if it moved something', async () => {
  const first = await ask('big-7');
  expect(await send(second, approve, { id: first })).toMatchObject({ approval: { status: 'APPROVED' } });
  const again = await ask('big-7');
  expect(again).not.toBe(first);
  expect(await send(second, approve, { id: again })).toMatchObject({ code: 'already_exists' });
  expect(await send(asker, refuse, { id: again, reason: 'granted' })).toMatchObject({
    approval: { status: 'WITHDRAWN' },
  });
});

/** A payment of so many cents, one dollar short of what was asked. */
async function inReview(total_minor: number): Promise<string> {
  const { context, pool } = harness;
  const id = newId('topup');
  const at = context.now();
  const billing = (await findBilling(context.db, a.org.id)) as Billing;
  const book = { org_id: a.org.id, book_id: a.org.live_book_id, gateway: 'rail-b' } as const;
  const price = { currency: 'USD', amount_minor: total_minor, credits_micro: total_minor * 10_000 };
  await insertTopup(pool, {
    ...{ id, ...book, ...price, fx_rate: '1.00000000', fx_day: '2026-11-20' },
    ...{ tax_minor: 0, total_minor, source: 'checkout', created_at: at, mandate_id: null, attempt_no: null },
    tax: taxTerms({
      ...{ supplier: DEMO_SUPPLIER, billing, amount_minor: total_minor, gst_rate_bps: 1_800 },
      inr_rate: '88.70000000',
    }),
    expires_at: new Date(at.getTime() + 3_600_000),
  });
  await moveTopup(pool, { id, status: 'review', payment_ref: `pi_${id}`, at });
  const paid = { payment_ref: `pi_${id}`, paid_minor: total_minor - 100, paid_currency: 'USD', method: null };
  await putStaffItem(pool, { kind: 'amount_mismatch', subject: id, details: paid, at });
  return id;
}

test('a payment in review of more than 100 USD is booked, or given back, by two people', async () => {
  const small = await inReview(2_500);
  expect(await send(asker, accept, { id: small, reason: 'short' })).toMatchObject({ status: 'paid' });
  for (const [document, status] of [
    [accept, 'paid'],
    [refuse_payment, 'failed'],
  ] as const) {
    const id = await inReview(25_000);
    expect(await send(asker, document, { id, reason: 'short' })).toMatchObject({ code: 'pending_approval' });
    const [waiting] = await list(true);
    expect(waiting).toMatchObject({ amountMicroUsd: '250000000', orgName: a.org.name });
    expect(await send(second, approve, { id: waiting.id })).toMatchObject({
      approval: { status: 'APPROVED' },
    });
    const { rows } = await withClient(harness.url, (client) =>
      client.query<{ status: string }>('select status from topup where id = $1', [id]),
    );
    expect(rows).toEqual([{ status }]);
  }
});

test('no caller met a defect', () => {
  expect(world.defects).toEqual([]);
});
