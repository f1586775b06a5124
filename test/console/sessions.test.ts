// What a console page must survive: too many wrong codes, another tab, the back button, more keys than one page shows,
// and changes of keys and of the account.
import { createPool, type Pool } from '@svc/core/db/index.ts';
import { createKey } from '@svc/core/keys/index.ts';
import { findOrg, findProject, type Org, type Project } from '@svc/core/orgs/index.ts';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { launchChromium } from '../support/chromium.ts';
import { staffContext } from '../support/provision.ts';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  fillSignIn,
  openPage,
  picture,
  signedIn,
} from './browser.ts';
import { enrol, MODEL, startStack } from './stack.ts';

vi.setConfig({ testTimeout: 90_000 });

const stack = await startStack();
const browser = await launchChromium();

const at = (path: string) => `${stack.console_url}/${path}`;

async function answerCode(page: Page, code: string): Promise<void> {
  await page.getByLabel('Code').fill(code);
  const answered = page.waitForResponse('**/v1/auth/login/totp');
  await page.getByRole('button', { name: 'Continue' }).click();
  await answered;
}

test('who has guessed the code out is asked for the password again, and gets in with both', async () => {
  const totp = await enrol(stack, stack.second);
  const { page, context } = await openPage(browser);
  await page.goto(at('sign-in'));
  await fillSignIn(page, stack.second);
  for (let guess = 1; guess <= 5; guess++) {
    await answerCode(page, '000000');
    if (guess < 5) await page.locator('button[type=submit]:not([aria-busy])').waitFor();
  }
  await page.getByText('Enter your password again.').waitFor();
  await fillSignIn(page, stack.second);
  await answerCode(page, totp.generate({ timestamp: Date.now() + 30_000 }));
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  await context.close();
});

function call(secret: string): Promise<Response> {
  return fetch(`${stack.gateway_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hello' }] }),
  });
}

test('a key is edited, and rotated with a time in which both work', async () => {
  const { page, context, faults } = await openPage(browser, {}, await signedIn(browser, stack, stack.owner));
  const secret = (stack.full.keys[1] as { secret: string }).secret;
  await page.goto(at('meridian/live/keys'));
  const act = async (item: string) => {
    await page.getByRole('button', { name: 'Actions for batch-night' }).first().click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  await act('Edit…');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Daily budget').fill('75.50');
  await dialog.getByRole('button', { name: 'Save changes' }).click();
  await page.getByRole('row', { name: /batch-night.*of \$75\.50/ }).waitFor();
  await act('Rotate…');
  await dialog.getByRole('button', { name: 'Rotate batch-night' }).click();
  await page.getByRole('dialog', { name: 'Copy your key now' }).waitFor();
  // What the organisation calls most: a live key that names a simulated model would show nothing.
  await dialog.locator('.code').getByText('anthropic/claude-sonnet').waitFor();
  const fresh = await dialog.locator('.secret code').innerText();
  expect((await call(fresh)).status).toBe(200);
  expect((await call(secret)).status).toBe(200);
  await dialog.getByRole('link', { name: 'See its route' }).waitFor();
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('row', { name: /batch-night.*rotating/ }).waitFor();
  const made = page.getByRole('row', { name: /batch-night.*active/ });
  expect(await made.getByRole('cell').nth(3).innerText()).toBe('just now');
  expect(faults).toEqual([]);
  await context.close();
});

test('a tab goes on by itself after one has signed out and in again in another', async () => {
  const state = await signedIn(browser, stack, stack.owner);
  const { page, context } = await openPage(browser, {}, state);
  await page.goto(at('meridian/live/keys'));
  await page.getByRole('row', { name: /backend-prod/ }).waitFor();
  const other = await context.newPage();
  await other.goto(at('meridian/live/home'));
  await other.getByRole('button', { name: /^Account of/ }).click();
  await other.getByRole('menuitem', { name: 'Sign out' }).click();
  await fillSignIn(other, stack.owner);
  await other.getByRole('navigation', { name: 'Main' }).waitFor();
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Name').fill('made in the first tab');
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  await page.getByText('Copy your key now').waitFor();
  await context.close();
});

async function withPool<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = createPool(stack.database_url, { max: 2, application: 'svc-test' });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

/** Makes live keys and returns the secret of the first. */
function makeKeys(names: readonly string[]): Promise<string> {
  return withPool(async (pool) => {
    const context = staffContext(pool);
    const { org_id, project_id } = stack.full;
    const org = (await findOrg(pool, org_id)) as Org;
    const project = (await findProject(pool, { org_id, id: project_id })) as Project;
    const secrets: string[] = [];
    for (const name of names) {
      const options = {
        name,
        scopes: ['inference'] as const,
        environment: 'live' as const,
        expires_at: null,
      };
      const made = await context.transaction((context) => createKey(context, org, project, options));
      secrets.push(made.secret);
    }
    return secrets[0] as string;
  });
}

async function callWith(secret: string): Promise<void> {
  const called = await fetch(`${stack.gateway_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  expect(called.status).toBe(200);
}

test('a key beyond the first page is revoked by the name that the page shows, and stands there as revoked', async () => {
  const secret = await makeKeys(['the  first', ...Array.from({ length: 55 }, (_, i) => `of many ${i}`)]);
  await callWith(secret);
  const { page, context } = await openPage(browser, {}, await signedIn(browser, stack, stack.owner));
  await page.goto(at('meridian/live/keys'));
  await page.getByRole('button', { name: 'Load more' }).click();
  await page.getByRole('button', { name: 'Actions for the first' }).click();
  await page.getByRole('menuitem', { name: 'Revoke…' }).click();
  await page.getByText('1 call with it in the last hour.').waitFor();
  await page.getByLabel('Type the first to confirm').fill('the first');
  await page.getByRole('button', { name: 'Revoke the first' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('row', { name: /the first.*revoked/ }).waitFor();
  await context.close();
});

test('who comes back from the checkout by the back button can pay, and sees the top-up that was started', async () => {
  const keeping = await launchChromium({ without: ['--disable-back-forward-cache'] });
  const { page, context } = await openPage(keeping, {}, await signedIn(keeping, stack, stack.owner));
  await page.goto(at('meridian/live/credits?add=true'));
  await page.getByRole('button', { name: 'Pay $25.00' }).click();
  await page.waitForURL(/\/pay\//);
  const checkout = page.url();
  // The page comes back as it was left, so there is no load to wait for.
  await page.evaluate('setTimeout(() => history.back())');
  await page.waitForURL(/\/credits/, { waitUntil: 'commit' });
  await page.getByRole('row', { name: /pending/ }).waitFor();
  await page.getByRole('button', { name: 'Pay $25.00' }).click();
  await page.waitForURL(checkout);
  await context.close();
});

test('the longest names without a space fit page and dialog', async () => {
  const long = 'W'.repeat(120);
  await makeKeys([long]);
  await withPool(async (pool) => {
    for (const table of ['org', 'project', 'person']) {
      await pool.query({ name: `test.${table}`, text: `update ${table} set name = $1`, values: [long] });
    }
  });
  const state = await signedIn(browser, stack, stack.owner);
  for (const width of [360, 1320]) {
    const { page, context } = await openPage(browser, { width }, state);
    await page.goto(at('meridian/live/home'));
    await page.getByRole('heading', { name: long }).waitFor();
    await expectNoSidewaysScroll(page, `home at ${width}`);
    await page.goto(at('meridian/live/keys'));
    await page.getByRole('button', { name: `Actions for ${long}` }).click();
    await page.getByRole('menuitem', { name: 'Revoke…' }).click();
    const over = () => page.getByRole('dialog').evaluate((dialog) => dialog.scrollWidth - dialog.clientWidth);
    await expect.poll(over).toBe(0);
    expect(await page.getByRole('button', { name: `Revoke ${long}` }).isEnabled()).toBe(true);
    await context.close();
  }
});

test('who signs in over a page of an organisation that is not theirs is led to their own', async () => {
  const { page, context } = await openPage(browser, {}, await signedIn(browser, stack, stack.owner));
  await page.goto(at('newcomer/sandbox/credits'));
  await page.getByRole('region', { name: 'Sandbox credit' }).getByText('$').first().waitFor();
  await context.clearCookies();
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.getByLabel('E-mail').fill(stack.viewer.email);
  await dialog.getByLabel('Password', { exact: true }).fill(stack.viewer.password);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('There is nothing at this address').waitFor();
  await page.getByRole('link', { name: 'Go to Home' }).click();
  await page.waitForURL(/\/meridian\//);
  await context.close();
});

test('a call is told by the name of its key among more than a hundred, and a chosen key hides calls of others', async () => {
  const early = await makeKeys(['early bird', ...Array.from({ length: 101 }, (_, i) => `later ${i}`)]);
  await callWith(early);
  const { page, context } = await openPage(browser, {}, await signedIn(browser, stack, stack.owner));
  await page.goto(at('meridian/live/requests'));
  await page.getByRole('cell', { name: 'early bird' }).first().waitFor();
  await page.getByText('Listening', { exact: true }).waitFor();
  const before = await page.getByRole('cell', { name: 'early bird' }).count();
  await callWith(early);
  await expect.poll(() => page.getByRole('cell', { name: 'early bird' }).count()).toBe(before + 1);
  await page.getByLabel('Key', { exact: true }).selectOption('later 100');
  await page.getByText('No call matches these filters').waitFor();
  await context.close();
});

test('a second factor is set up in the account, and a changed password ends the other sessions', async () => {
  const elsewhere = await signedIn(browser, stack, stack.viewer);
  const { page, context, faults } = await openPage(browser, {}, await signedIn(browser, stack, stack.viewer));
  await page.goto(at('meridian/live/profile'));
  await page.getByLabel('Name').fill('Vera Rao');
  await page.getByLabel('E-mail').fill('vera@elsewhere.example');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('A mail is on its way to vera@elsewhere.example.').waitFor();
  await picture(page, 'profile-you');
  await expectAccessible(page, 'profile');
  await page.getByRole('button', { name: 'Set up…' }).click();
  const dialog = page.getByRole('dialog');
  const secret = (await dialog.locator('.secret code').innerText()).replaceAll(' ', '');
  await dialog.getByLabel('Code that the app shows').fill('000000');
  await dialog.getByRole('button', { name: 'Put it in force' }).click();
  await dialog.getByText('This code is wrong or was used already.').waitFor();
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  await dialog.getByLabel('Code that the app shows').fill(totp.generate());
  await dialog.getByRole('button', { name: 'Put it in force' }).click();
  await dialog.locator('.recovery li').first().waitFor();
  expect(await dialog.locator('.recovery li').count()).toBe(10);
  await dialog.getByRole('button', { name: 'I have stored them' }).click();
  await page.getByText('in force').waitFor();

  await page.getByLabel('Present password').fill(stack.viewer.password);
  await page.getByLabel('New password', { exact: true }).fill('four quiet rivers run');
  await page.getByLabel('New password again').fill('four quiet rivers');
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByText('The two are not the same.').waitFor();
  await page.getByLabel('New password again').fill('four quiet rivers run');
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByText('Changed; other sessions have ended').waitFor();
  const other = await openPage(browser, {}, elsewhere);
  await other.page.goto(at('meridian/live/home'));
  await other.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(faults.filter((text) => !text.includes('400'))).toEqual([]);
  await Promise.all([context.close(), other.context.close()]);
});
