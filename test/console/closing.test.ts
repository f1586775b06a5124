// An organization is closed by staff in a real browser, once its slug was typed.
import { beforeAll, expect, test, vi } from 'vitest';
import { withClient } from '../support/books.ts';
import { expectAccessible, expectNoSidewaysScroll, openPage, picture, startConsole } from './browser.ts';
import { makeMember, memberState } from './staff-member.ts';

vi.setConfig({ testTimeout: 120_000 });

const { stack, browser } = await startConsole();
let support: Awaited<ReturnType<typeof memberState>>;
beforeAll(async () => {
  support = await memberState(browser, stack, await makeMember(stack, 'ann@svc.example', ['support']));
}, 120_000);

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
