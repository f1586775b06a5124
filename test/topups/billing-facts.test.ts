// How the billing facts of an organization change: what follows from what, what does not fit, what the audit log has
// (docs/money/topups.md#billing-facts).
import type { Id } from '@svc/core/kernel/index.ts';
import { changeBilling } from '@svc/core/topups/index.ts';
import { expect, test } from 'vitest';
import { events, startWorld } from './world.ts';

const world = await startWorld();
const GSTIN = '29AABCU9603R1ZJ';
type Facts = Parameters<typeof changeBilling>[2];
const changeOf = (org_id: string, facts: Facts) =>
  world.context.transaction((context) => changeBilling(context, org_id as Id<'org'>, facts));
const factsOf = async (org_id: string) =>
  (
    await world.rows<{ gstin: string | null; tax_status: string }>(
      'select gstin, tax_status from org where id = $1',
      [org_id],
    )
  )[0];

test('the first paid top-up fixes the currency; what is pending does not', async () => {
  const org = await world.org('paying');
  const to = (billing_currency: 'EUR' | 'GBP') => changeOf(org.id, { billing_currency });
  const topup = await world.topup(org);
  await to('EUR');
  await world.deliver(events.completed(topup));
  await expect(to('GBP')).rejects.toMatchObject({ code: 'conflict', param: 'billing_currency' });
  // Said again, it is no change.
  await to('EUR');
  await world.expectRight();
});

test('in India the tax status follows from the GSTIN, unless it is said', async () => {
  const { id } = await world.indian('statuses', '29');
  const steps: [Facts, string | null, string][] = [
    [{ gstin: GSTIN, billing_address: { state_code: '29' } }, GSTIN, 'gst_registered'],
    [{ legal_name: 'Statuses' }, GSTIN, 'gst_registered'],
    [{ tax_status: 'sez' }, GSTIN, 'sez'],
    [{ gstin: '29AAGCB7383J1Z4' }, '29AAGCB7383J1Z4', 'sez'],
    [{ gstin: null }, null, 'unregistered'],
    [{ gstin: GSTIN, tax_status: 'unregistered' }, GSTIN, 'unregistered'],
  ];
  for (const [facts, gstin, tax_status] of steps) {
    await changeOf(id, facts);
    expect(await factsOf(id), JSON.stringify(facts)).toEqual({ gstin, tax_status });
  }
  await changeOf(id, { gstin: null, billing_address: { city: 'Bengaluru' } });
  await expect(changeOf(id, { tax_status: 'gst_registered' })).rejects.toMatchObject({ param: 'gstin' });
});

test('abroad the tax status is overseas, whatever was stored, and a state is what its country calls one', async () => {
  const { id } = await world.org('abroad');
  await world.rows(`update org set tax_status = 'unregistered' where id = $1 returning id`, [id]);
  await changeOf(id, { gstin: null, billing_address: { state_code: 'Bavaria' } });
  expect(await factsOf(id)).toEqual({ gstin: null, tax_status: 'overseas' });
  await changeOf(id, { billing_address: { city: 'Berlin' } });
});

const fault = (param: string, reason: string) => ({
  code: 'invalid_request',
  details: { faults: [{ param, reason }] },
});
test('a fact that does not fit is refused with its name and what is wrong with it, and nothing is changed', async () => {
  const here = (await world.indian('faults-in', '29')).id;
  const abroad = (await world.org('faults-us')).id;
  const refused: [string, Facts, object][] = [
    [here, { billing_currency: 'USD' }, fault('billing_currency', 'unsupported')],
    [abroad, { billing_currency: 'INR' }, fault('billing_currency', 'unsupported')],
    [here, { tax_status: 'overseas' }, fault('tax_status', 'unsupported')],
    [abroad, { tax_status: 'unregistered' }, fault('tax_status', 'unsupported')],
    [here, { tax_status: 'sez' }, fault('gstin', 'missing')],
    [abroad, { gstin: GSTIN }, fault('gstin', 'unsupported')],
    [here, { billing_address: { state_code: '99' } }, fault('billing_address.state_code', 'unsupported')],
    [
      here,
      { gstin: '29AABCU9603R1ZX' },
      { code: 'invalid_gstin', param: 'gstin', details: { reason: expect.any(String) } },
    ],
  ];
  const before = await Promise.all([here, abroad].map(factsOf));
  for (const [org_id, facts, error] of refused)
    await expect(changeOf(org_id, facts), JSON.stringify(facts)).rejects.toMatchObject(error);
  expect(await Promise.all([here, abroad].map(factsOf))).toEqual(before);
  await expect(changeOf('org_01M8HWNWA2Z3G0XKMYK7PQ402Y', {})).rejects.toMatchObject({ code: 'not_found' });
});

test('the audit log has what was before and after of what changed, and nothing where nothing did', async () => {
  const { id, slug } = await world.org('audited');
  const entries = () =>
    world.rows<object>(
      `select target_type, target_id, target_display, before, after from audit_entry where action = 'orgs.update' and org_id = $1`,
      [id],
    );
  await changeOf(id, { legal_name: 'Audited Ltd', billing_currency: 'EUR' });
  await changeOf(id, { legal_name: 'Audited Ltd', billing_currency: 'EUR' });
  expect(await entries()).toEqual([
    {
      ...{ target_type: 'org', target_id: id, target_display: slug },
      before: { legal_name: null, billing_currency: 'USD', tax_status: expect.anything() },
      after: { legal_name: 'Audited Ltd', billing_currency: 'EUR', tax_status: 'overseas' },
    },
  ]);
});
