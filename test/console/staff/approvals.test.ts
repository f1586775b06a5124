// Acts of staff that need a second person, in two browsers: one asks, the other approves.
import { beforeAll, expect, test, vi } from 'vitest';
import { expectAccessible, expectNoSidewaysScroll, openPage, picture, startConsole } from '../browser.ts';
import { makeMember, memberState } from './member.ts';

vi.setConfig({ testTimeout: 120_000 });

const { stack, browser } = await startConsole();
let asker: Awaited<ReturnType<typeof memberState>>;
let second: Awaited<ReturnType<typeof memberState>>;
beforeAll(async () => {
  asker = await memberState(browser, stack, await makeMember(stack, 'mira@svc.example', ['finance']));
  second = await memberState(browser, stack, await makeMember(stack, 'omar@svc.example', ['finance']));
}, 120_000);

test('a large grant is asked for by one and done by the approval of another, by keyboard', async () => {
  const mine = await openPage(browser, {}, asker);
  const { page } = mine;
  await page.goto(`${stack.staff_url}/orgs/${stack.full_slug}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.getByRole('button', { name: /^Grant credit/ }).click();
  const dialog = page.getByRole('dialog', { name: /^Grant credit to/ });
  await dialog.getByLabel('Amount in US dollars').fill('250');
  await dialog.getByLabel('Reason').fill('as agreed in the contract');
  await dialog.getByLabel('Reference').fill('contract-7');
  await dialog.getByRole('button', { name: 'Grant credit' }).click();
  await dialog.getByText('Above 100 USD this needs a second person').waitFor();
  await page.goto(`${stack.staff_url}/approvals`);
  await page.getByText('You asked for this; somebody else approves it.').waitFor();
  expect(await page.getByRole('button', { name: /^Approve/ }).count()).toBe(0);

  const theirs = await openPage(browser, {}, second);
  await theirs.page.goto(`${stack.staff_url}/`);
  await theirs.page.getByRole('link', { name: 'Approvals' }).focus();
  await theirs.page.keyboard.press('Enter');
  await theirs.page.getByRole('heading', { name: 'Approvals', level: 1 }).waitFor();
  await theirs.page.getByText(/Grant credit to .*: \$250\.00/).waitFor();
  await picture(theirs.page, 'approvals');
  await expectAccessible(theirs.page, 'approvals');
  await theirs.page.getByRole('button', { name: /^Approve/ }).focus();
  await theirs.page.keyboard.press('Enter');
  const decide = theirs.page.getByRole('dialog');
  await decide.getByText('with both of your names in the audit log').waitFor();
  await theirs.page.keyboard.type('seen the contract');
  await theirs.page.keyboard.press('Enter');
  await theirs.page.getByText('Approved by omar@svc.example').waitFor();
  await theirs.page.getByText('“seen the contract”').waitFor();
  await theirs.page.goto(`${stack.staff_url}/orgs/${stack.full_slug}`);
  await theirs.page.getByRole('row', { name: /Grant \+\$250\.00/ }).waitFor();
  expect([mine.faults, theirs.faults]).toEqual([[], []]);
  await mine.context.close();
  await theirs.context.close();
});

test('codes of a large batch are shown to who approves it, once; in the dark and on a phone too', async () => {
  const mine = await openPage(browser, {}, asker);
  await mine.page.goto(`${stack.staff_url}/codes`);
  await mine.page.getByRole('button', { name: /Make a batch/ }).click();
  const form = mine.page.getByRole('dialog');
  await form.getByLabel('Name').fill('partner-2026');
  await form.getByLabel('Dollars of each code').fill('50');
  await form.getByLabel('Codes', { exact: true }).fill('3');
  await form.getByLabel('Credit lasts, days').fill('30');
  await form.getByLabel('Codes are taken until').fill('2099-01-01');
  await form.getByRole('button', { name: 'Make the codes' }).click();
  await form.getByText('Above 100 USD this needs a second person').waitFor();
  await mine.context.close();

  const { page, context, faults } = await openPage(browser, { scheme: 'dark', width: 360 }, second);
  await page.goto(`${stack.staff_url}/approvals`);
  await page
    .getByRole('button', { name: /^Approve/ })
    .first()
    .click();
  await page.getByRole('button', { name: 'Approve and do it' }).click();
  const shown = page.getByRole('dialog', { name: 'The codes are made' });
  const csv = await shown.getByLabel('Codes as CSV').inputValue();
  expect(csv.trim().split(/\r?\n/)).toHaveLength(4);
  await picture(page, 'approvals-codes');
  await expectAccessible(page, 'codes of an approval');
  await shown.getByRole('button', { name: 'I have them, close' }).click();
  await page.getByText('Approved by omar@svc.example').first().waitFor();
  await expectNoSidewaysScroll(page, 'approvals at 360');
  await expectAccessible(page, 'approvals in the dark');
  await picture(page, 'approvals-phone');
  expect(faults).toEqual([]);
  await context.close();
});
