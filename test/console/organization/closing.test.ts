// Closing an organisation by its owner in a real browser: who is offered it, the typed name, and what goes on after it.
import { expect, test, vi } from 'vitest';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  fourLooks,
  openPage,
  picture,
  signedIn,
  startConsole,
} from '../browser.ts';
import { MODEL } from '../stack.ts';

vi.setConfig({ testTimeout: 120_000 });

const { stack, browser, owner } = await startConsole();

const call = () =>
  fetch(`${stack.gateway_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.full.live_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hello' }] }),
  });

test('nobody but an owner is offered to close it', async () => {
  const { page, context, faults } = await openPage(browser, {}, await signedIn(browser, stack, stack.second));
  await page.goto(`${stack.console_url}/meridian/live/settings`);
  await page.getByText('Owners and admins change these.').waitFor();
  expect(await page.getByRole('button', { name: 'Close the organisation' }).count()).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});

test('the question is accessible and keeps to its width, in both themes', async () => {
  for (const look of fourLooks) {
    const { page, context, faults } = await openPage(browser, look, owner);
    await page.goto(`${stack.console_url}/meridian/live/settings`);
    await page.getByRole('button', { name: 'Close the organisation' }).click();
    const dialog = page.getByRole('dialog', { name: /^Close / });
    await dialog.getByText('All keys stop at once').waitFor();
    const where = `close-org-${look.scheme}-${look.width}`;
    await picture(page, where);
    await expectAccessible(page, where);
    await expectNoSidewaysScroll(page, where);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(faults).toEqual([]);
    await context.close();
  }
  expect((await call()).status).toBe(200);
});

test('an owner closes it by keyboard with its name typed: calls stop, and invoices can be read after the next sign-in', async () => {
  const { page, context, faults } = await openPage(browser, { width: 360 }, owner);
  await page.goto(`${stack.console_url}/meridian/live/settings`);
  const open = page.getByRole('button', { name: 'Close the organisation' });
  await open.focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: /^Close / });
  const typed = dialog.getByLabel('Type meridian to close it');
  await expect.poll(() => typed.evaluate((it) => it === it.ownerDocument.activeElement)).toBe(true);
  await page.keyboard.type('meridien');
  await page.keyboard.press('Enter');
  await dialog.getByRole('alert').waitFor();
  await picture(page, 'close-org-refused');
  expect((await call()).status).toBe(200);
  await typed.fill('meridian');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/meridian/live/invoices');
  await expect.poll(async () => (await call()).status).toBe(401);
  expect(await (await call()).json()).toMatchObject({
    error: { code: 'invalid_api_key', details: { reason: 'revoked' } },
  });

  const again = await openPage(browser, { width: 360 }, await signedIn(browser, stack, stack.owner));
  await again.page.goto(`${stack.console_url}/meridian/live/invoices`);
  await again.page.getByText('for 90 days owners can read').waitFor();
  await picture(again.page, 'closed-org');
  await expectAccessible(again.page, 'closed organisation');
  await expectNoSidewaysScroll(again.page, 'closed organisation');
  expect(again.faults).toEqual([]);
  await again.context.close();
  expect(faults.filter((fault) => !fault.includes('403'))).toEqual([]);
  await context.close();
});
