// Our page to pay on, for a rail that has none of its own: what it shows and sends, and whom it opens to.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  addRootKey,
  deriveFrom,
  hmacSha256,
  isId,
  loadRootKey,
  newRequestId,
  promoteRootKey,
} from '@svc/core/kernel/index.ts';
import { setBilling } from '@svc/core/orgs/index.ts';
import {
  cancelTopup,
  checkoutUrl,
  isPayToken,
  payUrl,
  readPayPage,
  readPayReturn,
  type Topup,
} from '@svc/core/topups/index.ts';
import { describe, expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { atTime, startWorld } from './world.ts';

const world = await startWorld();
const { context, rows } = world;
let serial = 0;
const slug = () => `pay-${++serial}`;
/** The token that opens the page of `id`, as it is in the address of that page. */
const tokenOf = (id: Topup['id']) => {
  const address = checkoutUrl(context, { id, gateway: 'rail-a', checkout_url: payUrl(context, id) });
  return new URL(address).searchParams.get('t') as string;
};
const open = ({ id }: Topup, by = context) => readPayPage(by, { id, token: tokenOf(id) });
const not_found = expect.objectContaining({ code: 'not_found' });

describe('the page', () => {
  test('shows what is bought in words, and sends the rail what its checkout needs', async () => {
    const org = await world.indian(slug(), '27');
    const topup = await world.topup(org);
    const back_url = `http://console.test/${org.slug}/live/credits?topup=${topup.id}&outcome=back`;
    const page = {
      ...{ state: 'open', id: topup.id, org_name: org.name, price: '₹1,000.00', tax: '₹180.00' },
      ...{ total: '₹1,180.00', credits: '$11.10', opening: world.rail_a.opening, back_url },
    };
    const fields = {
      ...{ key_id: 'rzp_test_tests', order_id: topup.gateway_ref, amount: '118000', currency: 'INR' },
      ...{ name: topup.tax.supplier.legal_name, description: 'Prepaid API credits, $11.10' },
      ...{ 'notes[topup_id]': topup.id, 'notes[org_id]': org.id, cancel_url: back_url },
      callback_url: `http://gateway.test/pay/${topup.id}/return`,
    };
    const with_email = { ...fields, 'prefill[email]': `${org.slug}@example.in` };
    expect(await open(topup)).toEqual({ ...page, fields: with_email });
    await setBilling(world.pool, { org_id: org.id, at: new Date(), billing_email: null });
    expect(await open(topup)).toEqual({ ...page, fields });
  });

  test('says nothing of a tax that there is none of', async () => {
    const topup = await world.topup(await world.indian(slug()));
    await rows('update topup set tax_minor = 0, total_minor = amount_minor where id = $1', [topup.id]);
    expect(await open(topup)).toMatchObject({ tax: null, price: '₹1,000.00', total: '₹1,000.00' });
  });

  test('is over when the top-up is, at the end of its time to the millisecond, and before it has an order', async () => {
    const topup = await world.topup(await world.indian(slug()));
    const at = (ms: number) => atTime(context, new Date(topup.expires_at.getTime() + ms));
    expect((await open(topup, at(-1))).state).toBe('open');
    const over = { state: 'over', id: topup.id, back_url: expect.stringContaining('outcome=back') };
    expect(await open(topup, at(0))).toEqual({ ...over, status: 'pending' });
    await rows('update topup set gateway_ref = null where id = $1', [topup.id]);
    expect(await open(topup)).toEqual({ ...over, status: 'pending' });
    const other = await world.topup(await world.indian(slug()));
    await cancelTopup(context, { org_id: other.org_id, id: other.id });
    expect(await open(other)).toEqual({ ...over, id: other.id, status: 'expired' });
  });

  test('opens to its own token alone, and is none of a rail that has pages', async () => {
    const [topup, other] = [
      await world.topup(await world.indian(slug())),
      await world.topup(await world.indian(slug())),
    ];
    for (const [id, token] of [
      [topup.id, tokenOf(other.id)],
      [topup.id, ''],
      ['mnd_x', tokenOf('mnd_x' as Topup['id'])],
    ] as const)
      await expect(readPayPage(context, { id, token })).rejects.toEqual(not_found);
    const american = await world.topup(await world.org(slug()));
    await expect(open(american)).rejects.toEqual(not_found);
    // Of a rail that is not configured any more.
    const without = { ...context.services.money_in, rails: { 'rail-a': null, 'rail-b': null } };
    const alone: typeof context = Object.create(context, {
      services: { value: { ...context.services, money_in: without } },
    });
    await expect(open(topup, alone)).rejects.toEqual(not_found);
    const unknown = `tup_${newRequestId()}`;
    expect(isId('topup', unknown)).toBe(true);
    await expect(open({ ...topup, id: unknown as Topup['id'] })).rejects.toEqual(not_found);
  });
});

describe('who comes back from the rail', () => {
  test('goes to the console when the rail signed that it was paid, else to the page again', async () => {
    const topup = await world.topup(await world.indian(slug()));
    const { id, gateway_ref } = topup;
    const signed = (order: string) => ({
      ...{ razorpay_order_id: order, razorpay_payment_id: 'pay_1' },
      razorpay_signature: hmacSha256('secret-of-rail-a', `${order}|pay_1`).toString('hex'),
    });
    const page = `http://gateway.test/pay/${id}`;
    const back = (fields: Record<string, string>) => readPayReturn(context, { id, fields });
    expect(await back(signed(gateway_ref as string))).toMatch(
      new RegExp(`^http://console.test/pay-\\d+/live/credits\\?topup=${id}&outcome=done$`),
    );
    expect(await back(signed('order_of_another'))).toBe(page);
    expect(await back({})).toBe(page);
    await rows('update topup set gateway_ref = null where id = $1', [id]);
    expect(await back(signed(gateway_ref as string))).toBe(page);
    for (const of_nobody of ['nonsense', `tup_${newRequestId()}`])
      await expect(readPayReturn(context, { id: of_nobody, fields: {} })).rejects.toEqual(not_found);
  });
});

describe('an address to pay at', () => {
  test('has its token where the page is ours, and is the rail’s own elsewhere', () => {
    const id = `tup_${newRequestId()}` as Topup['id'];
    const checkout_url = payUrl(context, id);
    expect(checkout_url).toBe(`http://gateway.test/pay/${id}`);
    const ours = checkoutUrl(context, { id, gateway: 'rail-a', checkout_url });
    expect(ours).toMatch(new RegExp(`^${checkout_url}\\?t=[\\w-]{43}$`));
    const theirs = 'http://rail.test/cs_1';
    expect(checkoutUrl(context, { id, gateway: 'rail-b', checkout_url: theirs })).toBe(theirs);
    const { money_in } = context.services;
    const rails = { 'rail-a': null, 'rail-b': null };
    const without = { services: { ...context.services, money_in: { ...money_in, rails } } } as typeof context;
    expect(checkoutUrl(without, { id, gateway: 'rail-a', checkout_url })).toBe(checkout_url);
  });

  test('opens under any key of the ring', () => {
    const dir = mkdtempSync(join(tmpdir(), 'svc-pay-'));
    atFileEnd(async () => rmSync(dir, { recursive: true }));
    const path = join(dir, 'keyring.json');
    const within = () => ({ services: { ...context.services, root_key: loadRootKey(path) } });
    const id = `tup_${newRequestId()}` as Topup['id'];
    const tokenOfNow = () => {
      const url = checkoutUrl(within(), { id, gateway: 'rail-a', checkout_url: payUrl(context, id) });
      return new URL(url).searchParams.get('t') as string;
    };
    const before = tokenOfNow();
    promoteRootKey(path, addRootKey(path, { leaked: false }));
    const after = tokenOfNow();
    expect(after).not.toBe(before);
    for (const token of [before, after]) expect(isPayToken(within(), id, token)).toBe(true);
  });

  test('opens with a key for this purpose alone, and for its own top-up', () => {
    const id = `tup_${newRequestId()}` as Topup['id'];
    const { root_key } = context.services;
    const under = (purpose: string) =>
      hmacSha256(deriveFrom(root_key as Buffer, purpose), id).toString('base64url');
    expect(tokenOf(id)).toBe(under('pay link'));
    expect(isPayToken(context, id, under('pay link'))).toBe(true);
    for (const token of [under('another purpose'), `${under('pay link')}x`, ''])
      expect(isPayToken(context, id, token)).toBe(false);
  });
});
