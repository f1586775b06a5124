// The page of rankings in the console of staff, by keyboard: an app is kept out with a reason, and let in again.
import { createPool } from '@svc/core/db/index.ts';
import { expect, test, vi } from 'vitest';
import { launchChromium } from '../../support/chromium.ts';
import { expectAccessible, openPage, picture } from '../browser.ts';
import { startStack } from '../stack.ts';
import { makeMember, memberState } from './member.ts';

vi.setConfig({ testTimeout: 90_000 });
const stack = await startStack();
const browser = await launchChromium();
const support = await memberState(browser, stack, await makeMember(stack, 'sam@svc.example', ['support']));
const finance = await memberState(browser, stack, await makeMember(stack, 'fin@svc.example', ['finance']));
const at = (path: string) => `${stack.staff_url}/${path}`;
const pool = createPool(stack.database_url, { max: 1, application: 'svc-test' });
await pool.query({
  name: 'test.apps',
  text: `insert into app (slug, org_id, name, category, public, first_seen_at, updated_at)
         select 'zq-' || n, (select min(id) from org), 'Zq notes ' || n, 'writing', true, now() - n * interval '1 hour', now()
           from generate_series(1, 3) n`,
});
await pool.end();

test('an app is kept out of the rankings and let in again with the keyboard alone', async () => {
  const { page, context, faults } = await openPage(browser, {}, support);
  await page.goto(at('rankings'));
  await page.getByRole('heading', { name: /Zq notes 1/ }).waitFor();
  await expectAccessible(page, 'rankings');
  await picture(page, 'staff-rankings');
  await page.getByRole('button', { name: 'Keep out: Zq notes 2' }).focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: /Keep Zq notes 2 out/ });
  await dialog.waitFor();
  await page.keyboard.press('Enter');
  await dialog.getByText('Say it in one line.').waitFor();
  await page.keyboard.type('a name that offends');
  await picture(page, 'staff-rankings-dialog');
  await expectAccessible(page, 'keep an app out');
  await page.keyboard.press('Enter');
  await page.getByText('Zq notes 2 is kept out.').waitFor();
  await page.getByText('“a name that offends”').waitFor();
  await picture(page, 'staff-rankings-kept-out');
  await expectAccessible(page, 'an app that is kept out');
  await page.getByRole('button', { name: 'Let in again: Zq notes 2' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('it has another name');
  await page.keyboard.press('Enter');
  await page.getByText('Zq notes 2 is let in again.').waitFor();
  await page.getByRole('button', { name: 'Make figures anew…' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Make the figures anew?' }).waitFor();
  await page.keyboard.type('rows are back');
  await page.keyboard.press('Enter');
  await page.getByText('New figures are being made.').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('who may only read sees the list, and no button that they cannot use', async () => {
  const { page, context, faults } = await openPage(browser, { width: 390, height: 800 }, finance);
  await page.goto(at('rankings'));
  await page.getByRole('heading', { name: /Zq notes 1/ }).waitFor();
  expect(await page.getByRole('button', { name: /Keep out|Let in|anew/ }).count()).toBe(0);
  await picture(page, 'staff-rankings-narrow');
  await expectAccessible(page, 'rankings of who may read');
  expect(faults).toEqual([]);
  await context.close();
});
