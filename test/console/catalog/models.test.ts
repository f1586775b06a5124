// The public pages of models in a browser: without an account, in both themes, wide and narrow, and by keyboard alone.
import { createPool } from '@svc/core/db/index.ts';
import { publishFigures } from '@svc/core/figures/index.ts';
import { now } from '@svc/core/kernel/index.ts';
import { beforeAll, expect, test } from 'vitest';
import { withClient } from '../../support/books.ts';
import { launchChromium } from '../../support/chromium.ts';
import { expectAccessible, expectNoSidewaysScroll, fourLooks, openPage, picture } from '../browser.ts';
import { MODEL, startStack } from '../stack.ts';

const stack = await startStack();
const browser = await launchChromium();

/** Two apps that show themselves, one of them with a long name, and what they used on two days. */
beforeAll(async () => {
  const { database_url, full } = stack;
  const pool = createPool(database_url, { max: 1 });
  await publishFigures(pool, { now: now(), min_orgs: 1 });
  await pool.end();
  await withClient(database_url, async (client) => {
    for (const [slug, name, tokens] of [
      ['notes', 'Meridian Notes', 8_204_311],
      ['a-very-long-name-of-an-app-that-nobody-would-type-by-hand-twice', 'Desk', 90_000],
    ] as const) {
      await client.query(
        `insert into app (slug, org_id, name, category, url, public, first_seen_at, updated_at)
         values ($1, $2, $3, 'productivity', 'https://notes.example/', true, now(), now())`,
        [slug, full.org_id, name],
      );
      await client.query(
        `insert into app_day (day, org_id, app_id, model, requests, tokens, first_at)
         select (now() at time zone 'UTC')::date - d, $1, $2, $3, 40 + d, $4::bigint / (d + 1), now()
           from generate_series(0, 5) d`,
        [full.org_id, slug, MODEL, tokens],
      );
    }
    await client.query(
      `insert into model_day (day, model, requests, tokens, apps, orgs)
       select (now() at time zone 'UTC')::date, m, 900, t, 2, 9
         from unnest(array[$1, 'openai/gpt-4o'], array[9000000, 400000]) as u (m, t)
       on conflict do nothing`,
      [MODEL],
    );
  });
});

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
      ['rankings', 'rankings', 'What is used most'],
      ['rankings-none', 'rankings?days=30&category=games', 'What is used most'],
      ['app', 'rankings/apps/notes', 'Meridian Notes'],
      ['app-missing', 'rankings/apps/none', 'No such app'],
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
  await page.getByRole('link', { name: 'Rankings' }).press('Enter');
  await page.getByLabel('Time').selectOption('30 days');
  await page.getByRole('button', { name: 'Show' }).press('Enter');
  await page.waitForURL(/days=30/);
  await page.getByRole('link', { name: 'notes', exact: true }).press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Meridian Notes' }).waitFor();
  await page.getByRole('link', { name: 'productivity' }).press('Enter');
  await page.waitForURL(/category=productivity/);
  await context.close();
});

test('the sign-in page leads to models and prices', async () => {
  const { page, context } = await openPage(browser);
  await page.goto(`${stack.console_url}/sign-in`);
  await page.getByRole('link', { name: 'Models and prices' }).click();
  await page.getByRole('heading', { level: 1, name: 'Models and prices' }).waitFor();
  await context.close();
});
