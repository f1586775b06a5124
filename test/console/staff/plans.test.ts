// The page of plans in the console of staff: a change is typed, read once more with what it means, and saved.
import { expect, test, vi } from 'vitest';
import { launchChromium } from '../../support/chromium.ts';
import { expectAccessible, openPage, picture } from '../browser.ts';
import { startStack } from '../stack.ts';
import { makeMember, memberState } from './member.ts';

vi.setConfig({ testTimeout: 90_000 });
const stack = await startStack();
const browser = await launchChromium();
const finance = await memberState(browser, stack, await makeMember(stack, 'mira@svc.example', ['finance']));
const at = (path: string) => `${stack.staff_url}/${path}`;

test('a plan is changed after its effects were read: a fault stands at its field, and the fee comes with its month', async () => {
  const { page, context, faults } = await openPage(browser, {}, finance);
  await page.goto(at('plans'));
  await page.getByRole('button', { name: 'Change Team' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Fee of a month, dollars').fill('59 dollars');
  await dialog.getByLabel('Calls a minute').fill('lots');
  await dialog.getByRole('button', { name: 'Read what changes' }).click();
  await dialog.getByText('An amount, such as 59.').waitFor();
  await dialog.getByText('A whole number from 1 on, or nothing.').waitFor();
  await dialog.getByText('Say why, in one line.').waitFor();
  await picture(page, 'staff-plans-faults');
  await expectAccessible(page, 'faults of a plan');
  await dialog.getByLabel('Fee of a month, dollars').fill('59');
  await dialog.getByLabel('Calls a minute').fill('2000');
  await dialog.getByLabel('Reason').fill('price list 2027');
  await dialog.getByRole('button', { name: 'Read what changes' }).click();
  const effects = dialog.getByRole('list', { name: 'What changes' });
  await effects.getByText(/^Fee of a month: \$49\.00 → \$59\.00, from 1 /).waitFor();
  await effects.getByText(/^Calls a minute: 1,500 → 2,000, at once/).waitFor();
  await picture(page, 'staff-plans-effects');
  await expectAccessible(page, 'effects of a plan');
  await dialog.getByRole('button', { name: 'Save the change' }).click();
  await page.getByText('Plan Team is changed.').waitFor();
  await page.getByRole('row', { name: /Team .*2,000 calls a minute/ }).waitFor();
  await page.getByText(/: Team, fee \$59\.00/).waitFor();
  // What only the server refuses is told at its field too.
  await page.getByRole('button', { name: 'Change Scale' }).click();
  await dialog.getByLabel('Included credit, dollars').fill('99999999');
  await dialog.getByLabel('Reason').fill('too much');
  await dialog.getByRole('button', { name: 'Read what changes' }).click();
  await dialog.getByRole('button', { name: 'Save the change' }).click();
  await dialog.getByLabel('Included credit, dollars').and(page.locator('[aria-invalid]')).waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('finance puts an organization on a plan with months that are given', async () => {
  const { page, context, faults } = await openPage(browser, {}, finance);
  await page.goto(at('orgs/newcomer'));
  await page.getByRole('button', { name: 'Change plan…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Plan of newcomer' });
  await dialog.getByLabel('Plan', { exact: true }).selectOption('scale');
  await dialog.getByLabel('Months without fee').selectOption('3');
  await dialog.getByRole('button', { name: 'Set the plan' }).click();
  await dialog.getByText('Say it in one line.').waitFor();
  await picture(page, 'staff-plan-dialog');
  await expectAccessible(page, 'plan dialog');
  await dialog.getByLabel('Reason').fill('a pilot of three months');
  await dialog.getByRole('button', { name: 'Set the plan' }).click();
  await page.getByRole('heading', { name: 'Plan Scale' }).waitFor();
  await page.getByText(/no fee before/).waitFor();
  await page.getByRole('row', { name: /a pilot of three months/ }).waitFor();
  await picture(page, 'staff-plan');
  expect(faults).toEqual([]);
  await context.close();
});
