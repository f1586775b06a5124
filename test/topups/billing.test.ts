// Where an organization is taxed and what it pays in, over REST: who may change it, and in which form
// (docs/money/topups.md#billing-facts).
import { createOrg } from '@svc/core/orgs/index.ts';
import { beforeAll, expect, test } from 'vitest';
import { codeOf, startHarness } from '../registry/harness.ts';
import { startWorld } from './world.ts';

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
