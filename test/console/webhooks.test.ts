// Webhooks in a real browser, by keyboard: an endpoint is added, tried, rotated, switched off and on, and its deliveries
// are looked at and sent again. The receiver is a real server that verifies what it gets.
import type { Locator } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { withClient } from '../support/books.ts';
import { startReceiver, withStatus } from '../webhooks/receiver.ts';
import { LOCAL } from '../webhooks/world.ts';
import { expectAccessible, lookAround, openPage, signedIn, startConsole } from './browser.ts';

vi.setConfig({ testTimeout: 120_000 });

const { stack, browser, owner } = await startConsole({ ...LOCAL });
const receiver = await startReceiver();
const list = `${stack.console_url}/meridian/live/webhooks`;

/** Presses a control as who has no mouse does. */
async function press(control: Locator, key = 'Enter'): Promise<void> {
  await control.focus();
  await control.press(key);
}

test('an endpoint is added by keyboard, its secret is shown once, and what it signs with it verifies', async () => {
  const { page, faults } = await openPage(browser, {}, owner);
  await page.goto(list);
  await page.getByRole('heading', { name: 'No endpoint yet' }).waitFor();
  await lookAround(page, 'webhooks-none');
  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog');
  await press(dialog.getByRole('button', { name: 'Add endpoint' }));
  await dialog.getByText('Give the address that is called.').waitFor();
  await dialog.getByLabel('Address').fill('https://10.0.0.1/hooks');
  await press(dialog.getByRole('button', { name: 'Add endpoint' }));
  await dialog.getByText('The address').waitFor();
  await dialog.getByLabel('Address').fill(receiver.url);
  await dialog.getByLabel('Words about it').fill('billing');
  await press(dialog.getByRole('radio', { name: 'These' }), 'Space');
  await dialog.getByRole('checkbox', { name: /^topup\.completed/ }).waitFor();
  await press(dialog.getByRole('checkbox', { name: /^topup\.completed/ }), 'Space');
  await press(dialog.getByRole('checkbox', { name: /^key\.revoked/ }), 'Space');
  await lookAround(page, 'webhook-create');
  await press(dialog.getByRole('button', { name: 'Add endpoint' }));
  await dialog.getByText('Copy the secret now').waitFor();
  const secret = await dialog.locator('.secret code').innerText();
  expect(secret).toMatch(/^whsec_\S{32}$/);
  await page.keyboard.press('Escape');
  expect(await dialog.locator('.secret code').innerText()).toBe(secret);
  await expectAccessible(page, 'secret');
  await press(dialog.getByRole('button', { name: 'I have stored it' }));
  await page.getByText('topup.completed, key.revoked').waitFor();
  await lookAround(page, 'webhooks');
  expect(await page.content()).not.toContain(secret);

  await press(page.getByRole('link', { name: receiver.url }));
  await page.getByRole('heading', { name: 'Nothing was sent yet' }).waitFor();
  await page.keyboard.press('t');
  await page.getByText('The test event was delivered: HTTP 204.').waitFor();
  await page.getByRole('button', { name: 'test.ping' }).waitFor();
  expect(receiver.verified(secret).map(({ type }) => type)).toEqual(['test.ping']);
  expect(await page.evaluate(`JSON.stringify([{ ...localStorage }, { ...sessionStorage }])`)).not.toContain(
    secret,
  );
  expect(faults).toEqual([]);
});

test('a delivery opens with what was sent and met, and is sent again; the log shows one state alone', async () => {
  const { page, faults } = await openPage(browser, {}, owner);
  receiver.answer(withStatus(500));
  await page.goto(list);
  await press(page.getByRole('link', { name: receiver.url }));
  await page.getByRole('button', { name: 'test.ping' }).waitFor();
  await page.keyboard.press('t');
  await page.getByText('The test event was not delivered: HTTP 500.').waitFor();
  await page.getByLabel('State', { exact: true }).selectOption('failed');
  await expect.poll(() => page.getByRole('button', { name: 'test.ping' }).count()).toBe(1);
  await page.getByRole('cell', { name: 'HTTP 500' }).waitFor();
  await press(page.getByRole('button', { name: 'test.ping' }));
  const dialog = page.getByRole('dialog');
  await dialog.getByText('"message": "ping"').waitFor();
  expect(await dialog.getByRole('listitem').allInnerTexts()).toEqual([expect.stringContaining('HTTP 500')]);
  await lookAround(page, 'webhook-delivery');
  receiver.answer(withStatus(204));
  const before = receiver.received.length;
  await press(dialog.getByRole('button', { name: 'Send again' }));
  await page.getByText('It is sent again, as a new delivery.').waitFor();
  await expect.poll(() => page.getByRole('cell', { name: 'delivered' }).count(), { timeout: 20_000 }).toBe(2);
  await page.getByLabel('State', { exact: true }).selectOption('delivered');
  await expect
    .poll(() => page.getByRole('button', { name: 'test.ping' }).count(), { timeout: 20_000 })
    .toBe(2);
  const ids = receiver.received.slice(before - 1).map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(1);
  await page.getByLabel('State', { exact: true }).selectOption('dropped');
  await page.getByRole('heading', { name: 'None in this state' }).waitFor();
  expect(faults).toEqual([]);
});

/** Something happens to the organization; the programs turn it into a delivery. */
async function happens(topic: string): Promise<void> {
  await withClient(stack.database_url, (client) =>
    client.query(
      `insert into outbox (org_id, topic, payload, created_at) values ($1, $2, '{"n": 1}', now())`,
      [stack.full.org_id, topic],
    ),
  );
}

test('the log moves by itself, is read by state and by event, and the address keeps what was chosen', async () => {
  const { page, faults } = await openPage(browser, {}, owner);
  await page.goto(list);
  await press(page.getByRole('link', { name: receiver.url }));
  await page.getByText('Listening').waitFor();
  const rows = () => page.getByRole('region', { name: 'What was sent' }).locator('tbody tr').allInnerTexts();
  const before = (await rows()).length;
  await happens('topup.completed');
  // Nothing is pressed: it comes, and is seen to be taken.
  await expect
    .poll(async () => (await rows())[0], { timeout: 20_000 })
    .toMatch(/topup\.completed\s+delivered\s+HTTP 204/);
  expect(await rows()).toHaveLength(before + 1);

  await page.getByLabel('Event', { exact: true }).selectOption('topup.completed');
  await expect.poll(rows).toEqual([expect.stringContaining('topup.completed')]);
  await page.getByLabel('State', { exact: true }).selectOption('queued');
  await page.getByRole('heading', { name: 'None of this event' }).waitFor();
  expect(new URL(page.url()).search).toBe('?state=queued&event=topup.completed');

  // It comes into what was chosen when it is to be tried again, and goes when it was taken.
  // The receiver asks for so long that the row is seen before the next attempt, which is the last within minutes.
  receiver.answer(withStatus(503, { 'retry-after': '12' }));
  await happens('key.revoked');
  await happens('topup.completed');
  const tried = page.getByRole('cell', { name: 'HTTP 503' });
  await tried.waitFor();
  expect(await rows()).toEqual([expect.stringMatching(/topup\.completed\s+queued\s+HTTP 503\s+1/)]);
  receiver.answer(withStatus(204));
  await page.getByRole('heading', { name: 'None of this event' }).waitFor({ timeout: 60_000 });

  await page.getByLabel('State', { exact: true }).selectOption('delivered');
  await expect.poll(async () => (await rows()).length).toBe(2);
  await page.reload();
  await expect.poll(async () => (await rows()).length).toBe(2);
  expect(await page.getByLabel('State', { exact: true }).inputValue()).toBe('delivered');
  expect(await page.getByLabel('Event', { exact: true }).inputValue()).toBe('topup.completed');
  await page.getByLabel('State', { exact: true }).selectOption('');
  await page.getByLabel('Event', { exact: true }).selectOption('');
  await expect.poll(() => new URL(page.url()).search).toBe('');
  await expect.poll(async () => (await rows()).length).toBe(before + 3);
  await lookAround(page, 'webhook-log');
  expect(faults).toEqual([]);
});

test('a replaced secret signs on for a day beside the new one; an endpoint that is off says why and goes on again', async () => {
  const { page, faults } = await openPage(browser, {}, owner);
  await page.goto(list);
  await press(page.getByRole('link', { name: receiver.url }));
  await press(page.getByRole('button', { name: 'Replace secret' }));
  const dialog = page.getByRole('dialog');
  await press(dialog.getByRole('button', { name: 'Replace the secret' }));
  await dialog.getByText('Copy the secret now').waitFor();
  const secret = await dialog.locator('.secret code').innerText();
  await press(dialog.getByRole('button', { name: 'I have stored it' }));
  await page.getByText('and the secret before it, until').waitFor();
  await page.keyboard.press('t');
  await page.getByText('The test event was delivered: HTTP 204.').waitFor();
  const last = receiver.received.at(-1);
  expect(String(last?.headers['webhook-signature']).split(' ')).toHaveLength(2);
  await lookAround(page, 'webhook');

  receiver.answer(withStatus(410));
  await page.keyboard.press('t');
  await page.getByText('Your server answered 410 Gone').waitFor();
  receiver.answer(withStatus(204));
  await press(page.getByRole('button', { name: 'Switch on again' }));
  await page.getByText('It is switched on.').waitFor();
  await press(page.getByRole('button', { name: 'Switch off' }));
  await page.getByText('Somebody switched it off.').waitFor();
  await lookAround(page, 'webhook-off');
  await press(page.getByRole('button', { name: 'Switch on again' }));
  await page.getByText('It is switched on.').waitFor();
  await page.keyboard.press('e');
  await press(dialog.getByRole('radio', { name: 'All' }), 'Space');
  await press(dialog.getByRole('button', { name: 'Save' }));
  await page.getByText('The endpoint was changed.').waitFor();
  expect(await page.content()).not.toContain(secret);
  await press(page.getByRole('button', { name: 'Delete', exact: true }));
  await press(dialog.getByRole('button', { name: 'Delete it' }));
  await page.getByRole('heading', { name: 'No endpoint yet' }).waitFor();
  expect(faults).toEqual([]);
});

test('a viewer is told that endpoints are not for his role', async () => {
  const { page, faults } = await openPage(browser, {}, await signedIn(browser, stack, stack.viewer));
  await page.goto(list);
  await page.getByText('Your role, viewer, may not see or change endpoints.').waitFor();
  expect(await page.getByRole('button', { name: 'Add endpoint' }).count()).toBe(0);
  await expectAccessible(page, 'viewer');
  expect(faults).toEqual([]);
});
