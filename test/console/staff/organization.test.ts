// What staff do with an organization in a real browser: look at it as its people do, and close it once its slug was typed.
import type { Page } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import { withClient } from '../../support/books.ts';
import { expectAccessible, expectNoSidewaysScroll, openPage, picture, startConsole } from '../browser.ts';
import { makeMember, memberState } from './member.ts';

vi.setConfig({ testTimeout: 120_000 });

const { stack, browser } = await startConsole();
let support: Awaited<ReturnType<typeof memberState>>;
beforeAll(async () => {
  support = await memberState(browser, stack, await makeMember(stack, 'ann@svc.example', ['support']));
}, 120_000);

test('a look opens in a tab of its own, says that it is one, changes nothing, and ends', async () => {
  const { page, context, faults } = await openPage(browser, {}, support);
  await page.goto(`${stack.staff_url}/orgs/${stack.full_slug}`);
  await page.getByRole('button', { name: 'Look as customer…' }).click();
  const dialog = page.getByRole('dialog', { name: /^Look as/ });
  await dialog.getByLabel('Reason').fill('They cannot find their invoice');
  const opened = context.waitForEvent('page');
  await dialog.getByRole('button', { name: 'Look', exact: true }).click();
  const tab = await opened;
  await tab.getByText('Staff look:').waitFor();
  expect(new URL(tab.url()).origin).toBe(stack.console_url);
  // What is read stays readable at the width of a phone, and nothing that changes anything is offered.
  await tab.goto(`${stack.console_url}/${stack.full_slug}/live/keys`);
  await tab.getByText('Staff look:').waitFor();
  expect(await tab.getByRole('button', { name: /Create key|New key/ }).count()).toBe(0);
  await picture(tab, 'look');
  await expectAccessible(tab, 'look');
  await tab.setViewportSize({ width: 360, height: 860 });
  await expectNoSidewaysScroll(tab, 'look at 360');
  await tab.getByRole('button', { name: 'End the look' }).click();
  await tab.waitForURL(/sign-in/);
  await tab.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
  const { rows } = await withClient(stack.database_url, (client) =>
    client.query<{ reason: string; actor_type: string }>(
      `select reason, actor_type from audit_entry where org_id = $1 and action = 'staff.looks.begin'`,
      [stack.full.org_id],
    ),
  );
  expect(rows).toEqual([{ reason: 'They cannot find their invoice', actor_type: 'staff' }]);
  expect(faults).toEqual([]);
  await context.close();
});

test('finance sets what the platform pays for shadows, a wrong amount stays in the form, and support only reads it', async () => {
  const finance = await memberState(browser, stack, await makeMember(stack, 'fin@svc.example', ['finance']));
  const { page, context, faults } = await openPage(browser, {}, finance);
  await page.goto(`${stack.staff_url}/orgs/${stack.full_slug}`);
  const card = (of: Page) => of.getByRole('region', { name: 'Shadows that the platform pays for' });
  await card(page).getByText('nothing', { exact: true }).waitFor();
  await card(page).getByRole('button', { name: 'Change allowance…' }).focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: /^Shadows of/ });
  await dialog.getByLabel('Reason').fill('trial of a cheaper endpoint');
  for (const wrong of ['ten', '-1', '0', '1000.01']) {
    await dialog.getByLabel('Dollars a day').fill(wrong);
    await page.keyboard.press('Enter');
    await dialog.getByText('A day: dollars from 0.000001 to 1,000, or nothing.').waitFor();
  }
  for (const { scheme, width } of [
    { scheme: 'light', width: 1320 },
    { scheme: 'dark', width: 360 },
  ] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 860 });
    await picture(page, `staff-shadow-${scheme}`);
    await expectNoSidewaysScroll(page, `shadow ${scheme}`);
    await expectAccessible(page, `shadow ${scheme}`);
  }
  await dialog.getByLabel('Dollars a day').fill('2.50');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await card(page).getByText('$2.50').waitFor();
  const allowed = () =>
    withClient(stack.database_url, async (client) => {
      const { rows } = await client.query<{ daily_micro_usd: string }>(
        'select daily_micro_usd from policy_shadow_allowance where org_id = $1',
        [stack.full.org_id],
      );
      return rows.map((row) => Number(row.daily_micro_usd));
    });
  expect(await allowed()).toEqual([2_500_000]);

  const reader = await openPage(browser, { width: 360, scheme: 'dark' }, support);
  await reader.page.goto(`${stack.staff_url}/orgs/${stack.full_slug}`);
  await card(reader.page).getByText('$2.50').waitFor();
  expect(await card(reader.page).getByRole('button').count()).toBe(0);
  await expectNoSidewaysScroll(reader.page, 'organization at 360');
  await expectAccessible(reader.page, 'organization at 360');
  await reader.context.close();

  await card(page).getByRole('button', { name: 'Change allowance…' }).click();
  await dialog.getByLabel('Dollars a day').fill('');
  await dialog.getByLabel('Reason').fill('the trial is over');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await card(page).getByText('nothing', { exact: true }).waitFor();
  expect(await allowed()).toEqual([]);
  expect([...faults, ...reader.faults]).toEqual([]);
  await context.close();
});

test('support closes an organization once its slug was typed; it is closed then, and the button is gone', async () => {
  const { page, context, faults } = await openPage(browser, {}, support);
  await page.goto(`${stack.staff_url}/orgs/newcomer`);
  await page.getByRole('button', { name: 'Close…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Close newcomer' });
  await dialog.getByLabel('Reason').fill('asked by the owner');
  await dialog.getByLabel('Type newcomer').fill('meridian');
  await dialog.getByRole('button', { name: 'Close this organization' }).click();
  await dialog.getByText('Type newcomer to close it.').waitFor();
  await picture(page, 'staff-close');
  await expectAccessible(page, 'close');
  await page.setViewportSize({ width: 360, height: 860 });
  await expectNoSidewaysScroll(page, 'close at 360');
  await dialog.getByLabel('Type newcomer').fill('newcomer');
  await dialog.getByRole('button', { name: 'Close this organization' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Close…' }).waitFor({ state: 'detached' });
  const { rows } = await withClient(stack.database_url, (client) =>
    client.query<{ status: string }>(`select status from org where slug = 'newcomer'`),
  );
  expect(rows).toEqual([{ status: 'closed' }]);
  expect(faults).toEqual([]);
  await context.close();
});
