// Suites of evaluations edited in a real browser: made, their cases added, changed and removed one by one, and two people who edit
// at once.
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  fourLooks,
  openPage,
  picture,
  startConsole,
} from './browser.ts';
import { expectFocused } from './keyboard.ts';
import { manage } from './stack.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const { stack, browser, owner } = await startConsole();

const rest = async (method: string, path: string, body?: object) =>
  (await manage(stack, [method, path], body)).json();

const oneCase = (id: string, content = `Say ${id}`) => ({
  id,
  input: { messages: [{ role: 'user', content }], generation: { max_tokens: 8 } },
  grader: { kind: 'exact', expected: id },
});

async function makeSuite(name: string, ids: readonly string[]): Promise<string> {
  return (await rest('POST', '/v1/evals/suites', { name, cases: ids.map((id) => oneCase(id)) })).id;
}
const casesOf = async (id: string) => (await rest('GET', `/v1/evals/suites/${id}/cases?limit=200`)).data;
const at = (path: string) => `${stack.console_url}/meridian/live/evals${path}`;
const listed = (page: Page) => page.getByRole('region', { name: 'List of cases' });

test('a suite is made with its first case by keyboard; what is wrong stands at its field', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(at(''));
  await page.getByRole('button', { name: 'New suite' }).waitFor();
  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog', { name: 'New suite' });
  await expectFocused(dialog.getByLabel('Name of the suite'));
  await page.keyboard.press('Enter');
  await dialog.getByText('What the suite is called.').waitFor();
  await dialog.getByText('What is to be answered.').waitFor();
  await dialog.getByText('At least one answer.').waitFor();
  await expectAccessible(page, 'faults of a suite');
  await picture(page, 'evals-new-faults');
  await dialog.getByLabel('Name of the suite').fill('Capitals');
  await dialog.getByLabel('Question').fill('Capital of France?');
  await dialog.getByLabel('A right answer', { exact: true }).selectOption('REGEX');
  await dialog.getByLabel('Pattern').fill('(');
  await page.keyboard.press('Enter');
  // Only the API knows that this is no pattern.
  await dialog.getByLabel('Pattern').and(page.locator('[aria-invalid]')).waitFor();
  await dialog.getByLabel('Pattern').fill('^Paris$');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/evals/suites/es_*');
  await listed(page).getByText('matches ^Paris$').waitFor();
  await page.keyboard.press('a');
  const add = page.getByRole('dialog', { name: 'Add a case' });
  await add.getByLabel('Question').fill('Capital of Spain?');
  await add.getByLabel('Right answers').fill('Madrid\nVilla de Madrid');
  await add.getByLabel('Name of the case').fill('case_1');
  await page.keyboard.press('Enter');
  await add.getByText(/has a case "case_1" already/).waitFor();
  await add.getByLabel('Name of the case').fill('spain');
  await page.keyboard.press('Enter');
  await listed(page).getByText('is: Madrid, Villa de Madrid').waitFor();
  await page.getByText('2 cases').first().waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('a case is changed in every part, and what has no field of its own in the table stays as it was', async () => {
  const id = await makeSuite('Parts', ['one', 'two']);
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(at(`/suites/${id}`));
  await page.getByRole('button', { name: 'Edit one' }).click();
  const dialog = page.getByRole('dialog', { name: 'Case one' });
  await dialog.getByLabel('Question').fill('Say 1');
  await dialog.getByLabel('Write the messages as JSON').check();
  expect(JSON.parse(await dialog.getByLabel('Messages', { exact: true }).inputValue())).toEqual([
    { role: 'user', content: 'Say 1' },
  ]);
  await dialog.getByLabel('Write the messages as JSON').uncheck();
  await dialog.getByLabel('A right answer', { exact: true }).selectOption('NUMERIC');
  await dialog.getByLabel('Number').fill('1.0');
  await dialog.getByLabel('Tags').fill('a, b');
  await dialog.getByLabel('Weight').fill('two');
  await dialog.getByRole('button', { name: 'Save the case' }).click();
  await dialog.getByText('A number from 0 to 1,000.').waitFor();
  await dialog.getByLabel('Weight').fill('2');
  await dialog.getByRole('button', { name: 'Save the case' }).click();
  await listed(page).getByText('the number 1.0').waitFor();
  expect((await casesOf(id))[0]).toEqual({
    id: 'one',
    input: { messages: [{ role: 'user', content: 'Say 1' }], generation: { max_tokens: 8 } },
    grader: { kind: 'numeric', expected: '1.0' },
    ...{ weight: 2, tags: ['a', 'b'] },
  });
  await page.getByRole('button', { name: 'Remove two' }).click();
  await page
    .getByRole('dialog', { name: 'Remove two?' })
    .getByRole('button', { name: 'Remove the case' })
    .click();
  await page.getByText('1 case', { exact: true }).waitFor();
  // The last one cannot go.
  await page.getByRole('button', { name: 'Remove one' }).click();
  await page.getByRole('button', { name: 'Remove the case' }).click();
  await page.getByText('A suite has at least one case. Delete the suite instead.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Rename…' }).click();
  await page.getByLabel('Name of the suite').fill('Whole');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Whole' }).waitFor();
  await page.getByRole('button', { name: 'Delete…' }).click();
  const asked = page.getByRole('dialog', { name: 'Delete Whole?' });
  await expectAccessible(page, 'the question whether to delete');
  await asked.getByRole('button', { name: 'Delete the suite' }).click();
  await page.waitForURL('**/evals');
  await page.getByRole('button', { name: 'New suite' }).waitFor();
  expect(await page.getByRole('link', { name: 'Whole' }).count()).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});

test('of two who edit at once neither loses: another case is kept beside, the same case is shown before it is replaced', async () => {
  const id = await makeSuite('Shared', ['one', 'two']);
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(at(`/suites/${id}`));
  const open = async (name: string) => {
    await page.getByRole('button', { name: `Edit ${name}` }).click();
    const dialog = page.getByRole('dialog', { name: `Case ${name}` });
    await dialog.getByLabel('Question').waitFor();
    return dialog;
  };
  const other = (name: string, words: string) => {
    const { id: _, ...fields } = oneCase(name, words);
    return rest('PUT', `/v1/evals/suites/${id}/cases/${name}`, fields);
  };
  const first = await open('one');
  await other('two', 'Theirs, of two');
  await first.getByLabel('Question').fill('Mine, of one');
  await first.getByRole('button', { name: 'Save the case' }).click();
  await first.waitFor({ state: 'detached' });
  const asked = async () =>
    (await casesOf(id)).map((one: ReturnType<typeof oneCase>) => one.input.messages[0]?.content);
  expect(await asked()).toEqual(['Mine, of one', 'Theirs, of two']);

  const second = await open('two');
  await other('two', 'Theirs, once more');
  await second.getByLabel('Question').fill('Mine, of two');
  await second.getByRole('button', { name: 'Save the case' }).click();
  await second.getByText('Theirs asks “Theirs, once more”').waitFor();
  await expectAccessible(page, 'a case that somebody else changed');
  await picture(page, 'evals-case-theirs');
  expect(await asked()).toEqual(['Mine, of one', 'Theirs, once more']);
  expect(await second.getByLabel('Question').inputValue()).toBe('Mine, of two');
  await second.getByRole('button', { name: 'Save the case' }).click();
  await second.waitFor({ state: 'detached' });
  expect(await asked()).toEqual(['Mine, of one', 'Mine, of two']);

  // Removed by the other one: it says so, and does not come back by itself.
  const gone = await open('two');
  await rest('DELETE', `/v1/evals/suites/${id}/cases/two`);
  await gone.getByLabel('Question').fill('Mine, too late');
  await gone.getByRole('button', { name: 'Save the case' }).click();
  await gone.getByText('Somebody removed this case meanwhile.').waitFor();
  expect(await asked()).toEqual(['Mine, of one']);
  expect(faults).toEqual([]);
  await context.close();
});

test('a suite comes out of a file in parts; a refused part names its case, and what was stored is not stored twice', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(at(''));
  await page.getByRole('button', { name: 'From a file…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Suite out of a file' });
  const choose = (value: string) =>
    dialog.getByLabel('File').setInputFiles({
      ...{ name: 'answers.json', mimeType: 'application/json', buffer: Buffer.from(value) },
    });
  await dialog.getByRole('button', { name: 'Make the suite' }).click();
  await dialog.getByText('Choose a file.').waitFor();
  await choose('prompts: [hi]');
  await dialog.getByText('The file is not JSON.').waitFor();
  await expectAccessible(page, 'a file that is no suite');
  await picture(page, 'evals-file');
  const many = Array.from({ length: 450 }, (_, n) => oneCase(`n${n}`));
  const broken = many.map((one, n) =>
    n === 430 ? { ...one, grader: { kind: 'regex', pattern: '(' } } : one,
  );
  await choose(JSON.stringify({ name: 'Broken', cases: broken }));
  await dialog.getByText('450 cases').waitFor();
  await dialog.getByRole('button', { name: 'Make the suite' }).click();
  await dialog.getByText('400 of 450 cases stored').waitFor();
  await dialog.getByText(/^Case n430: /).waitFor();
  await dialog.getByRole('button', { name: 'Go on' }).click();
  await dialog.getByText(/^Case n430: /).waitFor();
  const suites = (await rest('GET', '/v1/evals/suites')).data;
  expect(suites.filter(({ name }: { name: string }) => name === 'Broken')).toMatchObject([
    { case_count: 400 },
  ]);
  await choose(JSON.stringify({ cases: many }));
  await expect.poll(() => dialog.getByLabel('Name of the suite').inputValue()).toBe('answers');
  await dialog.getByRole('button', { name: 'Make the suite' }).click();
  await page.waitForURL('**/evals/suites/es_*');
  await page.getByText('450 cases').first().waitFor();
  expect((await casesOf(page.url().split('/').at(-1) ?? '')).length).toBe(200);
  expect(faults).toEqual([]);
  await context.close();
});

test('the page and its dialogs keep to their width and are accessible in both themes', async () => {
  const id = await makeSuite('Looks', ['one', 'two']);
  for (const look of fourLooks) {
    const { page, context, faults } = await openPage(browser, look, owner);
    const where = `${look.scheme}-${look.width}`;
    await page.goto(at(`/suites/${id}`));
    await page.getByRole('button', { name: 'Edit one' }).waitFor();
    await picture(page, `evals-edit-${where}`);
    await expectNoSidewaysScroll(page, `suite ${where}`);
    await page.getByRole('button', { name: 'Edit one' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Question').waitFor();
    for (const kind of ['EXACT', 'CONTAINS', 'REGEX', 'NUMERIC', 'JSON_SCHEMA', 'JUDGE']) {
      await dialog.getByLabel('A right answer', { exact: true }).first().selectOption(kind);
      await expectAccessible(page, `case ${kind} ${where}`);
    }
    await picture(page, `evals-case-${where}`);
    await expectNoSidewaysScroll(page, `case ${where}`);
    expect(faults).toEqual([]);
    await context.close();
  }
});
