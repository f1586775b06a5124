// The page of settings in a real browser: a name and its address, the rules for sign-in, a further organisation; its erasure, and
// what staff see of it.
import { expect, test, vi } from 'vitest';
import { expectAccessible, expectNoSidewaysScroll, openPage, picture, startConsole } from './browser.ts';
import { makeMember, memberState } from './staff/member.ts';

vi.setConfig({ testTimeout: 120_000 });

const { stack, browser, owner } = await startConsole();

test('an owner asks for the erasure and takes it back; asked for again, staff take it back for the owner', async () => {
  const { page, faults } = await openPage(browser, { width: 1440 }, owner);
  await page.goto(`${stack.console_url}/newcomer/live/settings`);
  const ask = async () => {
    await page.getByRole('button', { name: 'Erase the organisation' }).click();
    const dialog = page.getByRole('dialog', { name: 'Erase this organisation' });
    await dialog.getByText(/Until then an owner can take it back/).waitFor();
    await dialog.getByLabel(/Give unused credit back/).check();
    await picture(page, 'org-erase');
    await expectAccessible(page, 'erasure dialog');
    await dialog.getByRole('button', { name: 'Ask for the erasure' }).click();
    await page.getByText(/It is erased from .* on\. Until then it works as before\./).waitFor();
  };
  await ask();
  await page.getByRole('button', { name: 'Take it back' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Keep it' }).click();
  await page.getByText('Everything is deleted after a notice, but for what the law keeps.').waitFor();
  await ask();

  const member = await makeMember(stack, 'noor@svc.example', ['compliance']);
  const staff = await openPage(browser, {}, await memberState(browser, stack, member));
  await staff.page.goto(`${stack.staff_url}/erasures`);
  const row = staff.page.getByRole('row', { name: /newcomer/ });
  await row.getByText('announced').waitFor();
  await row.getByText('unused credit goes back').waitFor();
  const days = staff.page.getByLabel('Days between asking and the beginning');
  await days.fill('6');
  await staff.page.getByRole('button', { name: 'Set the notice' }).click();
  await staff.page.getByText('A whole number of days from 7 to 90.').waitFor();
  await days.fill('45');
  await staff.page.getByRole('button', { name: 'Set the notice' }).click();
  await staff.page.getByText('The notice is 45 days.').waitFor();
  await picture(staff.page, 'staff-erasures');
  await expectAccessible(staff.page, 'erasures');
  await row.getByRole('button', { name: 'Take the erasure of newcomer back' }).click();
  const back = staff.page.getByRole('dialog');
  await back.getByRole('button', { name: 'Take it back' }).click();
  await back.getByText('Say it in one line.').waitFor();
  await back.getByLabel('Reason').fill('the owner called');
  await back.getByRole('button', { name: 'Take it back' }).click();
  await staff.page.getByText('Nothing is to be erased').waitFor();
  await staff.page.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(staff.page, 'erasures');

  await page.reload();
  await page.getByRole('button', { name: 'Erase the organisation' }).waitFor();
  expect([...faults, ...staff.faults]).toEqual([]);
});

test('an owner renames the organisation, sets rules and makes a second one', async () => {
  const { page, faults } = await openPage(browser, { width: 1440 }, owner);
  await page.goto(`${stack.console_url}/newcomer/live/settings`);
  await page.getByLabel('Short name').fill('meridian');
  await page.getByRole('button', { name: 'Save the name' }).click();
  await page.getByText('The slug is taken. Choose another one.').waitFor();
  await page.getByLabel('Short name').fill('newcomers');
  await page.getByRole('button', { name: 'Save the name' }).click();
  await page.waitForURL('**/newcomers/live/settings');

  await page.getByLabel('Sessions end after, hours').fill('a day');
  await page.getByRole('button', { name: 'Save the rules' }).click();
  await page.getByText('A whole number from 1 to 720.').waitFor();
  await page.getByLabel('Sessions end after, hours').fill('24');
  await page.getByLabel('Networks that sessions may come from').fill('203.0.113.0/24');
  await page.getByRole('button', { name: 'Save the rules' }).click();
  await page.getByText(/Your own address is in none of these networks/).waitFor();
  await picture(page, 'settings-refused');
  await page.getByLabel('Networks that sessions may come from').fill('127.0.0.0/8\n::1');
  await page.getByLabel('Keys without an end expire after, days').fill('90');
  await page.getByRole('button', { name: 'Save the rules' }).click();
  await page.getByText('Saved. It counts from the next request of everybody.').waitFor();
  await page.reload();
  expect(await page.getByLabel('Keys without an end expire after, days').inputValue()).toBe('90');

  await page.getByRole('button', { name: /Organisation .* switch/ }).click();
  await page.getByRole('menuitem', { name: 'New organisation' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Northern Lights & Co.');
  expect(await dialog.getByLabel('Short name').inputValue()).toBe('northern-lights-co');
  await dialog.getByLabel('Billing country').fill('de');
  await picture(page, 'org-create');
  await expectAccessible(page, 'new organisation');
  await dialog.getByRole('button', { name: 'Make the organisation' }).click();
  await page.waitForURL('**/northern-lights-co/live/home');
  expect(faults).toEqual([]);
});

test.each([
  ['light', 1440],
  ['dark', 1440],
  ['light', 360],
  ['dark', 360],
] as const)('settings are accessible and keep to their width, %s %s', async (scheme, width) => {
  const { page, faults, context } = await openPage(browser, { scheme, width }, owner);
  await page.goto(`${stack.console_url}/meridian/live/settings`);
  await page.getByRole('button', { name: 'Save the rules' }).waitFor();
  await picture(page, `settings-${scheme}-${width}`);
  await expectAccessible(page, 'settings');
  await expectNoSidewaysScroll(page, 'settings');
  await page.goto(`${stack.console_url}/meridian/live/audit`);
  await page.getByText('auth.login').first().waitFor();
  await picture(page, `audit-${scheme}-${width}`);
  await expectAccessible(page, 'audit log');
  await expectNoSidewaysScroll(page, 'audit log');
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe('audit-meridian.csv');
  await page.goto(`${stack.console_url}/meridian/live/settings`);
  await page.getByRole('button', { name: 'Hand over' }).click();
  await page
    .getByRole('dialog')
    .getByRole('option', { name: 'vik@meridian.example' })
    .waitFor({ state: 'attached' });
  await picture(page, `handover-${scheme}-${width}`);
  await expectAccessible(page, 'hand over');
  expect(faults).toEqual([]);
  await context.close();
});
