// The page of budgets in a real browser: changing a budget, a pause and its end, and the mark of a low balance.
import { expect, test, vi } from 'vitest';
import { withClient } from '../support/books.ts';
import { atFileEnd } from '../support/ends.ts';
import { startRedis } from '../support/redis.ts';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  fourLooks,
  openPage,
  picture,
  signedIn,
  startConsole,
} from './browser.ts';
import { MODEL } from './stack.ts';

vi.setConfig({ testTimeout: 120_000 });

// Shared, so that the console shows what is left of limits at the gateway.
const redis = await startRedis();
atFileEnd(() => redis.stop());
const { stack, browser, owner } = await startConsole({ SVC_REDIS_URL: redis.url });

const call = () =>
  fetch(`${stack.gateway_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.full.live_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hello' }] }),
  });

test('an owner sets a budget, sees calls pause and resumes them; the mark of a low balance is changed', async () => {
  const { page, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/live/budgets`);
  const row = page.getByRole('region', { name: 'Budgets of projects' }).getByRole('row', { name: /Default/ });
  await row.getByText('no budget').waitFor();

  await row.getByRole('button', { name: 'Edit the budget of Default' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Monthly budget').fill('a lot');
  await dialog.getByRole('button', { name: 'Save budget' }).click();
  await dialog.getByText('An amount in US dollars').waitFor();
  await dialog.getByLabel('Monthly budget').fill('0.000001');
  await dialog.getByLabel('Warn at, percent').fill('90 100');
  await picture(page, 'budget-form');
  await expectAccessible(page, 'budget form');
  await dialog.getByRole('button', { name: 'Save budget' }).click();
  await row.getByText('hard').waitFor();

  expect((await call()).status).toBe(402);
  await page.reload();
  await row.getByText('paused').waitFor();
  await row.getByText('no room left: calls are refused').waitFor();
  await row.getByRole('button', { name: 'Resume Default' }).click();
  await row.getByText('active').waitFor();
  expect((await call()).status).toBe(200);
  await page.reload();
  await row.getByText('used up: calls go on').waitFor();

  const balance = page.getByRole('region', { name: 'Low balance' });
  await balance.getByText('less than $5.00 is left').waitFor();
  await balance.getByRole('button', { name: 'Change' }).click();
  await balance.getByLabel('Warn below').fill('25');
  await balance.getByRole('button', { name: 'Save' }).click();
  await balance.getByText('less than $25.00 is left').waitFor();
  expect(faults).toEqual([]);
});

test('a key gets a budget of the day that stops it, and higher limits at once or by a person', async () => {
  const { page, faults } = await openPage(browser, {}, owner);
  await withClient(stack.database_url, (client) =>
    client.query(`update org set plan_id = 'payg' where slug = 'meridian'`),
  );
  await page.goto(`${stack.console_url}/meridian/live/budgets`);
  const keys = page.getByRole('region', { name: 'Budgets of keys' });
  const row = keys.getByRole('row', { name: /backend-prod/ });
  await row.getByRole('button', { name: 'Edit the budget of backend-prod' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Daily budget').fill('0');
  await dialog.getByRole('button', { name: 'Save budget' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await row.getByText('100 %', { exact: true }).waitFor();
  expect((await call()).status).toBe(402);
  await page.reload();
  await row.getByText('paused').waitFor();
  await row.getByRole('button', { name: 'Resume backend-prod' }).click();
  await row.getByText('active').waitFor();
  expect((await call()).status).toBe(200);

  const limits = page.getByRole('region', { name: 'Limits of keys' });
  const limited = limits.getByRole('row', { name: /backend-prod/ });
  const ask = limited.getByRole('button', { name: 'Ask for higher limits of backend-prod' });
  await ask.click();
  await dialog.getByRole('button', { name: 'Ask for these limits' }).click();
  await dialog.getByText('Enter at least one of the three.').waitFor();
  await picture(page, 'limit-form');
  await expectAccessible(page, 'limit form');
  await dialog.getByLabel('Calls a minute').fill('250');
  await dialog.getByRole('button', { name: 'Ask for these limits' }).click();
  await page.getByText('backend-prod has the limits that you asked for.').waitFor();
  await limited.getByText('250').waitFor();
  await ask.click();
  await dialog.getByLabel('At once').fill('80');
  await dialog.getByLabel('Reason').fill('the sale begins on Friday');
  await dialog.getByRole('button', { name: 'Ask for these limits' }).click();
  await page.getByText('waits for a person; you get a mail').waitFor();
  await page.getByRole('row', { name: /80 calls at once waits/ }).waitFor();
  expect(faults).toEqual([]);
});

test('an owner bounds what all keys of a project may call together, by keyboard, and sees it live', async () => {
  const { page, context, faults } = await openPage(
    browser,
    { width: 360, scheme: 'dark' },
    await signedIn(browser, stack, stack.owner),
  );
  await page.goto(`${stack.console_url}/meridian/live/budgets`);
  const row = page.getByRole('region', { name: 'Limits of projects' }).getByRole('row', { name: /Default/ });
  const edit = row.getByRole('button', { name: 'Edit the limits of Default' });
  await edit.focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Limits of Default' });
  await dialog.getByLabel('Calls a minute').focus();
  await page.keyboard.type('none');
  await page.keyboard.press('Enter');
  await dialog.getByText('A whole number from 1 on.').waitFor();
  await picture(page, 'project-limits-form');
  await expectAccessible(page, 'project limits');
  await expectNoSidewaysScroll(page, 'project limits');
  await dialog.getByLabel('Calls a minute').fill('1');
  await page.keyboard.press('Enter');
  await page.getByText('The limits of Default hold from now on.').waitFor();
  await row.getByText('1 left', { exact: true }).waitFor();
  await expect.poll(async () => (await call()).status).toBe(429);
  const refused = (await (await call()).json()) as { error: { details: object } };
  expect(refused.error.details).toMatchObject({ limit: 'rpm', scope: 'project', limit_value: 1 });
  await page.reload();
  await row.getByText('0 left', { exact: true }).waitFor();
  await picture(page, 'project-limits');
  await expectAccessible(page, 'limits of projects');
  // Emptied, it is no limit again.
  await edit.focus();
  await page.keyboard.press('Enter');
  await dialog.getByLabel('Calls a minute').fill('');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'hidden' });
  await expect.poll(async () => (await call()).status).toBe(200);
  expect(faults).toEqual([]);
  await context.close();
});

test('an owner makes a project, and archives one that has no keys', async () => {
  const { page, context, faults } = await openPage(
    browser,
    { width: 360, scheme: 'dark' },
    await signedIn(browser, stack, stack.owner),
  );
  await page.goto(`${stack.console_url}/meridian/live/budgets`);
  await page.getByRole('button', { name: 'New project' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Search');
  await dialog.getByLabel('Slug').fill('default');
  await dialog.getByRole('button', { name: 'Make the project' }).click();
  await dialog.getByRole('alert').waitFor();
  await picture(page, 'project-create-refused');
  await expectAccessible(page, 'project create');
  await dialog.getByLabel('Slug').fill('search');
  await dialog.getByRole('button', { name: 'Make the project' }).click();
  await page.getByText('The project Search is there.').waitFor();
  const archive = async (name: string) => {
    await page.getByRole('button', { name: `Archive ${name}` }).click();
    await dialog.getByRole('button', { name: 'Archive', exact: true }).click();
  };
  await archive('Default');
  await dialog.getByRole('alert').waitFor();
  await picture(page, 'project-archive-refused');
  await expectAccessible(page, 'project archive');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await archive('Search');
  await page.getByText('The project Search is archived.').waitFor();
  await expect.poll(() => page.getByRole('row', { name: /Search/ }).count()).toBe(0);
  await expectNoSidewaysScroll(page, 'projects');
  await picture(page, 'projects');
  expect(faults).toEqual([]);
  await context.close();
});

test('a viewer reads the budgets and changes none; the page keeps to its width in both themes', async () => {
  const viewer = await signedIn(browser, stack, stack.viewer);
  for (const look of fourLooks) {
    const { page, context, faults } = await openPage(browser, look, viewer);
    await page.goto(`${stack.console_url}/meridian/live/budgets`);
    await page
      .getByRole('row', { name: /Default/ })
      .first()
      .waitFor();
    await page.getByRole('region', { name: 'Limits of projects' }).waitFor();
    expect(
      await page.getByRole('button', { name: /Edit|Change|Resume|Ask|Archive|New project/ }).count(),
    ).toBe(0);
    const where = `budgets-${look.scheme}-${look.width}`;
    await picture(page, where);
    await expectNoSidewaysScroll(page, where);
    await expectAccessible(page, where);
    expect(faults).toEqual([]);
    await context.close();
  }
});

test.each(fourLooks)(
  'a new organisation sees what bounds it and what lifts that, $scheme $width',
  async (look) => {
    const mark = (on: boolean) =>
      withClient(stack.database_url, (client) =>
        client.query(`update org set self_made = true, awaits_topup = $1 where slug = 'newcomer'`, [on]),
      );
    await mark(true);
    const { page, context, faults } = await openPage(browser, look, owner);
    await page.goto(`${stack.console_url}/newcomer/live/budgets`);
    const text = 'Until the first top-up is paid, all live keys together can make 20 calls a minute.';
    await page.getByText(text).waitFor();
    await page.getByText('20 keys can be created in an hour.').waitFor();
    await picture(page, `new-org-limits-${look.scheme}-${look.width}`);
    await expectAccessible(page, 'limits of a new organisation');
    await expectNoSidewaysScroll(page, 'limits of a new organisation');
    await mark(false);
    await page.reload();
    await page.getByText('20 keys can be created in an hour.').waitFor();
    expect(await page.getByText(text).count()).toBe(0);
    expect(faults).toEqual([]);
    await context.close();
  },
);
