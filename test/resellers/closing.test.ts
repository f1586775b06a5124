// The end of customers and of resellers: no credit is lost on the way back, and none is left with nobody.
import { closeOrg, endAccess, endCredit, findClosing } from '@svc/core/closing/index.ts';
import { type Id, ServiceError, shiftClock } from '@svc/core/kernel/index.ts';
import { readBalance, readLots } from '@svc/core/ledger/index.ts';
import { lookAtErasure, requestOrgErasure } from '@svc/core/org-erasure/index.ts';
import { changeTerms, findOrg, type Org } from '@svc/core/orgs/index.ts';
import type { Topup } from '@svc/core/topups/index.ts';
import { afterEach, expect, test } from 'vitest';
import { startSales } from './sales.ts';

const world = await startSales();
const { context, pool } = world;
afterEach(() => shiftClock(0));
/** Once every gateway knows of a closing. */
const SETTLED_MS = 6_000;

const close = (org: Org, refund_requested = false) =>
  closeOrg(context, { org_id: org.id, confirm: null, refund_requested, action: 'staff.orgs.close' });
const available = async ({ live_book_id }: Org) =>
  (await readBalance(pool, live_book_id)).available_micro_usd;
const allocate = (reseller: Org, child: Org, amount_micro_usd: number) =>
  world.run<{ id: Id<'allocation'> }>(reseller, 'reseller.allocations.create', {
    ...{ id: child.id, amount_micro_usd, note: '' },
  });
const spend = (org: Org, micro: number) => world.spend({ book_id: org.live_book_id } as Topup, micro);
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
      const { code, message, details } = error;
      return { code, message, details };
    },
  );

test('what a reseller gave and a closed customer did not use is paid credit of the reseller again, to the micro', async () => {
  const reseller = await world.reseller('giver');
  const { credits_micro } = await world.rupees(reseller, 1_000_000);
  const child = await world.customer(reseller, 'given');
  await allocate(reseller, child, 20_000_000);
  await allocate(reseller, child, 5_000_000);
  expect(await spend(child, 3_000_007)).toBe(true);
  expect(await available(reseller)).toBe(credits_micro - 25_000_000);
  await close(child);
  await endAccess(context, { org_id: child.id });
  shiftClock(SETTLED_MS);
  // Two workers look at once, and again.
  const looks = await Promise.all([1, 2].map(() => endCredit(context, { org_id: child.id })));
  expect(looks.map(({ status }) => status)).toContain('done');
  expect(await endCredit(context, { org_id: child.id })).toMatchObject({ status: 'done' });
  expect(await available(child)).toBe(0);
  expect(await available(reseller)).toBe(credits_micro - 3_000_007);
  const lots = await readLots(pool, { book_id: reseller.live_book_id, open: true });
  expect(lots.every(({ kind }) => kind === 'paid')).toBe(true);
  expect(
    await world.rows(`select count(*)::int as open from reseller_reclaim where amount_micro_usd is null`),
  ).toEqual([{ open: 0 }]);
  await world.expectBooks();
});

test('the own credit of a closed customer goes its own way: what it paid for goes back to it, what we gave it ends', async () => {
  const reseller = await world.reseller('apart');
  await world.rupees(reseller, 1_000_000);
  const child = await world.customer(reseller, 'own-money');
  const topup = await world.paid(2_500, child);
  await allocate(reseller, child, 7_000_000);
  const before = await available(reseller);
  await close(child, true);
  await endAccess(context, { org_id: child.id });
  shiftClock(SETTLED_MS);
  await endCredit(context, { org_id: child.id });
  expect(await available(reseller)).toBe(before + 7_000_000);
  const refunds = await world.rows<{ topup_id: string; amount_minor: number }>(
    'select topup_id, amount_minor from refund where org_id = $1',
    [child.id],
  );
  expect(refunds).toEqual([{ topup_id: topup.id, amount_minor: topup.amount_minor }]);
  await world.expectBooks();
});

test('a reseller with customers is neither closed nor erased, and learns how many there are', async () => {
  const reseller = await world.reseller('keeper');
  await world.rupees(reseller, 1_000_000);
  const [first, second] = [
    await world.customer(reseller, 'kept-1'),
    await world.customer(reseller, 'kept-2'),
  ];
  await allocate(reseller, second, 1_000_000);
  const asks = [
    () => close(reseller),
    () =>
      requestOrgErasure(context, {
        org_id: reseller.id,
        refund_requested: false,
        action: 'orgs.erasure.request',
      }),
  ];
  for (const ask of asks)
    expect(await refusal(ask())).toMatchObject({
      ...{ code: 'in_use', details: { customers: 2, closing: 0 } },
      message: 'The reseller has 2 customers. Their owners close them first, or staff of the service do.',
    });
  await close(first);
  await close(second);
  // Their credit is not back yet.
  expect(await refusal(close(reseller))).toMatchObject({
    code: 'in_use',
    details: { customers: 0, closing: 2 },
  });
  shiftClock(SETTLED_MS);
  for (const child of [first, second]) {
    await endAccess(context, { org_id: child.id });
    await endCredit(context, { org_id: child.id });
  }
  expect(await refusal(close(reseller))).toBeNull();
  // Nobody would sell to them.
  expect(await refusal(changeTerms(context, first.id, { status: 'active' }))).toMatchObject({
    code: 'state_conflict',
  });
  expect((await findOrg(pool, first.id))?.status).toBe('closed');
  await world.expectBooks();
});

test('of a reseller that closes while customers are made either none is there or it is not closed', async () => {
  for (let round = 0; round < 6; round++) {
    const reseller = await world.reseller(`racing-${round}`);
    const made = world.run(reseller, 'reseller.children.create', {
      ...{ name: 'New', slug: `raced-in-${round}`, owner_email: 'new@x.example', billing_country: 'IN' },
    });
    const [child, closed] = await Promise.all([refusal(made), refusal(close(reseller))]);
    const is_there = (await world.rows('select from org where parent_org_id = $1', [reseller.id])).length;
    expect([child === null, closed === null].filter(Boolean)).toHaveLength(1);
    expect(is_there).toBe(child === null ? 1 : 0);
    expect((child ?? closed)?.code).toBe(child === null ? 'in_use' : 'state_conflict');
  }
});

test('an erasure that is due waits for customers that were made since, and changes nothing of the reseller', async () => {
  const reseller = await world.reseller('late');
  const action = 'orgs.erasure.request';
  await requestOrgErasure(context, { org_id: reseller.id, refund_requested: false, action });
  const child = await world.customer(reseller, 'made-since');
  shiftClock(31 * 86_400_000);
  expect(await lookAtErasure(context, { org_id: reseller.id })).toMatchObject({
    status: 'asked',
    wait_ms: 3_600_000,
  });
  expect((await findOrg(pool, reseller.id))?.status).toBe('active');
  await close(child);
  expect(await findClosing(pool, child.id)).toMatchObject({ ended_at: null });
  await endCredit(context, { org_id: child.id });
  shiftClock(31 * 86_400_000 + SETTLED_MS);
  await endCredit(context, { org_id: child.id });
  expect(await lookAtErasure(context, { org_id: reseller.id })).toMatchObject({ status: 'closing' });
});
