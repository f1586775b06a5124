// The storefront of a reseller in a real browser: its colour as everybody will see it before it is saved, a domain with what is
// wrong with it, and the sign-in page at its own address.
import { createPool } from '@svc/core/db/index.ts';
import { findOrg } from '@svc/core/orgs/index.ts';
import { setOrgKindOperation } from '@svc/core/resellers/index.ts';
import { expect, test, vi } from 'vitest';
import { makeTopup } from '../../registry/topup-rows.ts';
import { startNameServer } from '../../sim/dns.ts';
import { SamlForge } from '../../sim/saml/forge.ts';
import { acme } from '../../sim/saml/keys.ts';
import { withClient } from '../../support/books.ts';
import { staffContext } from '../../support/provision.ts';
import { expectAccessible, fillSignIn, lookAround, openPage, picture, startConsole } from '../browser.ts';
import { pressByKeyboard, tabTo } from '../keyboard.ts';

vi.setConfig({ testTimeout: 120_000 });
// Browsers take every name below it for this machine (RFC 6761).
const BASE = 'shops.localhost';
const names = await startNameServer();
names.zone.set(`A ${BASE}`, ['93.184.216.34']);
const { stack, browser, owner } = await startConsole({
  SVC_STOREFRONT_BASE: BASE,
  SVC_DNS_SERVERS: names.address,
  // Nobody listens there.
  SVC_ACME_DIRECTORY_URL: 'https://127.0.0.1:1/dir',
});
const pool = createPool(stack.database_url, { max: 1, application: 'svc-test' });
await setOrgKindOperation.run(staffContext(pool), {
  ...{ id: stack.full.org_id, kind: 'reseller', reason: 'a contract' },
});
await pool.end();
const area = `${stack.console_url}/meridian/live/reseller?view=storefront`;

test('a colour that cannot be read is shown as it will be, and the storefront stands at its address once it is saved', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(area);
  const name = page.getByLabel('Name', { exact: true });
  await tabTo(page, name);
  await name.fill('Acme <AI> & Söhne');
  const color = page.getByLabel('Colour');
  await color.fill('#ffdd00');
  const preview = page.getByRole('region', { name: 'Preview' });
  await preview.getByText('Light: #806e02').waitFor();
  await preview.getByText('Dark: #ffdd00').waitFor();
  await preview.getByText('The colour is moved as far as it must be').waitFor();
  await lookAround(page, 'reseller-storefront');
  await page.getByLabel('Page of your terms').fill('javascript:alert(1)');
  await page.getByRole('button', { name: 'Save storefront' }).click();
  await page.locator('.field', { hasText: 'Page of your terms' }).getByRole('alert').waitFor();
  await page.getByLabel('Page of your terms').fill('https://acme.example/terms');
  await page.getByLabel('Address for support').fill('help@acme.example');
  await pressByKeyboard(page, page.getByRole('button', { name: 'Save storefront' }));
  await page.getByText('Saved. Customers see it within a minute.').waitFor();

  const shop = await openPage(browser);
  const address = new URL(stack.console_url);
  await shop.page.goto(`http://meridian.${BASE}:${address.port}/sign-in`);
  await shop.page.getByText('Acme <AI> & Söhne').waitFor();
  expect(await shop.page.getByRole('link', { name: 'help@acme.example' }).count()).toBe(1);
  const ground = shop.page.evaluate<string>(
    `getComputedStyle(document.querySelector('button[type=submit]')).backgroundColor`,
  );
  expect(await ground).toBe('rgb(128, 110, 2)');
  await expectAccessible(shop.page, 'storefront-sign-in');
  await picture(shop.page, 'storefront-sign-in');
  const other = await shop.page.goto(`http://nobody.${BASE}:${address.port}/sign-in`);
  expect(other?.status()).toBe(421);
  expect([...faults, ...shop.faults.filter((fault) => !fault.includes('421'))]).toEqual([]);
  await shop.context.close();
  await context.close();
});

test('a domain says what to publish, what is wrong and who mends it, and is proved once it is right', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(area);
  const field = page.getByLabel('Add a domain');
  await field.fill('*.acme.example');
  await page.keyboard.press('Enter');
  await page.getByText('A wildcard is no domain. Add each name by itself.').waitFor();
  await field.fill('AI.acme.example.');
  await page.keyboard.press('Enter');
  await page.getByText('TXT _svc-storefront.ai.acme.example').waitFor();
  names.zone.set('NS acme.example', ['ns.acme.example']);
  await pressByKeyboard(page, page.getByRole('button', { name: 'Verify ai.acme.example' }));
  const checks = page.getByRole('list', { name: 'Checks of ai.acme.example' });
  await checks.getByText('Publish the TXT record at this name.').waitFor();
  await checks.getByText('Add a CNAME to the expected name.').waitFor();
  await lookAround(page, 'reseller-domain-wrong');
  const token = await page.locator('.shop-record code').first().textContent();
  names.zone.set('TXT _svc-storefront.ai.acme.example', [token as string]);
  names.zone.set('CNAME ai.acme.example', [BASE]);
  await pressByKeyboard(page, page.getByRole('button', { name: 'Verify ai.acme.example' }));
  await page.getByText('proved', { exact: true }).waitFor();
  await checks.getByText('It leads here', { exact: true }).waitFor();
  expect(await checks.getByText('Expected').count()).toBe(0);
  await expect
    .poll(
      async () => {
        await page.reload();
        await page.getByText('Certificate', { exact: true }).waitFor();
        return page.getByText('none yet', { exact: true }).count();
      },
      { timeout: 30_000, interval: 1_000 },
    )
    .toBe(1);
  await page.getByText('We ask again by ourselves.').waitFor();
  await page.getByText('The authority gives no answer: ECONNREFUSED').waitFor();
  await lookAround(page, 'reseller-domain-certificate');
  await withClient(stack.database_url, (client) =>
    client.query(
      `update storefront_certificate
          set chain = '', private_key = '', issuer = 'Example CA', not_before = now(), not_after = '2100-01-01',
              fault = null, fault_detail = null, failed_at = null, next_at = '2099-01-01'`,
    ),
  );
  await page.reload();
  await page.getByText('valid', { exact: true }).waitFor();
  await picture(page, 'reseller-domain-valid');
  await pressByKeyboard(page, page.getByRole('button', { name: 'Remove ai.acme.example' }));
  const dialog = page.getByRole('dialog', { name: 'Remove ai.acme.example?' });
  await expectAccessible(page, 'reseller-domain-remove');
  await pressByKeyboard(page, dialog.getByRole('button', { name: 'Remove' }));
  await page.getByText('No domain of your own yet').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('a customer sees the name and the colour of its reseller at our address too, and its other organizations do not', async () => {
  await withClient(stack.database_url, (client) =>
    client.query(`update org set kind = 'child', parent_org_id = $2 where slug = $1`, [
      ...[stack.empty_slug, stack.full.org_id],
    ]),
  );
  const { page, context, faults } = await openPage(browser, {}, owner);
  const accent = () => page.evaluate<string>('document.documentElement.style.getPropertyValue("--accent")');
  await page.goto(`${stack.console_url}/${stack.empty_slug}/live/home`);
  await page.locator('.rail-name').getByText('Acme <AI> & Söhne').waitFor();
  await expect.poll(accent).toBe('light-dark(#806e02, #ffdd00)');
  expect(await page.content()).not.toMatch(/LLM gateway<\/span>/);
  await page.goto(`${stack.console_url}/meridian/live/home`);
  await page.locator('.rail-name').getByText('LLM gateway').waitFor();
  expect(await accent()).toBe('');
  expect(faults).toEqual([]);
  await context.close();
});

test('a provider that was given our addresses stays at them until its owner ticks that it has those of the storefront', async () => {
  const [child] = await withClient(stack.database_url, async (client) => {
    const { rows } = await client.query(`select id from org where slug = $1`, [stack.empty_slug]);
    const claim = [rows[0].id, 'moves.example'];
    await client.query(
      `insert into sso_domain (org_id, domain, token, created_at) values ($1, $2, 'svc-verify=' || repeat('a', 32), now())`,
      claim,
    );
    await client.query(
      `insert into sso_domain_proof (org_id, domain, verified_at, checked_at) values ($1, $2, now(), now())`,
      claim,
    );
    return rows as { id: string }[];
  });
  const ask = async (method: string, path: string, token: string, body: object) => {
    const reply = await fetch(`${stack.gateway_url}${path}`, {
      ...{ method, body: JSON.stringify(body) },
      headers: {
        'content-type': 'application/json',
        ...(token === '' ? {} : { authorization: `Bearer ${token}`, 'x-svc-org': child?.id as string }),
      },
    });
    expect(reply.status, await reply.clone().text()).toBe(200);
    return (await reply.json()) as { token: string };
  };
  const { token } = await ask('POST', '/v1/auth/login', '', { ...stack.owner, transport: 'bearer' });
  const metadata_xml = new SamlForge('https://id.moves.example', acme).metadata();
  await ask('PUT', '/v1/org/sso', token, {
    ...{ kind: 'saml', display_name: 'Moves ID', config: { metadata_xml } },
  });

  const { page, context, faults } = await openPage(browser);
  const shop = `http://meridian.${BASE}:${new URL(stack.console_url).port}`;
  const at = (host: string) => page.getByText(`${host}/v1/auth/sso/${stack.empty_slug}/acs`).first();
  await page.goto(`${shop}/${stack.empty_slug}/live/sign-on`);
  await fillSignIn(page, stack.owner);
  await at(stack.gateway_url).waitFor();
  const dialog = page.getByRole('dialog');
  const tick = dialog.getByLabel(/The provider now has the same addresses at meridian\.shops\.localhost/);
  // A change without the tick moves nothing.
  await page.getByRole('button', { name: 'Change…' }).click();
  await dialog.getByLabel('Name').fill('Moves');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page
    .getByText(/^Moves https:/)
    .first()
    .waitFor();
  await at(stack.gateway_url).waitFor();
  await page.getByRole('button', { name: 'Change…' }).click();
  expect(await tick.isChecked()).toBe(false);
  await tabTo(page, tick);
  await page.keyboard.press('Space');
  await picture(page, 'storefront-move-here');
  await expectAccessible(page, 'storefront-move-here');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await at(`meridian.${BASE}:${new URL(stack.gateway_url).port}`).waitFor();
  // There it is asked no more, and nowhere else.
  await page.getByRole('button', { name: 'Change…' }).click();
  await dialog.getByLabel('Name').waitFor();
  expect(await tick.count()).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});

test('a sender of mails names its two records, and mails come from it once both are published', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(area);
  await page.getByText('Mails to your customers come from our address.').waitFor();
  await page.getByLabel('Name before the @').fill('billing');
  const domain = page.getByLabel('Domain of the sender');
  await domain.fill('co.uk');
  await page.keyboard.press('Enter');
  await page.locator('.field', { hasText: 'Domain of the sender' }).getByRole('alert').waitFor();
  await domain.fill('mail.acme.example');
  await page.keyboard.press('Enter');
  await page.getByText('records are not seen yet').waitFor();
  const sender = page.locator('.shop-domain', { hasText: 'billing@mail.acme.example' });
  const [dkim, bounce] = await sender.locator('.shop-record code').allTextContents();
  await lookAround(page, 'reseller-sender');
  names.zone.set('TXT svc1._domainkey.mail.acme.example', [dkim as string]);
  await pressByKeyboard(page, page.getByRole('button', { name: 'Verify the sender' }));
  await sender.getByText('published').waitFor();
  await sender.getByText('records are not seen yet').waitFor();
  names.zone.set('CNAME bounce.mail.acme.example', [bounce as string]);
  await pressByKeyboard(page, page.getByRole('button', { name: 'Verify the sender' }));
  await sender.getByText('mails come from it').waitFor();
  await pressByKeyboard(page, page.getByRole('button', { name: 'Remove the sender…' }));
  await pressByKeyboard(page, page.getByRole('dialog').getByRole('button', { name: 'Remove' }));
  await page.getByText('Mails to your customers come from our address.').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('who sells is said once, with what GST would refuse named at its field, and documents of customers are saved by number', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/live/reseller?view=invoices`);
  await page.getByText('No invoice yet').waitFor();
  await page.getByLabel('Name of the company').fill('Acme Cloud Private Limited');
  await page.getByLabel('Address', { exact: true }).fill('3 Mill Lane\nBengaluru 560003');
  await page.getByLabel('State', { exact: true }).fill('29');
  await page.getByLabel('Series').fill('acm');
  await page.getByLabel('GSTIN').fill('27AAPFU0939F1ZV');
  await pressByKeyboard(page, page.getByRole('button', { name: 'Save', exact: true }));
  await page.locator('.field', { hasText: 'GSTIN' }).first().getByRole('alert').waitFor();
  await page.getByLabel('GSTIN').fill('29AABCU9603R1ZJ');
  await pressByKeyboard(page, page.getByRole('button', { name: 'Save', exact: true }));
  await page.getByText('Saved. Your customers buy from you.').waitFor();
  const pool = createPool(stack.database_url, { max: 1, application: 'svc-test' });
  const org = await findOrg(pool, stack.empty_slug);
  await makeTopup(staffContext(pool), { org } as never);
  await pool.end();
  await page.reload();
  const list = page.getByRole('region', { name: 'Invoices of customers' });
  const row = list.getByRole('row', { name: /^ACM\/\d\d-\d\d\/00001/ });
  await row.waitFor();
  await lookAround(page, 'reseller-invoices');
  const saving = page.waitForEvent('download');
  await pressByKeyboard(page, row.getByRole('button', { name: /^PDF/ }));
  expect((await saving).suggestedFilename()).toMatch(/^ACM-\d\d-\d\d-00001\.pdf$/);
  expect(faults).toEqual([]);
  await context.close();
});
