// People in a real browser: an account from its form to the first organisation, a forgotten password; an invitation from
// the mail to the first page, a role, and the end of a membership.
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { startChallengeSim } from '../sim/challenge.ts';
import { withClient } from '../support/books.ts';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  fillSignIn,
  openPage,
  picture,
  startConsole,
} from './browser.ts';
import { makeMember, memberState } from './staff/member.ts';

vi.setConfig({ testTimeout: 120_000 });

const sim = await startChallengeSim({ provider: 'turnstile', secret: 'secret of the site' });
const { stack, browser, owner } = await startConsole({
  ...{ SVC_SIGNUP: 'open', SVC_CHALLENGE: 'turnstile', SVC_CHALLENGE_SITE_KEY: 'site' },
  ...{ SVC_CHALLENGE_SECRET: 'secret of the site', SVC_CHALLENGE_URL: sim.url },
});

const EMAIL = 'ravi@newcomers.example';
const TOKEN = `svc-inv-${'A'.repeat(43)}`;

/** The mail goes to nobody here, so the link gets a token that the test knows. */
function knowLink(): Promise<unknown> {
  return withClient(stack.database_url, (client) =>
    client.query('update invitation set hash = sha256(convert_to($1, $2)) where email = $3', [
      ...[TOKEN, 'UTF8', EMAIL],
    ]),
  );
}

test('an owner invites a person, who makes an account and is in; then gets a role, and is removed', async () => {
  const { page, faults } = await openPage(browser, { width: 1440 }, owner);
  await page.goto(`${stack.console_url}/meridian/live/members`);
  await page.getByRole('button', { name: 'Invite' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('E-mail').fill('nobody');
  await dialog.getByRole('button', { name: 'Send the invitation' }).click();
  await dialog.getByText('This is not an e-mail address.').waitFor();
  await dialog.getByLabel('E-mail').fill(EMAIL);
  await dialog.getByLabel('Role').selectOption('viewer');
  await picture(page, 'members-invite');
  await expectAccessible(page, 'invite');
  await dialog.getByRole('button', { name: 'Send the invitation' }).click();
  await page.getByText(`An invitation is on its way to ${EMAIL}.`).waitFor();
  const invited = page.getByRole('region', { name: 'List of invitations' }).getByRole('row', { name: EMAIL });
  await invited.getByText('pending').waitFor();

  await knowLink();
  const guest = await openPage(browser, { width: 360, scheme: 'dark' });
  await guest.page.goto(`${stack.console_url}/invitation#${TOKEN}`);
  await guest.page.getByRole('heading', { name: /Join/ }).waitFor();
  await guest.page.getByLabel('Your name').waitFor();
  expect(guest.page.url()).not.toContain(TOKEN);
  await picture(guest.page, 'invitation-register');
  await expectAccessible(guest.page, 'invitation');
  await expectNoSidewaysScroll(guest.page, 'invitation');
  await guest.page.getByLabel('Your name').fill('Ravi');
  await guest.page.getByLabel('Password', { exact: true }).fill('seven quiet rivers');
  await guest.page.getByRole('button', { name: 'Make the account' }).click();
  await guest.page.getByText('Accept the terms to go on.').waitFor();
  await guest.page.getByLabel(/I accept the terms/).check();
  await guest.page.getByRole('button', { name: 'Make the account' }).click();
  await guest.page.waitForURL('**/meridian/live/home');
  await guest.page.goto(`${stack.console_url}/meridian/live/members`);
  await guest.page.getByRole('row', { name: EMAIL }).getByText('viewer').waitFor();
  expect(await guest.page.getByRole('button', { name: 'Invite' }).count()).toBe(0);
  await picture(guest.page, 'members-viewer');

  await page.reload();
  const row = page.getByRole('region', { name: 'List of members' }).first().getByRole('row', { name: EMAIL });
  await row.getByRole('button', { name: `Role of ${EMAIL}` }).click();
  await dialog.getByLabel('Role').selectOption('billing');
  await dialog.getByRole('button', { name: 'Change the role' }).click();
  await row.getByText('billing').waitFor();
  await picture(page, 'members-owner');
  await row.getByRole('button', { name: `Remove ${EMAIL}` }).click();
  await picture(page, 'members-remove');
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await page.getByText(`${EMAIL} was removed.`).waitFor();
  await guest.page.reload();
  await guest.page.getByLabel('E-mail').waitFor();
  expect([...faults, ...guest.faults]).toEqual([]);
});

test.each([
  ['light', 1440],
  ['dark', 1440],
  ['light', 360],
  ['dark', 360],
] as const)('members are accessible and keep to their width, %s %s', async (scheme, width) => {
  const { page, faults, context } = await openPage(browser, { scheme, width }, owner);
  await page.goto(`${stack.console_url}/meridian/live/members`);
  await page.getByRole('region', { name: 'List of invitations' }).getByText('accepted').waitFor();
  await page.getByText('this one').first().waitFor();
  await picture(page, `members-${scheme}-${width}`);
  await expectAccessible(page, 'members');
  await expectNoSidewaysScroll(page, 'members');
  expect(faults).toEqual([]);
  await context.close();
});

const secret = (prefix: string) => `svc-${prefix}-${'B'.repeat(43)}`;

/** As `knowLink`, for the newest link of `table`. */
function knowNewest(
  table: 'registration' | 'password_reset' | 'access_request',
  token: string,
): Promise<unknown> {
  return withClient(stack.database_url, (client) =>
    client.query(
      `update ${table} set hash = sha256(convert_to($1, 'UTF8'))
        where hash = (select hash from ${table} order by created_at desc limit 1)`,
      [token],
    ),
  );
}

/** The provider's script is not fetched from its address; this one draws a button in its place. */
const SCRIPT = `window.turnstile = {
  render(place, { callback }) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'I am a person';
    button.onclick = async () => callback(await window.solve());
    place.append(button);
    return 'widget';
  },
  reset() {},
};`;

async function standIn(page: Page): Promise<void> {
  await page.exposeFunction('solve', () => sim.solve());
  await page.route('https://challenges.cloudflare.com/**', (route) =>
    route.fulfill({ contentType: 'text/javascript', body: SCRIPT }),
  );
}

test('a person makes an account and an organisation, forgets the password and sets a new one', async () => {
  const { page, faults } = await openPage(browser, { width: 360, scheme: 'dark' });
  const look = async (name: string) => {
    await picture(page, `account-${name}`);
    await expectAccessible(page, name);
    await expectNoSidewaysScroll(page, name);
  };
  await standIn(page);
  await page.goto(`${stack.console_url}/sign-in`);
  await page.getByRole('link', { name: 'Make an account' }).click();
  await page.getByLabel('Your name').fill('Mira');
  await page.getByLabel('E-mail').fill('mira@alone.example');
  await page.getByLabel('Password', { exact: true }).fill('short');
  await page.getByLabel(/I accept the terms/).check();
  await page.getByRole('button', { name: 'Make the account' }).click();
  await page.getByText('Show first that you are a person.').waitFor();
  await page.getByRole('button', { name: 'I am a person' }).click();
  await page.getByRole('button', { name: 'Make the account' }).click();
  await page.getByText('A password has 12 to 128 characters.').waitFor();
  await look('register');
  await page.getByLabel('Password', { exact: true }).fill('seven quiet rivers');
  await page.getByRole('button', { name: 'I am a person' }).click();
  await page.getByRole('button', { name: 'Make the account' }).click();
  await page.getByText('A mail is on its way to mira@alone.example.').waitFor();
  await look('sent');
  await knowNewest('registration', secret('ver'));
  await page.goto(`${stack.console_url}/verify-email#${secret('ver')}`);
  await page.getByRole('button', { name: 'Confirm the address' }).waitFor();
  expect(page.url()).not.toContain(secret('ver'));
  await page.getByLabel('Password').fill('seven quiet rivers');
  await look('verify');
  await page.getByRole('button', { name: 'Confirm the address' }).click();
  await page.getByText('mira@alone.example is confirmed, and the account is ready.').waitFor();
  await page.getByRole('link', { name: 'Sign in' }).click();

  await page.getByRole('link', { name: 'Forgotten password' }).click();
  // The page of signing in has an address too, and stays until this one is there.
  await page.getByRole('heading', { name: 'Forgotten password' }).waitFor();
  await page.getByLabel('E-mail').fill('mira@alone.example');
  await look('forgot');
  await page.getByRole('button', { name: 'Send the mail' }).click();
  await page.getByText('If there is an account with this address').waitFor();
  await knowNewest('password_reset', secret('rst'));
  await page.goto(`${stack.console_url}/reset-password#${secret('rst')}`);
  await page.getByLabel('New password').fill('eight loud mountains');
  await look('reset');
  await page.getByRole('button', { name: 'Set the password' }).click();
  await page.getByText('The password is set').waitFor();
  await page.getByRole('link', { name: 'Sign in' }).click();
  await fillSignIn(page, { email: 'mira@alone.example', password: 'eight loud mountains' });
  await page.getByRole('button', { name: 'Make an organisation' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Alone Ltd');
  await dialog.getByLabel('Billing country').fill('IN');
  await look('first-organisation');
  await dialog.getByRole('button', { name: 'Make the organisation' }).click();
  await page.waitForURL('**/alone-ltd/live/home');
  // The password that was too short; a browser reports refusals by itself.
  expect(faults).toEqual([expect.stringContaining('400 (Bad Request)')]);
});

test('a person asks for access, staff approve, and the link of the mail makes the account', async () => {
  const guest = await openPage(browser, { width: 360, scheme: 'light' });
  await standIn(guest.page);
  await guest.page.goto(`${stack.console_url}/request-access`);
  await guest.page.getByLabel('Your name').fill('Noor');
  await guest.page.getByLabel('E-mail').fill('noor@alone.example');
  await guest.page.getByLabel('Company').fill('Alone');
  await guest.page.getByRole('button', { name: 'Ask for access' }).click();
  await guest.page.getByText('Enter what it is for.').waitFor();
  await guest.page.getByLabel('What for').fill('Answers to customers in nine languages.');
  await guest.page.getByLabel(/I accept the terms/).check();
  await guest.page.getByRole('button', { name: 'I am a person' }).click();
  await picture(guest.page, 'access-ask');
  await expectAccessible(guest.page, 'request-access');
  await expectNoSidewaysScroll(guest.page, 'request-access');
  await guest.page.getByRole('button', { name: 'Ask for access' }).click();
  await guest.page.getByText('We read your request and answer by mail.').waitFor();

  const member = await makeMember(stack, 'desk@svc.example', ['support']);
  const state = await memberState(browser, stack, member);
  for (const look of [
    { width: 360, scheme: 'dark' },
    { width: 1440, scheme: 'light' },
  ] as const) {
    const { page, context } = await openPage(browser, look, state);
    await page.goto(`${stack.staff_url}/access`);
    await page.getByRole('heading', { name: 'Noor, Alone' }).waitFor();
    await picture(page, `access-staff-${look.width}`);
    await expectAccessible(page, 'staff access');
    await expectNoSidewaysScroll(page, 'staff access');
    await context.close();
  }
  const { page, faults } = await openPage(browser, { width: 1440, scheme: 'dark' }, state);
  await page.goto(`${stack.staff_url}/access`);
  await page.getByRole('button', { name: 'Approve noor@alone.example' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await dialog.getByText('Say it in one line.').waitFor();
  await dialog.getByLabel('Reason').fill('a partner of ours');
  await picture(page, 'access-approve');
  await expectAccessible(page, 'approve');
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('Nobody asks for access.').waitFor();

  await knowNewest('access_request', secret('act'));
  await guest.page.goto(`${stack.console_url}/activate#${secret('act')}`);
  await guest.page.getByRole('heading', { name: 'Welcome, Noor' }).waitFor();
  expect(guest.page.url()).not.toContain(secret('act'));
  await guest.page.getByLabel('Password', { exact: true }).fill('seven quiet rivers');
  await picture(guest.page, 'access-activate');
  await expectAccessible(guest.page, 'activate');
  await guest.page.getByRole('button', { name: 'Make the account' }).click();
  await guest.page.getByText('Your account is ready. Sign in as noor@alone.example.').waitFor();
  expect([...faults, ...guest.faults]).toEqual([]);
});

test('the pages for people who are not signed in are legible in light on a wide screen', async () => {
  const { page, context } = await openPage(browser, { width: 1440, scheme: 'light' });
  await standIn(page);
  for (const path of [
    'sign-in',
    'register',
    'request-access',
    'verify-email',
    'forgot-password',
    'reset-password',
  ]) {
    const response = await page.goto(`${stack.console_url}/${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    // The widget's script from its own address is let in there alone.
    const has_challenge = ['register', 'request-access'].includes(path);
    const policy = response?.headers()['content-security-policy'] ?? '';
    expect([path, policy.includes('https://challenges.cloudflare.com')]).toEqual([path, has_challenge]);
    expect([path, policy.includes('require-trusted-types-for')]).toEqual([path, !has_challenge]);
    await picture(page, `outside-${path}`);
    await expectAccessible(page, path);
  }
  await context.close();
});
