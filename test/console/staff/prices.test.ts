// A price that one member of staff proposes and another one confirms, in two browsers: amounts typed, what they come to read twice.
import { expect, test, vi } from 'vitest';
import { expectAccessible, expectNoSidewaysScroll, openPage, picture, startConsole } from '../browser.ts';
import { makeMember, memberState } from './member.ts';

vi.setConfig({ testTimeout: 120_000 });
const { stack, browser } = await startConsole();
const first = await memberState(browser, stack, await makeMember(stack, 'cato@svc.example', ['catalog']));
const second = await memberState(browser, stack, await makeMember(stack, 'fina@svc.example', ['finance']));
const reader = await memberState(browser, stack, await makeMember(stack, 'sara@svc.example', ['support']));
const MODEL = 'gpt-4o-mini';

test('a price is proposed by keyboard after its effect was read; faults stand at their fields', async () => {
  const { page, context, faults } = await openPage(browser, {}, first);
  await page.goto(`${stack.staff_url}/prices?q=${MODEL}`);
  const button = page.getByRole('button', { name: /^Propose a price of openai\/gpt-4o-mini at / }).first();
  await button.focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  const input = dialog.getByLabel('input', { exact: true });
  await expect.poll(() => input.inputValue()).toMatch(/^\d/);
  const before = await input.inputValue();
  await input.fill('two');
  await page.keyboard.press('Enter');
  await dialog.getByText('An amount such as 2.50, with at most six places.').waitFor();
  await dialog.getByText('Say why, in one line.').waitFor();
  await picture(page, 'staff-price-faults');
  await expectAccessible(page, 'faults of a price');
  await input.fill(`${Number(before) * 2}`);
  await dialog.getByLabel('Reason').fill('the provider charges more');
  const from = await dialog.getByLabel('From').inputValue();
  await dialog.getByLabel('From').fill(new Date(Date.now() + 86_400_000).toISOString().slice(0, 10));
  await dialog.getByRole('button', { name: 'See what it comes to' }).click();
  await dialog.getByText(/A higher price is announced 7 days ahead/).waitFor();
  await dialog.getByLabel('From').fill(from);
  await page.keyboard.press('Enter');
  await dialog.getByRole('row', { name: /^input .* \+100 %/ }).waitFor();
  await dialog.getByText('at the proposed prices').waitFor();
  await picture(page, 'staff-price-read');
  await expectAccessible(page, 'what a price comes to');
  await dialog.getByRole('button', { name: 'Back' }).click();
  expect(await input.inputValue()).toBe(`${Number(before) * 2}`);
  await dialog.getByRole('button', { name: 'See what it comes to' }).click();
  await dialog.getByRole('button', { name: 'Propose it' }).click();
  await page.getByText(/waits under Approvals for a second person/).waitFor();
  await page.goto(`${stack.staff_url}/approvals`);
  await page.getByText('You asked for this; somebody else approves it.').waitFor();
  await page.getByRole('row', { name: /^input .* \+100 %/ }).waitFor();
  expect(await page.getByRole('button', { name: /^Approve/ }).count()).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});

test('another one reads the same and confirms it, in the dark on a phone; then it is listed as coming', async () => {
  const { page, context, faults } = await openPage(browser, { scheme: 'dark', width: 360 }, second);
  await page.goto(`${stack.staff_url}/approvals`);
  await page.getByText('“the provider charges more”').waitFor();
  await page.getByText('at the proposed prices').waitFor();
  await expectNoSidewaysScroll(page, 'a proposed price at 360');
  await expectAccessible(page, 'a proposed price');
  await picture(page, 'staff-price-waits-phone');
  await page.getByRole('button', { name: /^Approve/ }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Approve and do it' }).click();
  await page.getByText('Approved by fina@svc.example').waitFor();
  await picture(page, 'staff-price-approved-phone');
  await page.goto(`${stack.staff_url}/prices?q=${MODEL}`);
  const set = page.getByRole('region', { name: 'Set prices' });
  await set.getByText('coming').waitFor();
  await expectNoSidewaysScroll(page, 'prices at 360');
  await expectAccessible(page, 'prices in the dark');
  await picture(page, 'staff-prices-phone');
  expect(faults).toEqual([]);
  await context.close();
});

test('who may only read sees what was set, and no button', async () => {
  const { page, context, faults } = await openPage(browser, {}, reader);
  await page.goto(`${stack.staff_url}/prices?q=${MODEL}`);
  await page.getByRole('region', { name: 'Set prices' }).getByText('coming').waitFor();
  expect(await page.getByRole('button', { name: /^Propose a price/ }).count()).toBe(0);
  await picture(page, 'staff-prices');
  expect(faults).toEqual([]);
  await context.close();
});
