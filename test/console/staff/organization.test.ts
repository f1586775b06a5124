// What staff do with an organization in a real browser: look at it as its people do, and close it once its slug was typed.
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
