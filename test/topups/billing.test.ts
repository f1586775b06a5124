// Where an organization is taxed and what it pays in: by its country at first, changed by its people over REST until
// they have paid (docs/money/topups.md#billing-facts).
import type { Id } from '@svc/core/kernel/index.ts';
import { createOrg } from '@svc/core/orgs/index.ts';
import { changeBilling } from '@svc/core/topups/index.ts';
import { beforeAll, expect, test } from 'vitest';
import { codeOf, startHarness } from '../registry/harness.ts';
import { events, startWorld } from './world.ts';

const harness = await startHarness();
const { a, b } = harness;
const world = await startWorld();
const tokens = new Map<string, string>();

beforeAll(async () => {
  for (const role of ['owner', 'admin', 'developer', 'billing', 'viewer'] as const)
    tokens.set(role, await harness.signIn(await harness.makePerson(a, role)));
});

const change = (body: object, role = 'owner', org = a) =>
  harness.call('PATCH', `/v1/orgs/${org.org.id}`, { key: tokens.get(role) as string, body });

/** Makes organization a one of `country`, with nothing known of it. */
async function moveTo(country: string, currency: string): Promise<void> {
  await harness.pool.query({
    name: 'test.move_org',
    text: `update org set billing_country = $2, billing_currency = $3, gstin = null, tax_status = 'unregistered',
                          billing_address = null where id = $1`,
    values: [a.org.id, country, currency],
  });
}

test.each([
  ['IN', 'INR'],
  ['DE', 'EUR'],
  ['GB', 'GBP'],
  ['JP', 'JPY'],
  ['AE', 'AED'],
  ['SG', 'SGD'],
  ['AU', 'AUD'],
  ['CA', 'CAD'],
  ['US', 'USD'],
  ['BR', 'USD'],
])('an organization in %s begins with %s', async (billing_country, currency) => {
  const slug = `of-${billing_country.toLowerCase()}`;
  const made = await createOrg(world.context, { slug, name: slug, billing_country });
  const [row] = await world.rows<{ billing_currency: string }>(
    'select billing_currency from org where id = $1',
    [made.id],
  );
  expect(row?.billing_currency).toBe(currency);
});

test('owner, admin and billing change it, others do not, and another organization is not found', async () => {
  await moveTo('US', 'USD');
  for (const role of ['owner', 'admin', 'billing']) {
    const address = { line1: '1 Main St', city: role, state_code: 'NY', postal_code: '10001' };
    const facts = {
      legal_name: `Acme ${role}`,
      billing_email: 'money@acme.example',
      billing_address: address,
    };
    const reply = await change(facts, role);
    expect([role, reply.statusCode]).toEqual([role, 200]);
    expect(reply.json()).toMatchObject({ ...facts, tax_status: 'overseas' });
  }
  for (const role of ['developer', 'viewer']) {
    const reply = await change({ legal_name: 'Not me' }, role);
    expect([role, reply.statusCode, codeOf(reply)]).toEqual([role, 403, 'permission_denied']);
  }
  expect((await change({ legal_name: 'Not theirs' }, 'owner', b)).statusCode).toBe(404);
  const cleared = await change({ billing_address: null, legal_name: null });
  expect(cleared.json()).toMatchObject({ billing_address: null, legal_name: null });
});

test('a key does so as far as the person who made it may, and the audit log has it', async () => {
  const reply = await harness.call('PATCH', `/v1/orgs/${a.org.id}`, {
    key: (await harness.makeKey(a)).secret,
    body: { billing_currency: 'SGD' },
  });
  expect(reply.statusCode, reply.body).toBe(200);
  const { rows } = await harness.pool.query<{ before: object; after: object }>({
    name: 'test.last_audit',
    text: `select before, after from audit_entry where action = 'orgs.update' and org_id = $1 order by id desc limit 1`,
    values: [a.org.id],
  });
  expect(rows[0]).toMatchObject({ before: { billing_currency: 'USD' }, after: { billing_currency: 'SGD' } });
});

test('in India a GSTIN is checked, registers, and must be there for what needs one', async () => {
  await moveTo('IN', 'INR');
  const refused: [object, string, string][] = [
    [{ gstin: '27AAPFU0939F1ZX' }, 'invalid_gstin', 'gstin'],
    [{ tax_status: 'sez' }, 'invalid_request', 'gstin'],
    [{ tax_status: 'overseas' }, 'invalid_request', 'tax_status'],
    [{ billing_currency: 'USD' }, 'invalid_request', 'billing_currency'],
    [{ billing_address: { state_code: '99' } }, 'invalid_request', 'billing_address.state_code'],
  ];
  for (const [body, code, param] of refused) {
    const reply = await change(body);
    expect([codeOf(reply), reply.json().error.param], JSON.stringify(body)).toEqual([code, param]);
  }
  const with_number = await change({ gstin: '29AABCU9603R1ZJ', billing_address: { state_code: '29' } });
  expect(with_number.json()).toMatchObject({ tax_status: 'gst_registered', gstin: '29AABCU9603R1ZJ' });
  expect((await change({ tax_status: 'sez' })).json()).toMatchObject({ tax_status: 'sez' });
  expect((await change({ gstin: null })).json()).toMatchObject({ gstin: null });
});

test('outside India there are no rupees and no GSTIN', async () => {
  await moveTo('DE', 'EUR');
  expect(codeOf(await change({ billing_currency: 'INR' }))).toBe('invalid_request');
  expect(codeOf(await change({ gstin: '29AABCU9603R1ZJ' }))).toBe('invalid_request');
  expect(codeOf(await change({ billing_currency: 'CHF' }))).toBe('invalid_request');
  expect((await change({ billing_currency: 'USD' })).json()).toMatchObject({ billing_currency: 'USD' });
});

test('the first paid top-up fixes the currency; what is pending does not', async () => {
  const org = await world.org('paying');
  const to = (billing_currency: 'EUR' | 'GBP') =>
    world.context.transaction((context) => changeBilling(context, org.id as Id<'org'>, { billing_currency }));
  const topup = await world.topup(org);
  await to('EUR');
  await world.deliver(events.completed(topup));
  await expect(to('GBP')).rejects.toMatchObject({ code: 'conflict' });
  // Said again, it is no change.
  await to('EUR');
  await world.expectRight();
});

test('with a GSTIN that was stored before it was found wrong nothing is sold, and a quote is still given', async () => {
  await moveTo('IN', 'INR');
  await harness.pool.query({
    name: 'test.wrong_gstin',
    text: `update org set gstin = '29AABCU9603R1ZX', billing_address = '{"state_code":"29"}' where id = $1`,
    values: [a.org.id],
  });
  const body = { amount_minor: 50_000 };
  const made = await harness.call('POST', '/v1/credits/topups', { key: a.key, body });
  expect([made.statusCode, made.json().error]).toMatchObject([
    400,
    { code: 'invalid_gstin', param: 'gstin' },
  ]);
  const quote = await harness.call('GET', '/v1/credits/topups/quote?amount_minor=50000', { key: a.key });
  expect(quote.statusCode).toBe(200);
});

test('in a currency in which nothing is sold, neither a quote nor a top-up is given, and the answer names those there are', async () => {
  await moveTo('US', 'INR');
  const quote = await harness.call('GET', '/v1/credits/topups/quote?amount_minor=50000', { key: a.key });
  const body = { amount_minor: 50_000 };
  const made = await harness.call('POST', '/v1/credits/topups', { key: a.key, body });
  for (const reply of [quote, made]) {
    expect([reply.statusCode, codeOf(reply)]).toEqual([400, 'currency_not_supported']);
    expect(reply.json().error.details.currencies.sort()).toEqual([
      ...['AED', 'AUD', 'CAD', 'EUR', 'GBP', 'JPY', 'SGD', 'USD'],
    ]);
  }
});

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

test('in India the tax status follows from the GSTIN, unless it is said', async () => {
  const { id } = await world.indian('statuses', '29');
  const steps: [Facts, string | null, string][] = [
    [{ gstin: GSTIN }, GSTIN, 'gst_registered'],
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
  await changeOf(id, { gstin: null });
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
    [here, { gstin: '29AABCU9603R1ZX' }, { code: 'invalid_gstin', details: { reason: expect.any(String) } }],
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

test.each<[object, number]>([
  [{ gstin: '29AABCU9603R1Z' }, 400],
  [{ legal_name: '' }, 400],
  [{ legal_name: 'x'.repeat(201) }, 400],
  [{ billing_email: 'nobody' }, 400],
  [{ billing_email: null }, 200],
  [{ billing_address: { line1: '' } }, 400],
  [{ billing_address: { city: 'x'.repeat(101) } }, 400],
  [{ billing_address: { state_code: '' } }, 400],
  [{ billing_address: { planet: 'Mars' } }, 400],
  [{ billing_address: {} }, 200],
])('%j is answered with %i', async (body, status) => {
  await moveTo('DE', 'EUR');
  const reply = await change(body);
  expect(reply.statusCode, reply.body).toBe(status);
  if (status === 400) expect(codeOf(reply)).toBe('invalid_request');
});
