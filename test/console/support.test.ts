// Support in a real browser: a customer writes, staff answer and settle, and the customer reads it; staff announce.
import type { Browser } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import { launchChromium } from '../support/chromium.ts';
import { expectAccessible, expectNoSidewaysScroll, openPage, picture, signedIn } from './browser.ts';
import { type Stack, startStack } from './stack.ts';
import { makeMember, memberState } from './staff/member.ts';

vi.setConfig({ testTimeout: 120_000 });

let stack: Stack;
let browser: Browser;
let viewer: Awaited<ReturnType<typeof signedIn>>;
let support: Awaited<ReturnType<typeof memberState>>;
beforeAll(async () => {
  stack = await startStack();
  browser = await launchChromium();
  viewer = await signedIn(browser, stack, stack.viewer);
  support = await memberState(browser, stack, await makeMember(stack, 'ann@svc.example', ['support']));
}, 120_000);

const SUBJECT = 'The invoice has our old address';

test('a member writes to support, is answered by staff, and writes again', async () => {
  const mine = await openPage(browser, { width: 1440 }, viewer);
  await mine.page.goto(`${stack.console_url}/meridian/live/tickets`);
  await mine.page.getByRole('heading', { name: 'No ticket yet' }).waitFor();
  await mine.page.keyboard.press('c');
  const dialog = mine.page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Send' }).click();
  await dialog.getByText('Write what you need.').waitFor();
  await dialog.getByLabel('About').selectOption('INVOICE_CORRECTION');
  await dialog.getByLabel('Subject').fill(SUBJECT);
  await dialog.getByLabel('Your words').fill('We have moved to Pune.\nPlease correct it.');
  await picture(mine.page, 'ticket-create');
  await expectAccessible(mine.page, 'ticket create');
  await dialog.getByRole('button', { name: 'Send' }).click();
  await mine.page.getByText('waits for support').waitFor();

  const theirs = await openPage(browser, { width: 1440 }, support);
  await theirs.page.goto(`${stack.staff_url}/tickets`);
  await theirs.page.getByRole('button', { name: `Answer ${SUBJECT}` }).click();
  await theirs.page.getByLabel('Answer', { exact: true }).fill('A corrected invoice is on its way.');
  await picture(theirs.page, 'staff-ticket');
  await expectAccessible(theirs.page, 'staff ticket');
  await theirs.page.getByRole('button', { name: 'Answer and settle' }).click();
  await theirs.page.getByText('Answered and settled.').waitFor();
  await theirs.page.getByText('Nothing waits').waitFor();

  await mine.page.reload();
  await mine.page.getByText('A corrected invoice is on its way.').waitFor();
  expect(await mine.page.getByText('ann@svc.example').count()).toBe(0);
  await mine.page.getByLabel('Write again, which opens it anew').fill('Thank you, it came.');
  await mine.page.getByRole('button', { name: 'Send' }).click();
  await mine.page.getByText('Sent to support.').waitFor();
  await mine.page.getByRole('listitem').getByText('Thank you, it came.').waitFor();
  await picture(mine.page, 'ticket');
  await expectAccessible(mine.page, 'ticket');
  expect([mine.faults, theirs.faults]).toEqual([[], []]);
});

test('staff announce something, and every member sees it until it is ended or put away', async () => {
  const theirs = await openPage(browser, { width: 1440 }, support);
  await theirs.page.goto(`${stack.staff_url}/announcements`);
  const announce = async (title: string, severity: string) => {
    await theirs.page.getByRole('button', { name: 'New announcement' }).click();
    const dialog = theirs.page.getByRole('dialog');
    await dialog.getByLabel('Title').fill(title);
    await dialog.getByLabel('Words').fill('Calls go on; the console is read only for an hour.');
    await dialog.getByLabel('How grave').selectOption(severity);
    await picture(theirs.page, 'announcement-create');
    await expectAccessible(theirs.page, 'announcement create');
    await dialog.getByRole('button', { name: 'Announce' }).click();
    await theirs.page.getByRole('heading', { name: title }).waitFor();
  };
  await announce('Maintenance on Sunday', 'WARNING');
  await announce('Payments are slow', 'CRITICAL');
  await picture(theirs.page, 'staff-announcements');
  await expectAccessible(theirs.page, 'staff announcements');
  for (const look of [{ width: 1440 }, { width: 360, scheme: 'dark' }] as const) {
    const mine = await openPage(browser, look, viewer);
    await mine.page.goto(`${stack.console_url}/meridian/live/home`);
    const bands = mine.page.getByRole('complementary', { name: 'Announcements' }).getByRole('listitem');
    await bands.getByText('Payments are slow').waitFor();
    await picture(mine.page, `announcements-${look.width}`);
    await expectNoSidewaysScroll(mine.page, 'announcements');
    await expectAccessible(mine.page, 'announcements');
    await mine.page.getByRole('button', { name: 'Put away: Maintenance on Sunday' }).click();
    await mine.page.reload();
    await bands.getByText('Payments are slow').waitFor();
    expect(await bands.count()).toBe(1);
    expect(mine.faults).toEqual([]);
  }
  for (const title of ['Maintenance on Sunday', 'Payments are slow']) {
    await theirs.page.getByRole('button', { name: `End ${title}` }).click();
    await theirs.page.getByText(`${title} is ended.`).waitFor();
  }
  expect(theirs.faults).toEqual([]);
});

test.each([
  { name: 'light-narrow', scheme: 'light', width: 360 },
  { name: 'dark-narrow', scheme: 'dark', width: 360 },
  { name: 'dark-wide', scheme: 'dark', width: 1440 },
] as const)('tickets keep to their width and are accessible, $name', async (look) => {
  const mine = await openPage(browser, look, viewer);
  await mine.page.goto(`${stack.console_url}/meridian/live/tickets`);
  const link = mine.page.getByRole('link', { name: SUBJECT });
  await link.waitFor();
  await picture(mine.page, `tickets-${look.name}`);
  await expectNoSidewaysScroll(mine.page, 'tickets');
  await expectAccessible(mine.page, 'tickets');
  await link.click();
  await mine.page.getByLabel('Write more').waitFor();
  await picture(mine.page, `ticket-${look.name}`);
  await expectNoSidewaysScroll(mine.page, 'ticket');
  await expectAccessible(mine.page, 'ticket');
  const theirs = await openPage(browser, look, support);
  await theirs.page.goto(`${stack.staff_url}/tickets`);
  await theirs.page.getByRole('button', { name: `Answer ${SUBJECT}` }).waitFor();
  await picture(theirs.page, `staff-tickets-${look.name}`);
  await expectNoSidewaysScroll(theirs.page, 'staff tickets');
  await expectAccessible(theirs.page, 'staff tickets');
  expect([mine.faults, theirs.faults]).toEqual([[], []]);
});
