// How the pages look in both themes, wide and narrow, full, empty, failing and offline. With CONSOLE_PICTURES set to a
// folder, a picture of each state is saved there for review.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  type Look,
  openPage,
  picture,
  startConsole,
} from './browser.ts';
import { MODEL } from './stack.ts';

const { stack, browser, owner } = await startConsole();
let request_id: string;
beforeAll(async () => {
  const response = await fetch(`${stack.gateway_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.full.live_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await response.text();
  request_id = response.headers.get('x-request-id') as string;
});

interface Stop {
  readonly name: string;
  readonly path: () => string;
  /** Resolves when the page shows what it is there for. */
  readonly ready: (page: Page) => Promise<unknown>;
}

const stops: readonly Stop[] = [
  {
    name: 'home',
    path: () => 'meridian/live/home',
    ready: (page) => page.getByRole('img', { name: /Spend by model/ }).waitFor(),
  },
  {
    name: 'requests',
    path: () => 'meridian/live/requests',
    ready: (page) => page.getByRole('link', { name: `Call ${request_id}` }).waitFor(),
  },
  {
    name: 'request',
    path: () => `meridian/live/requests/${request_id}`,
    ready: (page) => page.getByText('Recomputed in this browser').waitFor(),
  },
  {
    name: 'keys',
    path: () => 'meridian/live/keys',
    ready: (page) => page.getByRole('row', { name: /backend-prod/ }).waitFor(),
  },
  {
    name: 'key-form',
    path: () => 'meridian/live/keys?create=true',
    ready: (page) => page.getByRole('dialog').getByLabel('Name').waitFor(),
  },
  {
    name: 'credits',
    path: () => 'meridian/live/credits',
    ready: (page) => page.getByText('No top-up yet').waitFor(),
  },
  {
    name: 'credits-movements',
    path: () => 'meridian/live/credits?view=movements',
    ready: (page) =>
      page.getByRole('region', { name: 'List of movements' }).getByText('Call').first().waitFor(),
  },
  {
    name: 'credits-lots',
    path: () => 'meridian/live/credits?view=lots',
    ready: (page) =>
      page.getByRole('region', { name: 'List of lots' }).getByText('granted').first().waitFor(),
  },
  {
    name: 'credits-reconciliation',
    path: () => 'meridian/live/credits?view=reconciliation',
    ready: (page) => page.getByRole('rowheader', { name: 'Total' }).waitFor(),
  },
  {
    name: 'credits-gifts',
    path: () => 'meridian/live/credits?view=gifts',
    ready: (page) => page.getByText('No gift yet').waitFor(),
  },
  {
    name: 'credits-plan',
    path: () => 'meridian/live/credits?view=plan',
    ready: (page) => page.getByRole('region', { name: 'List of plans' }).getByText('Scale').waitFor(),
  },
  {
    name: 'add-credits',
    path: () => 'meridian/live/credits?add=true',
    ready: (page) => page.getByRole('button', { name: 'Pay $25.00' }).waitFor(),
  },
  {
    name: 'first-call',
    path: () => 'newcomer/sandbox/home',
    ready: (page) => page.getByRole('button', { name: 'Make a sandbox key' }).waitFor(),
  },
  {
    name: 'empty-requests',
    path: () => 'newcomer/sandbox/requests',
    ready: (page) => page.getByText('No sandbox call yet').waitFor(),
  },
  {
    name: 'empty-keys',
    path: () => 'newcomer/live/keys',
    ready: (page) => page.getByText('No key yet').waitFor(),
  },
  {
    name: 'sandbox-credits',
    path: () => 'newcomer/sandbox/credits',
    ready: (page) => page.getByText('$100.00').first().waitFor(),
  },
  {
    name: 'no-such-call',
    path: () => 'meridian/live/requests/01KACZ3V8S6T5R4Q3P2N1M0K9J',
    ready: (page) => page.getByText('No such call here').waitFor({ timeout: 20_000 }),
  },
];

const looks: readonly (Look & { readonly name: string })[] = [
  { name: 'light-wide', scheme: 'light', width: 1320 },
  { name: 'dark-wide', scheme: 'dark', width: 1320 },
  { name: 'light-narrow', scheme: 'light', width: 360 },
  { name: 'dark-narrow', scheme: 'dark', width: 320 },
];

test.each(looks)(
  'every page is accessible and keeps to its width, $name',
  { timeout: 300_000 },
  async (look) => {
    const { page, context, faults } = await openPage(browser, look, owner);
    for (const stop of stops) {
      const where = `${stop.name}-${look.name}`;
      await page.goto(`${stack.console_url}/${stop.path()}`);
      await stop.ready(page);
      await picture(page, where);
      await expectNoSidewaysScroll(page, where);
      await expectAccessible(page, where);
    }
    expect(faults).toEqual([]);
    await context.close();
  },
);

test.each(looks)(
  'signing in, and the key that is shown once, are accessible, $name',
  { timeout: 120_000 },
  async (look) => {
    const { page, context } = await openPage(browser, look);
    await page.goto(`${stack.console_url}/sign-in`);
    await page.getByLabel('E-mail').waitFor();
    await picture(page, `sign-in-${look.name}`);
    await expectAccessible(page, 'sign-in');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').first().waitFor();
    await picture(page, `sign-in-refused-${look.name}`);
    await expectAccessible(page, 'sign-in refused');
    await context.close();

    const inside = await openPage(browser, look, owner);
    await inside.page.goto(`${stack.console_url}/meridian/live/keys?create=true`);
    await inside.page.getByRole('dialog').getByLabel('Name').fill(`shown ${look.name}`);
    await inside.page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    await inside.page.getByText('Waiting for this key’s first call').waitFor();
    await picture(inside.page, `key-${look.name}`);
    await expectNoSidewaysScroll(inside.page, 'key');
    await expectAccessible(inside.page, 'key');
    expect(inside.faults).toEqual([]);
    await inside.context.close();
  },
);

test('a page whose data cannot be had says so and can be tried again; being offline is told at once', async () => {
  const { page, context } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/live/keys`);
  await page.getByRole('row', { name: /backend-prod/ }).waitFor();
  await page.route('**/graphql', (route) => route.abort());
  await context.setOffline(true);
  await page.getByText('You are offline.').waitFor();
  // Whether its code is there already or not, the frame stays, and the page comes when the connection does.
  await page.getByRole('link', { name: 'Credits' }).click();
  await page.waitForURL('**/credits');
  expect(await page.getByRole('navigation', { name: 'Main' }).count()).toBe(1);
  await context.setOffline(false);
  await page.unroute('**/graphql');
  await page.getByRole('region', { name: 'Available credit' }).getByText('$').first().waitFor();
  await page.route('**/graphql', (route) => route.abort());
  await page.getByRole('link', { name: 'Requests' }).click();
  await page.getByRole('alert').getByText('No answer from the server').first().waitFor();
  await picture(page, 'offline-light-wide');
  await expectAccessible(page, 'offline');
  await page.unroute('**/graphql');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('link', { name: `Call ${request_id}` }).waitFor();
  await context.close();
});

test('a page says what it is before its data is there, and nothing moves when it comes', async () => {
  const { page, context } = await openPage(browser, {}, owner);
  // Before any script there is the outline of a page.
  let run = () => {};
  const scripts = new Promise<void>((done) => {
    run = done;
  });
  await page.route('**/assets/*.js', async (route) => {
    await scripts;
    await route.continue();
  });
  let release = () => {};
  const held = new Promise<void>((done) => {
    release = done;
  });
  await page.route('**/graphql', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`${stack.console_url}/meridian/live/home`, { waitUntil: 'commit' });
  await page.locator('.boot-inside .boot-card').waitFor();
  run();
  await page.locator('.tile .skeleton').first().waitFor();
  await picture(page, 'loading-home-light-wide');
  const tile = page.getByRole('region', { name: 'Spend today' });
  // A typeface that comes late moves things by itself.
  await page.evaluate('document.fonts.ready.then(() => null)');
  const before = await tile.boundingBox();
  release();
  await page.getByRole('img', { name: /Spend by model/ }).waitFor();
  expect(await tile.boundingBox()).toEqual(before);
  await context.close();
});

test('the theme can be chosen and stays chosen', async () => {
  const { page, context } = await openPage(browser, { scheme: 'light' }, owner);
  await page.goto(`${stack.console_url}/meridian/live/keys`);
  await page.getByRole('button', { name: /Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Dark' }).click();
  const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  await expect.poll(ground).toBe('rgb(13, 14, 17)');
  await page.reload();
  await page.getByRole('row', { name: /backend-prod/ }).waitFor();
  await expect.poll(ground).toBe('rgb(13, 14, 17)');
  await context.close();
});

test('the first load of Home stays within its weight', async () => {
  const { page, context } = await openPage(browser, {}, owner);
  const loaded: string[] = [];
  page.on('response', (response) => loaded.push(new URL(response.url()).pathname));
  await page.goto(`${stack.console_url}/meridian/live/home`);
  await page.getByRole('img', { name: /Spend by model/ }).waitFor();
  const dist = new URL('../../console/dist/', import.meta.url);
  const weigh = (ending: string) =>
    loaded
      .filter((path) => path.endsWith(ending))
      .reduce((sum, path) => sum + gzipSync(readFileSync(new URL(`.${path}`, dist))).length, 0);
  expect(weigh('.js')).toBeLessThan(190_000);
  expect(weigh('.css')).toBeLessThan(30_000);
  const fonts = loaded.filter((path) => path.endsWith('.woff2'));
  expect(fonts.reduce((sum, path) => sum + readFileSync(new URL(`.${path}`, dist)).length, 0)).toBeLessThan(
    75_000,
  );
  await context.close();
});
