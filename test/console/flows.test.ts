// What people do in the console, in a real browser, against the real programs.
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { withClient } from '../support/books.ts';
import { fillSignIn, openPage, signedIn, startConsole } from './browser.ts';
import { enrol, MODEL } from './stack.ts';

vi.setConfig({ testTimeout: 90_000 });

const { stack, browser, owner } = await startConsole();

const at = (path: string) => `${stack.console_url}/${path}`;

async function call(secret: string, model = MODEL, stream = false): Promise<Response> {
  return fetch(`${stack.gateway_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hello' }] }),
  });
}

/** The amount that a page shows as "$1,284.37", in cents. */
async function centsAt(page: Page, label: string): Promise<number> {
  const text = await page.getByRole('region', { name: label }).locator('.balance-value').innerText();
  return Number(text.replaceAll(/[$,.]/g, ''));
}

test('a wrong password is refused without saying which part is wrong, a right one leads where one wanted to go', async () => {
  const { page, context, faults } = await openPage(browser);
  await page.goto(at('meridian/live/keys'));
  await page.waitForURL(/sign-in/);
  await fillSignIn(page, { ...stack.owner, password: 'not the password at all' });
  const alert = page.getByRole('alert');
  await alert.waitFor();
  expect(await alert.innerText()).toBe('The e-mail address or the password is wrong.');
  const answered = page.waitForResponse('**/v1/auth/login');
  await fillSignIn(page, { email: 'nobody@meridian.example', password: 'not the password at all' });
  await answered;
  await page.locator('button[type=submit]:not([aria-busy])').waitFor();
  await expect.poll(() => alert.innerText()).toBe('The e-mail address or the password is wrong.');
  await fillSignIn(page, stack.owner);
  await page.getByRole('heading', { name: 'Keys' }).waitFor();
  expect(page.url()).toBe(at('meridian/live/keys'));
  expect(faults).toEqual([]);
  await context.close();
});

// Which addresses count as another site: console/src/app/search.test.ts.
test('a link to sign in never leads to another site', async () => {
  const { page, context } = await openPage(browser);
  await page.goto(`${at('sign-in')}?next=${encodeURIComponent('//evil.example')}`);
  await fillSignIn(page, stack.owner);
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  expect(new URL(page.url()).origin).toBe(stack.console_url);
  await context.close();
});

test('with a second factor the code is asked for, a wrong one is refused and a right one lets in', async () => {
  const totp = await enrol(stack, stack.second);
  const { page, context } = await openPage(browser);
  await page.goto(at('sign-in'));
  await fillSignIn(page, stack.second);
  const code = page.getByLabel('Code');
  await code.waitFor();
  await expect.poll(() => page.evaluate<boolean>('document.activeElement.name === "code"')).toBe(true);
  await code.fill('000000');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('alert').waitFor();
  // A code works once, and the present one was spent on switching the factor on.
  await code.fill(totp.generate({ timestamp: Date.now() + 30_000 }));
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  await context.close();
});

test('who guesses passwords is told how long to wait', async () => {
  const { page, context } = await openPage(browser);
  await page.goto(at('sign-in'));
  const guess = { email: stack.guessed.email, password: 'guess after guess' };
  await fillSignIn(page, guess);
  await page.getByRole('alert').waitFor();
  for (let i = 0; i < 9; i++) {
    const answered = page.waitForResponse('**/v1/auth/login');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await answered;
    await page.locator('button[type=submit]:not([aria-busy])').waitFor();
  }
  await fillSignIn(page, stack.guessed);
  await page.getByText(/Too many attempts\. Try again in \d+ minutes?\./).waitFor();
  await context.close();
});

test('Home shows the balance, and the chart has the same figures as a table', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(at('meridian/live/home'));
  const tile = page.getByRole('region', { name: 'Available credit' });
  await tile.getByText('$1,284.').waitFor();
  const chart = page.getByRole('img', { name: /Spend by model, last 30 days\. \$\d/ });
  await chart.focus();
  await page.keyboard.press('ArrowLeft');
  await page
    .getByText(/^\w+ \d+: anthropic\/claude-sonnet \$/)
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Show table' }).click();
  const table = page.getByRole('region', { name: 'Spend by model, last 30 days' });
  expect(await table.getByRole('row').count()).toBeGreaterThanOrEqual(30);
  // Cost and first token are in sight where two cards do not fit side by side.
  await page.setViewportSize({ width: 1024, height: 860 });
  const calls = page.getByRole('region', { name: 'List of latest calls' });
  await expect.poll(() => calls.evaluate((frame) => frame.scrollWidth - frame.clientWidth)).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});

test('a key is shown once, works, its first call arrives by itself, and its route is explained', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(at('meridian/live/keys'));
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByText('Give it a name').waitFor();
  await dialog.getByLabel('Name').fill('search service');
  await dialog.getByLabel('Daily budget').fill('12.50');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('dialog', { name: 'Copy your key now' }).waitFor();
  const secret = await dialog.locator('.secret code').innerText();
  expect(secret).toMatch(/^svc-live-/);
  await dialog.getByText('$12.50 a day, hard').waitFor();
  const snippet = await dialog.locator('.code').innerText();
  expect(snippet).toContain(`base_url="${stack.gateway_url}/v1"`);
  expect(snippet).not.toContain(secret);

  await page.keyboard.press('Escape');
  await dialog.getByText('The key can’t be shown again.').waitFor();
  await dialog.getByRole('button', { name: 'Keep it open' }).click();
  await dialog.getByRole('button', { name: 'Copy the key' }).click();
  await expect.poll(() => page.evaluate<string>('navigator.clipboard.readText()')).toBe(secret);

  const response = await call(secret, MODEL, true);
  expect(response.status).toBe(200);
  await response.text();
  await dialog.getByText('The first call has arrived').waitFor();
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  await dialog.waitFor({ state: 'detached' });

  const kept = await page.evaluate<string>(
    'document.documentElement.outerHTML + location.href + JSON.stringify({...localStorage}) + JSON.stringify({...sessionStorage})',
  );
  expect(kept.includes(secret)).toBe(false);
  await page.getByRole('row', { name: /search service/ }).waitFor();

  const id = response.headers.get('x-request-id') as string;
  await page.goto(at(`meridian/live/requests/${id}`));
  await page
    .getByText(/beta answered after acme could not be reached( twice)?\. The failed attempts? cost nothing\./)
    .waitFor();
  await page.getByText('fell back once').waitFor();
  await page
    .getByText('Recomputed in this browser from the units above. Equal to what the ledger charged.')
    .waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('calls appear on Requests by themselves, wait while it is paused, and filters stand in the address', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  const secret = stack.full.live_key;
  await page.goto(at('meridian/live/requests'));
  await page.getByText('Listening', { exact: true }).waitFor();
  const rows = page.getByRole('region', { name: 'Requests' }).getByRole('row');
  const first = await call(secret);
  await page.getByRole('link', { name: `Call ${first.headers.get('x-request-id')}` }).waitFor();

  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  const second = await call(secret);
  const link = page.getByRole('link', { name: `Call ${second.headers.get('x-request-id')}` });
  await page.getByRole('button', { name: '1 new' }).waitFor();
  expect(await link.count()).toBe(0);
  await page.keyboard.press('.');
  await link.waitFor();

  await page.getByLabel('Model', { exact: true }).selectOption('google/gemini-flash');
  await expect.poll(() => page.url()).toContain('model=google%2Fgemini-flash');
  await expect
    .poll(async () => (await rows.allInnerTexts()).slice(1).every((text) => text.includes('gemini')))
    .toBe(true);
  await page.getByLabel('Status').selectOption('cancelled');
  await page.getByText('No call matches these filters').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await link.click();
  await page.waitForURL(`**/requests/${second.headers.get('x-request-id')}`);
  expect(faults).toEqual([]);
  await context.close();
});

test('a key in use is revoked by typing its name, and stops', async () => {
  const { page, context } = await openPage(browser, {}, owner);
  const secret = (stack.full.keys[1] as { secret: string }).secret;
  expect((await call(secret)).status).toBe(200);
  await page.goto(at('meridian/live/keys'));
  await page.getByRole('button', { name: 'Actions for batch-night' }).click();
  await page.getByRole('menuitem', { name: 'Revoke…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('1 call with it in the last hour.').waitFor();
  await dialog.getByRole('button', { name: 'Revoke batch-night' }).click();
  await dialog.getByText('The name does not match.').waitFor();
  await dialog.getByLabel('Type batch-night to confirm').fill('batch-night');
  await dialog.getByRole('button', { name: 'Revoke batch-night' }).click();
  await page.getByRole('row', { name: /batch-night.*revoked/ }).waitFor();
  await expect.poll(async () => (await call(secret)).status).toBe(401);
  await context.close();
});

test('a top-up through the checkout of the rail is booked and the balance grows by what was promised', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(at('meridian/live/credits'));
  await page.getByRole('region', { name: 'Available credit' }).getByText('$').first().waitFor();
  const before = await centsAt(page, 'Available credit');
  await page.getByRole('button', { name: 'Add credits' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Amount in USD').fill('1');
  await dialog.getByText('At least $5.00.').waitFor();
  expect(await dialog.getByRole('button', { name: 'Pay', exact: true }).isDisabled()).toBe(true);
  await dialog.getByRole('button', { name: '$50', exact: true }).click();
  await dialog.getByRole('button', { name: 'Pay $50.00' }).click();

  await page.waitForURL(`${stack.rails.url}/**`);
  await page.getByRole('button', { name: 'Pay $50.00' }).click();
  await page.waitForURL(/\/meridian\/live\/credits\?.*topup=tup_/);
  await page.getByText('$50.00 of credit added').waitFor();
  await expect.poll(() => centsAt(page, 'Available credit')).toBe(before + 5_000);
  await page.getByRole('region', { name: 'List of top-ups' }).locator('.status.ok').waitFor();
  await page.reload();
  await page.getByText('$50.00 of credit added').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('who comes back without paying is told that nothing was charged', async () => {
  const { page, context } = await openPage(browser, {}, owner);
  await page.goto(at('meridian/live/credits?add=true'));
  await page.getByRole('dialog').getByRole('button', { name: 'Pay $25.00' }).click();
  await page.waitForURL(`${stack.rails.url}/**`);
  await page.getByRole('button', { name: 'Close without paying' }).click();
  await page.getByText('You came back without paying $25.00. Nothing was charged.').waitFor();
  await context.close();
});

test('an Indian organisation is asked for its state before Pay, once, and the tax follows', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await withClient(stack.database_url, (client) =>
    client.query(
      `update org set billing_country = 'IN', billing_currency = 'INR', billing_address = null where slug = 'newcomer'`,
    ),
  );
  await page.goto(at('newcomer/live/credits?add=true'));
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('State').selectOption({ label: 'Karnataka' });
  expect(await dialog.getByRole('button', { name: /^Pay/ }).count()).toBe(0);
  await dialog.getByLabel('GSTIN').fill('29AABCU9603R1ZX');
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await dialog.getByText('The GSTIN is not valid.').waitFor();
  await dialog.getByLabel('GSTIN').fill('');
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await dialog.getByLabel('Amount in INR').fill('1000');
  await dialog.getByRole('button', { name: 'Pay ₹1,180.00' }).waitFor();
  await page.reload();
  await dialog.getByLabel('Amount in INR').waitFor();
  await withClient(stack.database_url, (client) =>
    client.query(`update org set billing_country = 'US', billing_currency = 'USD' where slug = 'newcomer'`),
  );
  await page.reload();
  await dialog.getByLabel('Currency').selectOption('EUR');
  await dialog.getByLabel('Amount in EUR').waitFor();
  await dialog.getByLabel('Currency').selectOption('USD');
  await dialog.getByLabel('Amount in USD').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('a payment is told although the stream was cut, as a restart of the server does', async () => {
  const { page, context } = await openPage(browser, {}, owner);
  let streams = 0;
  await page.route('**/graphql', (route) => {
    if (route.request().headers()['accept'] !== 'text/event-stream' || ++streams > 1) return route.continue();
    return route.fulfill({ contentType: 'text/event-stream', body: 'event: complete\n\n' });
  });
  await page.goto(at('meridian/live/credits?add=true'));
  await page.getByRole('dialog').getByRole('button', { name: 'Pay $25.00' }).click();
  await page.waitForURL(`${stack.rails.url}/**`);
  const checkout = page.url();
  await page.getByRole('button', { name: 'Close without paying' }).click();
  await page.getByText('You came back without paying $25.00.').waitFor();
  await expect.poll(() => streams, { timeout: 10_000 }).toBe(2);
  const elsewhere = await context.newPage();
  await elsewhere.goto(checkout);
  await elsewhere.getByRole('button', { name: 'Pay $25.00' }).click();
  await elsewhere.getByText('$25.00 of credit added').waitFor();
  // A page that nobody looks at rests.
  await page.bringToFront();
  await page.getByText('$25.00 of credit added').waitFor();
  await context.close();
});

test('the first minute of an empty organisation: a key, a call, and its row', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(at('newcomer/sandbox/home'));
  await page.getByRole('button', { name: 'Make a sandbox key' }).click();
  await page.getByText('Sandbox key ready').waitFor();
  expect(await page.locator('.secret code').innerText()).toMatch(/^svc-test-/);
  await page.getByRole('button', { name: 'Send one for me' }).click();
  await page.getByRole('region', { name: 'Your call' }).getByText('echo').waitFor();
  await page.getByRole('button', { name: 'Go to Home' }).click();
  await page.getByRole('region', { name: 'Sandbox credit' }).getByText('$').first().waitFor();
  // The figures of the day were read before the call: they follow it by themselves.
  await page.getByRole('region', { name: 'Calls today' }).getByText('1', { exact: true }).waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('a key is made by keyboard alone, and the focus comes back to where it was', async () => {
  const { page, context } = await openPage(browser, {}, owner);
  await page.goto(at('meridian/live/home'));
  await page.getByRole('region', { name: 'Available credit' }).getByText('$').first().waitFor();
  const focused = () =>
    page.evaluate<string>('document.activeElement?.textContent || document.activeElement?.name || ""');
  await page.keyboard.press('Tab');
  expect(await focused()).toBe('Skip to the page');
  await page.keyboard.press('g');
  await page.keyboard.press('k');
  await page.getByRole('heading', { name: 'Keys' }).waitFor();
  const button = page.getByRole('button', { name: 'Create key' });
  await button.waitFor();
  for (let i = 0; i < 4 && (await focused()) !== 'Create key'; i++) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await expect.poll(focused).toBe('name');
  await page.getByLabel('Project').locator('option').first().waitFor({ state: 'attached' });
  await page.keyboard.type('made by hand');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Copy your key now' }).waitFor();
  await expect.poll(focused).toBe('Copy');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  for (let i = 0; i < 12 && (await focused()) !== 'I have stored it'; i++) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await expect.poll(focused).toBe('Create key');
  await page.getByRole('row', { name: /made by hand/ }).waitFor();
  await context.close();
});

test('a viewer sees the figures and is offered nothing that would be refused', async () => {
  const state = await signedIn(browser, stack, stack.viewer);
  const { page, context } = await openPage(browser, {}, state);
  await page.goto(at('meridian/live/keys'));
  await page.getByText('Your role, viewer, may see keys').waitFor();
  expect(await page.getByRole('button', { name: /Create key|Actions for/ }).count()).toBe(0);
  await page.goto(at('newcomer/live/home'));
  await page.getByText('There is nothing at this address').waitFor();
  await context.close();
});

test('when the session ends under an open page, one signs in over it and the page is still there', async () => {
  const state = await signedIn(browser, stack, stack.owner);
  const { page, context } = await openPage(browser, {}, state);
  await page.goto(at('meridian/live/keys'));
  await page.getByRole('row', { name: /backend-prod/ }).waitFor();
  await context.clearCookies();
  await page.getByRole('link', { name: 'Credits' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.waitFor();
  await dialog.getByLabel('Password', { exact: true }).fill(stack.owner.password);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('region', { name: 'Available credit' }).getByText('$').first().waitFor();
  await context.close();
});
