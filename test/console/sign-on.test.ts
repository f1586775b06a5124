// Single sign-on in a browser, from the first domain to the first person who comes that way.
import { expect, test } from 'vitest';
import { startNameServer } from '../sim/dns.ts';
import { startProvider } from '../sim/id-provider.ts';
import { attribute } from '../sim/saml/forge.ts';
import { startSamlServer } from '../sim/saml/server.ts';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  fourLooks,
  openPage,
  picture,
  startConsole,
} from './browser.ts';

const names = await startNameServer();
const { stack, browser, owner } = await startConsole({
  SVC_DNS_SERVERS: names.address,
  SVC_ALLOW_INSECURE_WEBHOOKS: '1',
  SVC_EGRESS_ALLOW: '127.0.0.1',
});
const provider = await startProvider({
  redirect_uri: `${stack.gateway_url}/v1/auth/sso/meridian/callback`,
});

const saml = `${stack.gateway_url}/v1/auth/sso/meridian`;
const saml_provider = await startSamlServer({ entity_id: `${saml}/metadata`, acs_url: `${saml}/acs` });

const path = 'meridian/live/sign-on';

test('an owner proves a domain, connects a provider, tries it out and switches it on', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/live/home`);
  await page.getByRole('link', { name: 'Single sign-on' }).click();
  await page.getByText('Add a mail domain first').waitFor();
  await page.getByRole('button', { name: 'Add a domain' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Domain').fill('co.uk');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await dialog.getByText('This is no domain that an organization can own').waitFor();
  await dialog.getByLabel('Domain').fill('meridian.example');
  await dialog.getByRole('button', { name: 'Add' }).click();
  const row = page.getByRole('row').filter({ hasText: 'meridian.example' });
  await row.getByRole('button', { name: 'Verify meridian.example' }).click();
  await page.getByText('There is no TXT record at that name yet').waitFor();
  const token = await row.getByText(/^svc-verify=/).textContent();
  names.zone.set('TXT _svc-challenge.meridian.example', [token as string]);
  await row.getByRole('button', { name: 'Verify meridian.example' }).click();
  await page.getByText('meridian.example is proved.').waitFor();

  await page.getByRole('button', { name: 'Connect a provider' }).click();
  await dialog.getByText(`${stack.gateway_url}/v1/auth/sso/meridian/callback`).waitFor();
  await dialog.getByLabel('Name').fill('Meridian ID');
  await dialog.getByLabel('Issuer').fill(provider.issuer);
  await dialog.getByLabel('Client ID').fill(provider.client_id);
  await dialog.getByLabel('Client secret').fill(provider.client_secret);
  await dialog.getByLabel('Groups and their roles').fill('Platform = emperor');
  await dialog.getByRole('button', { name: 'Save as draft' }).click();
  await dialog.getByText('emperor is none of').waitFor();
  await dialog.getByLabel('Groups and their roles').fill('Platform = admin');
  await picture(page, 'sign-on-connect');
  await dialog.getByRole('button', { name: 'Save as draft' }).click();
  const on = page.getByRole('button', { name: 'Switch on' });
  await on.waitFor();
  expect(await on.isDisabled()).toBe(true);

  provider.person = { sub: 'tess', email: 'tess@meridian.example', name: 'Tess', groups: ['Platform'] };
  await page.getByRole('link', { name: 'Try it out' }).click();
  await page.getByText('tess@meridian.example; groups: Platform; role: admin').waitFor();
  await page.getByRole('button', { name: 'Switch on' }).click();
  await page.getByText('Switched on.').waitFor();
  await page.getByRole('button', { name: 'Refuse passwords' }).click();
  await page.getByText('An owner must have a second factor first').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('an owner makes a token for the directory, sees it once, sees what was asked with it, and ends it', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/${path}`);
  await page.getByRole('button', { name: 'Make a token' }).click();
  const dialog = page.getByRole('dialog');
  const token = (await dialog.getByText(/^svc_scim_/).textContent()) as string;
  await dialog.getByText(`${stack.gateway_url}/scim/v2`).waitFor();
  const ask = (who: string) =>
    fetch(`${stack.gateway_url}/scim/v2/Users/${who}`, { headers: { authorization: `Bearer ${token}` } });
  expect((await ask('nobody')).status).toBe(404);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByText('404').waitFor();
  expect(await page.content()).not.toContain(token);
  await page.getByRole('button', { name: `End ...${token.slice(-4)}` }).click();
  await dialog.getByRole('button', { name: 'End it' }).click();
  await page.getByText('has ended.').waitFor();
  expect((await ask('nobody')).status).toBe(401);
  await page.getByRole('button', { name: 'Make a token' }).click();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByText('The token was made.').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('a person signs in at the provider and comes to the page they wanted; others are told to use a password', async () => {
  const { page, context, faults } = await openPage(browser);
  await page.goto(`${stack.console_url}/meridian/live/keys`);
  await page.getByRole('button', { name: 'Use single sign-on' }).click();
  await page.getByLabel('E-mail').fill('somebody@elsewhere.example');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('There is no single sign-on for this address').waitFor();
  await picture(page, 'sign-on-sign-in');
  provider.person = { sub: 'kim', email: 'kim@meridian.example', name: 'Kim' };
  await page.getByLabel('E-mail').fill('kim@meridian.example');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL('**/meridian/live/keys');
  await page.getByRole('heading', { name: 'Keys' }).waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('an owner changes to SAML by a file of metadata, tries it out, and people sign in over it', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/${path}`);
  await page.getByRole('button', { name: 'Change…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Protocol').selectOption('SAML 2.0');
  await dialog.getByText(`${saml}/acs`).waitFor();
  await dialog.getByText(`${saml}/metadata`).waitFor();
  await dialog.getByLabel('Metadata address').fill('https://10.0.0.1/metadata');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('leads to an address that is not public').waitFor();
  await dialog.getByLabel('Metadata address').fill('');
  const buffer = Buffer.from(saml_provider.metadata());
  await dialog
    .getByLabel('or a file with it')
    .setInputFiles({ name: 'metadata.xml', mimeType: 'text/xml', buffer });
  await expect
    .poll(() => dialog.getByLabel('or the metadata itself').inputValue())
    .toContain('EntityDescriptor');
  await picture(page, 'sign-on-saml');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('given once').waitFor();
  const on = page.getByRole('button', { name: 'Switch on' });
  expect(await on.isDisabled()).toBe(true);
  const groups = attribute('groups', 'Platform');
  saml_provider.said = {
    email: 'sam@meridian.example',
    audience: 'https://elsewhere.example',
    attributes: groups,
  };
  await page.getByRole('link', { name: 'Try it out' }).click();
  await page.getByText('audience_wrong').waitFor();
  saml_provider.said = { email: 'sam@meridian.example', attributes: groups };
  await page.getByRole('link', { name: 'Try it out' }).click();
  await page.getByText('sam@meridian.example; groups: Platform; role: admin').waitFor();
  await on.click();
  await page.getByText('Switched on.').waitFor();
  expect(faults).toEqual([]);
  await context.close();

  const guest = await openPage(browser);
  await guest.page.goto(`${stack.console_url}/meridian/live/keys`);
  await guest.page.getByRole('button', { name: 'Use single sign-on' }).click();
  await guest.page.getByLabel('E-mail').fill('sam@meridian.example');
  await guest.page.keyboard.press('Enter');
  await guest.page.waitForURL('**/meridian/live/keys');
  await guest.page.getByRole('heading', { name: 'Keys' }).waitFor();
  expect(guest.faults).toEqual([]);
  await guest.context.close();
});

const looks = fourLooks;

test.each(looks)('the page looks right in $scheme at $width pixels', async ({ scheme, width }) => {
  const { page, context, faults } = await openPage(browser, { scheme, width }, owner);
  await page.goto(`${stack.console_url}/${path}`);
  await page.getByText('Last trial').waitFor();
  await expectAccessible(page, `${scheme} ${width}`);
  await expectNoSidewaysScroll(page, `${scheme} ${width}`);
  await picture(page, `sign-on-${scheme}-${width}`);
  await page.getByRole('button', { name: 'Change…' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByText('ACS URL').waitFor();
  await expectAccessible(page, `dialog ${scheme} ${width}`);
  await expectNoSidewaysScroll(page, `dialog ${scheme} ${width}`);
  await picture(page, `sign-on-dialog-${scheme}-${width}`);
  expect(faults).toEqual([]);
  await context.close();
});
