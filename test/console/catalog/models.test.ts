// The public pages of models in a browser: without an account, in both themes, wide and narrow, and by keyboard alone.
import { expect, test } from 'vitest';
import { launchChromium } from '../../support/chromium.ts';
import { expectAccessible, expectNoSidewaysScroll, fourLooks, openPage, picture } from '../browser.ts';
import { MODEL, startStack } from '../stack.ts';

const stack = await startStack();
const browser = await launchChromium();

test.each(fourLooks)(
  'every public page is accessible and keeps to its width, $scheme at $width',
  { timeout: 120_000 },
  async (look) => {
    const { page, context, faults } = await openPage(browser, look);
    for (const [name, path, heading] of [
      ['models', 'models', 'Models and prices'],
      ['models-filtered', 'models?capability=tools&sort=price&q=a', 'Models and prices'],
      ['models-none', 'models?q=nothing-is-called-so', 'Models and prices'],
      ['model', `models/${MODEL}`, 'Sonnet'],
      [
        'models-compared',
        `models/compare?id=${MODEL}&id=openai/gpt-4o&id=openai/gpt-4o-mini`,
        'Compare models',
      ],
      ['model-missing', 'models/no/such', 'There is no model of this name'],
    ] as const) {
      const where = `${name}-${look.scheme}-${look.width}`;
      await page.goto(`${stack.console_url}/${path}`);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      await picture(page, where);
      await expectNoSidewaysScroll(page, where);
      await expectAccessible(page, where);
    }
    expect(faults.filter((fault) => !fault.includes('404 (Not Found)'))).toEqual([]);
    await context.close();
  },
);

test('a filter, a comparison and a model are reached by keyboard with JavaScript switched off', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  await page.goto(`${stack.console_url}/models`);
  await page.getByLabel('Search').fill('gpt-4o');
  await page.getByLabel('Search').press('Enter');
  await page.waitForURL(/q=gpt-4o/);
  await page.getByLabel('Compare GPT-4o', { exact: true }).press('Space');
  await page.getByLabel('Compare GPT-4o mini', { exact: true }).press('Space');
  await page.getByRole('button', { name: 'Compare what is ticked' }).press('Enter');
  await page.getByRole('heading', { name: 'Compare models' }).waitFor();
  await page.getByText('lowest').first().waitFor();
  await page.getByRole('link', { name: 'GPT-4o mini' }).press('Enter');
  await page.getByRole('heading', { level: 1, name: 'GPT-4o mini' }).waitFor();
  expect(await page.title()).toContain('GPT-4o mini');
  await context.close();
});

test('the sign-in page leads to models and prices', async () => {
  const { page, context } = await openPage(browser);
  await page.goto(`${stack.console_url}/sign-in`);
  await page.getByRole('link', { name: 'Models and prices' }).click();
  await page.getByRole('heading', { level: 1, name: 'Models and prices' }).waitFor();
  await context.close();
});
