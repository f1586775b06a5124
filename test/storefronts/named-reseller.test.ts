// Who processes data, as a customer of a reseller reads it: its reseller first, then our list.
import { takeShipped } from '@svc/core/legal/index.ts';
import { expect, test } from 'vitest';
import type { Tenant } from '../registry/harness.ts';
import { startStorefronts } from './world.ts';

const world = await startStorefronts();
const { harness, ask, rows } = world;
await takeShipped(harness.context);
const parent = await world.reseller('own-name');
const other = await world.reseller('other-reseller');
const child = await harness.makeTenant('sold-to');
const single = await harness.makeTenant('nobodys');
await rows(`update org set kind = 'child', parent_org_id = $2 where id = $1`, [child.org.id, parent.org.id]);
await rows(`update org set billing_country = 'IN' where id = $1`, [parent.org.id]);

interface Entry {
  readonly id: string;
  readonly name: string;
}
const entriesOf = async ({ key }: Pick<Tenant, 'key'>) =>
  (await ask<{ entries: Entry[] }>('GET', '/v1/legal/subprocessors', key)).entries;
const firstOf = async (tenant: Pick<Tenant, 'key'>) => (await entriesOf(tenant))[0];
const page = async (host: string) =>
  (await harness.call('GET', '/docs/legal/subprocessors', { headers: { host } })).body;
const storefront = (display_name: string) => ({ display_name, support_email: 'help@customer.example' });
const HOST = 'named.customer.example';

test('a reseller is named by its organization, then by its storefront, then as it invoices, and by one of these alone', async () => {
  const names = async () =>
    (await entriesOf(child)).filter(({ id }) => id === 'reseller').map(({ name }) => name);
  expect(await names()).toEqual(['own-name']);
  await ask('PUT', '/v1/reseller/storefront', parent.token, storefront('Named AI'));
  expect(await names()).toEqual(['Named AI']);
  await rows(
    `insert into reseller_invoicing (org_id, legal_name, address, state_code, gstin, sac, series, enabled, updated_at)
     values ($1, 'Named Limited', '["1 Road"]', '27', null, '998315', 'NML', true, now())`,
    [parent.org.id],
  );
  expect(await names()).toEqual(['Named Limited']);
  await rows('update reseller_invoicing set enabled = false where org_id = $1', [parent.org.id]);
  expect(await names()).toEqual(['Named AI']);
});

test('it comes first, with what it has and what it has not, and our list after it is the same as everybody’s', async () => {
  expect(await firstOf(child)).toEqual({
    ...{ id: 'reseller', name: 'Named AI', category: 'reseller', location: 'IN', regions: [] },
    ...{ trains: false, retention_days: 0, zdr: true },
    purpose: expect.stringMatching(/no keys, no calls/),
  });
  const [, ...ours] = await entriesOf(child);
  expect(ours.length).toBeGreaterThan(0);
  for (const tenant of [single, parent, other])
    expect((await entriesOf(tenant)).map(({ id }) => id)).toEqual(ours.map(({ id }) => id));
});

test('the page at its storefront names it, and no other address and no annex of an agreement does', async () => {
  world.publish(await world.claim(parent, HOST));
  await world.verify(parent, HOST);
  world.forget();
  expect(await page(HOST)).toContain('Named AI');
  expect(await page('llm.platform.example')).not.toContain('Named AI');
  const dpa = await harness.call('GET', '/v1/documents/dpa', { key: child.key });
  expect([dpa.statusCode, dpa.body.includes('Named AI')]).toEqual([200, false]);
});

test('the record of processing has it as a recipient of sums, invoices and tickets, and of nothing else', async () => {
  const person = await harness.makePerson(child, 'owner');
  const session = await harness.signIn(person);
  const reply = await harness.call('GET', '/v1/legal/ropa', { key: session });
  const named = reply.body
    .split('\n')
    .filter((line) => line.includes('Named AI'))
    .map((line) => line.split(' | ')[0]?.replace('| ', ''));
  expect(named).toEqual(['Records of calls and their cost', 'Payments, invoices and the ledger', 'Support']);
  const own = await harness.call('GET', '/v1/legal/ropa', {
    key: await harness.signIn(await harness.makePerson(single, 'owner')),
  });
  expect(own.body).not.toContain('Named AI');
});
