// The pages of evaluations in a real browser: suites, runs that a person starts and follows, and comparisons.
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startWorkerProgram } from '../support/programs/worker.ts';
import { startTemporal } from '../support/temporal.ts';
import {
  cutStreams,
  expectAccessible,
  expectNoSidewaysScroll,
  fourLooks,
  openPage,
  picture,
  startConsole,
} from './browser.ts';
import { expectFocused } from './keyboard.ts';
import { MODEL, manage } from './stack.ts';

vi.setConfig({ testTimeout: 150_000, hookTimeout: 150_000 });

const { stack, browser, owner } = await startConsole();
const temporal = await startTemporal();
atFileEnd(() => temporal.stop());

const rest = async (method: string, path: string, body?: object) =>
  (await (await manage(stack, [method, path], body)).json()) as { id: string };

const cases = (words: string) =>
  Array.from({ length: 60 }, (_, n) => ({
    id: `case ${n + 1}`,
    input: {
      messages: [{ role: 'user', content: `${words} ${n + 1}` }],
      generation: { max_tokens: 16 },
    },
    // The simulated provider always says the same.
    grader: { kind: 'regex', pattern: n % 3 === 0 ? '^no such answer$' : '.' },
  }));
let suite_id = '';
beforeAll(async () => {
  await startWorkerProgram({
    SVC_DATABASE_URL: stack.database_url,
    SVC_TEMPORAL_ADDRESS: temporal.address,
    SVC_DATA_DIR: stack.data_dir,
    SVC_PROVIDERS_FILE: join(stack.data_dir, 'providers-gateway.yaml'),
    CONSOLE_PROVIDER_KEY: 'sim',
    SVC_GATEWAY_URL: stack.gateway_url,
    SVC_METRICS_PORT: '0',
    SVC_LOG_LEVEL: 'info',
  });
  suite_id = (await rest('POST', '/v1/evals/suites', { name: 'Replies', cases: cases('Say') })).id;
});

const runsOf = (page: Page) => page.getByRole('region', { name: 'List of runs' });
const resultsOf = (page: Page) => page.getByRole('region', { name: 'List of results' });

/** From the page of the suite: the dialog, an estimate, and the start, by keyboard alone. */
async function startByKeyboard(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Replies' }).waitFor();
  await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog', { name: 'Run Replies' });
  await expectFocused(dialog.getByLabel('Models'));
  await page.keyboard.type(MODEL);
  await dialog.getByRole('button', { name: 'Estimate' }).focus();
  await page.keyboard.press('Enter');
  await dialog.getByText('60 answers, at most').waitFor();
  expect(await dialog.getByLabel('Budget in dollars').inputValue()).toMatch(/^0\.\d{6}$/);
}

async function ended(page: Page): Promise<void> {
  await page.getByText('60 of 60 answers').waitFor({ timeout: 90_000 });
  await page.getByText('completed', { exact: true }).waitFor({ timeout: 60_000 });
}

test('a run is estimated, started, followed to its end and read by keyboard', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/live/home`);
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('e');
  await page.getByRole('link', { name: 'Replies' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'List of cases' }).getByText('Say 1', { exact: true }).waitFor();
  await startByKeyboard(page);
  const dialog = page.getByRole('dialog');
  await expectAccessible(page, 'the dialog of a run');
  await picture(page, 'evals-dialog');
  // A budget that is none is refused at its field.
  const budget = dialog.getByLabel('Budget in dollars');
  const wanted = await budget.inputValue();
  await budget.fill('nothing');
  await page.keyboard.press('Enter');
  await dialog.getByText('An amount in dollars').waitFor();
  await budget.fill(wanted);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/evals/runs/er_*');
  await ended(page);
  const scores = page.getByRole('region', { name: 'Scores of targets' });
  await scores.getByText('0.667').waitFor();
  await page.getByLabel('Grade').selectOption('no');
  await page.waitForURL('**passed=no**');
  await expect.poll(() => resultsOf(page).getByText('failed').count()).toBe(20);
  // Coming back to a choice reads nothing: an answer that came after the press would drop what was read on.
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/graphql')) asked.push(request.postData() ?? '');
  });
  await page.getByLabel('Grade').selectOption('');
  await expect.poll(() => resultsOf(page).getByRole('row').count()).toBe(51);
  await page.getByRole('button', { name: 'Load newer' }).click();
  await expect.poll(() => resultsOf(page).getByRole('row').count()).toBe(61);
  const results = asked.filter((body) => body.includes('EvalResults'));
  expect(results.map((body) => body.includes('"after"'))).toEqual([true]);
  await resultsOf(page).getByRole('link').first().click();
  await page.waitForURL('**/requests/*');
  expect(faults).toEqual([]);
  await context.close();
});

test('a run that is cancelled says so at once, begins no more calls, and keeps what it has', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  const many = Array.from({ length: 2_000 }, (_, n) => ({ ...cases('Many')[0], id: `many ${n}` }));
  const { id } = await rest('POST', '/v1/evals/suites', { name: 'Many', cases: many });
  await page.goto(`${stack.console_url}/meridian/live/evals/suites/${id}?run=true`);
  const dialog = page.getByRole('dialog', { name: 'Run Many' });
  await dialog.getByLabel('Models').fill(MODEL);
  await dialog.getByLabel('Budget in dollars').fill('5');
  await dialog.getByRole('button', { name: 'Start the run' }).click();
  await page.waitForURL('**/evals/runs/er_*');
  await page.getByText('running', { exact: true }).waitFor({ timeout: 60_000 });
  await page.getByText('Listening').waitFor();
  await picture(page, 'evals-running');
  await page.keyboard.press('c');
  const asked = page.getByRole('dialog', { name: 'Cancel the run?' });
  await expectAccessible(page, 'the question whether to cancel');
  await asked.getByRole('button', { name: 'Cancel the run' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('cancelled', { exact: true }).waitFor({ timeout: 60_000 });
  await page.getByText('2,000 of 2,000 answers').waitFor();
  expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});

test('a run is compared with an earlier one over the cases that stayed the same, and each keeps its revision', async () => {
  const next = cases('Say').map((one, n) =>
    n < 10 ? { ...one, grader: { kind: 'exact', expected: 'x' } } : one,
  );
  await rest('PATCH', `/v1/evals/suites/${suite_id}`, { cases: next });
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/live/evals/suites/${suite_id}`);
  await startByKeyboard(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Start the run' }).click();
  await page.waitForURL('**/evals/runs/er_*');
  await ended(page);
  const comparison = page.getByRole('region', { name: 'Comparison' });
  await comparison.getByText('One cannot tell over 50 cases. 10 cases changed since and left out.').waitFor();
  await expectAccessible(page, 'a comparison');
  await picture(page, 'evals-compared');
  await page.getByRole('link', { name: 'Suite, revision 2' }).click();
  await page.getByLabel('Revision').selectOption('1');
  await page.waitForURL('**revision=1**');
  const listed = page.getByRole('region', { name: 'List of cases' });
  await listed.getByText('matches ^no such answer$').first().waitFor();
  await page.getByLabel('Revision').selectOption('2');
  await listed.getByText('is: x').first().waitFor();
  await expect.poll(() => runsOf(page).getByRole('row').count()).toBe(3);
  expect(faults).toEqual([]);
  await context.close();
});

/** The newest run of the suite. */
async function newestRun(): Promise<string> {
  const { data } = (await rest('GET', `/v1/evals/runs?suite_id=${suite_id}`)) as unknown as {
    data: { id: string }[];
  };
  return data[0]?.id as string;
}

test('a run that was read to its end is shown so, although all that a stream ever said is that it runs', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await cutStreams(page, 'EvalRun', (data) => {
    const evalRun = { ...(data['evalRun'] as object), status: 'RUNNING', finishedAt: null };
    return { read: { ...data, evalRun }, said: { evalRunUpdated: evalRun } };
  });
  await page.goto(`${stack.console_url}/meridian/live/evals/runs/${await newestRun()}`);
  await page.getByText('completed', { exact: true }).waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('all pages are accessible and keep to their width in both themes, full and empty', async () => {
  const stops: readonly (readonly [name: string, path: string, shown: string])[] = [
    ['evals', 'meridian/live/evals', 'List of runs'],
    ['evals-suite', `meridian/live/evals/suites/${suite_id}`, 'List of cases'],
    ['evals-run', `meridian/live/evals/runs/${await newestRun()}`, 'List of results'],
  ];
  for (const look of fourLooks) {
    const { page, context, faults } = await openPage(browser, look, owner);
    for (const [name, path, shown] of stops) {
      const where = `${name}-${look.scheme}-${look.width}`;
      await page.goto(`${stack.console_url}/${path}`);
      const rows = page.getByRole('region', { name: shown }).getByRole('row');
      await expect.poll(() => rows.count()).toBeGreaterThan(1);
      await expect.poll(() => page.locator('[aria-busy=true], .skeleton').count()).toBe(0);
      await picture(page, where);
      await expectNoSidewaysScroll(page, where);
      await expectAccessible(page, where);
    }
    expect(faults).toEqual([]);
    await context.close();
  }
  const { page, context } = await openPage(browser, { width: 360 }, owner);
  await page.goto(`${stack.console_url}/newcomer/live/evals`);
  await page.getByText('No suite yet').waitFor();
  await page.getByText('No run yet').waitFor();
  await expectNoSidewaysScroll(page, 'no suites');
  await expectAccessible(page, 'no suites');
  await picture(page, 'evals-empty-360');
  // Another organisation's run is one that does not exist.
  await page.goto(`${stack.console_url}/newcomer/live/evals/runs/${await newestRun()}`);
  await page.getByText('No such run here').waitFor();
  await page.goto(`${stack.console_url}/newcomer/live/evals/suites/${suite_id}`);
  await page.getByText('No such suite here').waitFor();
  await expectAccessible(page, 'no such suite');
  await context.close();
});
