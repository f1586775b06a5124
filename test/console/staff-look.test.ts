// Staff look at an organization as its people see it: a link opens in a new tab, everything is read only, and the
// organization reads in its audit log who looked and why.
import { beforeAll, expect, test, vi } from 'vitest';
import { withClient } from '../support/books.ts';
import { expectAccessible, expectNoSidewaysScroll, openPage, picture, startConsole } from './browser.ts';
import { makeMember, memberState } from './staff-member.ts';

vi.setConfig({ testTimeout: 120_000 });

const { stack, browser } = await startConsole();
let support: Awaited<ReturnType<typeof memberState>>;
beforeAll(async () => {
  support = await memberState(browser, stack, await makeMember(stack, 'leo@svc.example', ['support']));
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
