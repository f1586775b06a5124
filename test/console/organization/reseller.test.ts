// The area of a reseller in a real browser: customers, prices before they are saved, credit there and back, the statement of a
// month, and each part for those alone who hold its grant.
import { readFileSync } from 'node:fs';
import { createPool } from '@svc/core/db/index.ts';
import { setOrgKindOperation } from '@svc/core/resellers/index.ts';
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { withClient } from '../../support/books.ts';
import { type Provisioned, provision, staffContext } from '../../support/provision.ts';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  lookAround,
  openPage,
  picture,
  signedIn,
  startConsole,
} from '../browser.ts';
import { expectFramesHold, expectRowsReached, pressByKeyboard, tabTo } from '../keyboard.ts';
import { writePast } from '../past.ts';
import { MODEL } from '../stack.ts';
import { makeMember, memberState } from '../staff/member.ts';

vi.setConfig({ testTimeout: 120_000 });
const { stack, browser, owner } = await startConsole();
const base = `${stack.console_url}/meridian/live/reseller`;

/** An organization with a key that is a customer of meridian. */
async function customer(slug: string, name: string, live_micro_usd: number): Promise<Provisioned> {
  const made = await provision({
    ...{ database_url: stack.database_url, slug, live_micro_usd, keys: [{ name: 'main' }] },
  });
  await withClient(stack.database_url, (client) =>
    client.query(`update org set kind = 'child', parent_org_id = $2, name = $3 where id = $1`, [
      ...[made.org_id, stack.full.org_id, name],
    ]),
  );
  return made;
}

const pool = createPool(stack.database_url, { max: 2, application: 'svc-test' });
await setOrgKindOperation.run(staffContext(pool), {
  ...{ id: stack.full.org_id, kind: 'reseller', reason: 'a contract' },
});
const north = await customer('northwind', 'Northwind Traders', 5_000_000);
await customer('southwind', 'Southwind', 0);
await writePast(pool, north);
await pool.end();
await withClient(stack.database_url, async (client) => {
  await client.query(
    `select ledger.credit($1, $2, 50000000, false, 'infinity', 2::smallint, 'topup', 'tup_paid', now())`,
    [stack.full.live_book_id, `lot_${'0'.repeat(26)}`],
  );
  await client.query(
    `insert into reseller_accrual (child_org_id, org_id, month, usage_micro, markup_micro, burned_micro, paid_micro,
                                   written_off_micro, status, accrued_micro)
     values ($1, $2, '2026-10-01', 2250000, 250000, 2250000, 1125000, 1000, 'credited', 124000),
            ($1, $2, date_trunc('month', now() at time zone 'UTC')::date, 1125000, 125000, 1125000, 1125000, 0, 'open', null)`,
    [north.org_id, stack.full.org_id],
  );
});
const viewer = await signedIn(browser, stack, stack.viewer);

const call = () =>
  fetch(`${stack.gateway_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${north.live_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hello' }] }),
  });
/** A dialog on a desk in light and on a phone in the dark; its page has been looked at in all four ways. */
async function lookAt(page: Page, where: string): Promise<void> {
  await picture(page, `${where}-wide`);
  await expectFramesHold(page, where);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 360, height: 860 });
  await picture(page, `${where}-narrow`);
  await expectNoSidewaysScroll(page, where);
  await expectFramesHold(page, where);
  await expectAccessible(page, where);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1320, height: 860 });
}

const openArea = async (page: Page, view: string) => {
  await page.goto(`${base}?view=${view}`);
  await page.getByRole('navigation', { name: 'Views of the reseller area' }).waitFor();
};

test('an owner sees how customers stand, makes a tier whose prices are shown before it is saved, and a customer on it', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/live/home`);
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Reseller' }).click();
  await page.getByRole('region', { name: 'Credit you can give' }).getByText('$50.00').waitFor();
  await page.getByRole('region', { name: 'Earned this month' }).getByText('$0.125').first().waitFor();
  const matters = page.getByRole('region', { name: 'What needs doing' });
  await matters.getByRole('link', { name: 'Southwind' }).waitFor();
  await page.getByRole('img', { name: /Use by customer/ }).waitFor();
  await lookAround(page, 'reseller-overview');

  await matters.getByRole('link', { name: 'Make a tier, so that calls of customers earn' }).click();
  await pressByKeyboard(page, page.getByRole('button', { name: 'New tier' }));
  const dialog = page.getByRole('dialog');
  await page.keyboard.type('Standard');
  await tabTo(page, dialog.getByLabel('Above catalog prices, percent'));
  await page.keyboard.type('12,5');
  await page.keyboard.press('Enter');
  await dialog.getByText('A share from 0 to 100 %').waitFor();
  await dialog.getByLabel('Above catalog prices, percent').fill('12.5');
  await dialog.getByLabel('Prices at this markup of models with').fill('meridian/');
  const prices = dialog.getByRole('region', { name: 'Prices at this markup' });
  // 2.5 dollars a million at 12.5 % is 2.8125, which is rounded once.
  await prices.getByRole('row', { name: /input, beta.*\$2\.50.*\$2\.813.*\$0\.313/ }).waitFor();
  await lookAt(page, 'reseller-tier-form');
  await dialog.getByRole('button', { name: 'Make the tier' }).click();
  await page.getByText('Standard is 12.5 % above catalog prices.').waitFor();
  const tiers = page.getByRole('region', { name: 'List of tiers' });
  await tiers.getByRole('button', { name: 'Make Standard the default' }).click();
  await tiers.getByText('get this tier').waitFor();
  await lookAround(page, 'reseller-prices');

  await openArea(page, 'customers');
  await page.keyboard.press('c');
  await dialog.getByLabel('Name', { exact: true }).fill('East & West Ltd');
  expect(await dialog.getByLabel('Slug').inputValue()).toBe('east-west-ltd');
  await dialog.getByRole('button', { name: 'Make the customer' }).click();
  await dialog.getByText('Its owner has an e-mail address.').waitFor();
  await dialog.getByLabel('E-mail of its owner').fill('eve@east.example');
  await dialog.getByLabel('Billing country').fill('in');
  await lookAt(page, 'reseller-new-customer');
  await dialog.getByRole('button', { name: 'Make the customer' }).click();
  await page.getByRole('heading', { name: 'East & West Ltd', level: 1 }).waitFor();
  await page.getByRole('region', { name: 'Pays' }).getByText('Standard, 12.5 %').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('a customer is found, moved to a tier, given credit of which the unused comes back, and stopped', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await openArea(page, 'customers');
  const list = page.getByRole('region', { name: 'List of customers' });
  await list.getByRole('row', { name: /Southwind/ }).waitFor();
  await lookAround(page, 'reseller-customers');
  await expectRowsReached(page, 'reseller customers');
  await page.getByLabel('Name, slug or id of a customer').fill('northw');
  await page.keyboard.press('Enter');
  await page.waitForURL('**q=northw**');
  await expect.poll(() => list.getByRole('row').count()).toBe(2);
  await pressByKeyboard(page, list.getByRole('link', { name: 'Northwind Traders' }));
  await page.getByRole('heading', { name: 'Northwind Traders', level: 1 }).waitFor();
  await page.getByRole('img', { name: /Use by model/ }).waitFor();
  await page
    .getByRole('region', { name: 'Earned by month' })
    .getByRole('row', { name: /2026-10/ })
    .waitFor();

  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Change tier…' }).click();
  await dialog.getByText('That is what it pays now.').waitFor();
  await dialog
    .getByRole('combobox', { name: 'Tier' })
    .selectOption({ label: 'Standard, 12.5 % above catalog' });
  await dialog.getByText('would have been about').waitFor();
  await dialog.getByRole('region', { name: 'Prices before and after' }).getByRole('row').nth(1).waitFor();
  await lookAt(page, 'reseller-tier-of');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Calls from now on cost: Standard, 12.5 %.').waitFor();

  await page.getByRole('button', { name: 'Give credit…' }).click();
  await dialog.getByLabel('Amount, US dollars').fill('20.25');
  await dialog.getByText('$29.75').waitFor();
  await dialog.getByLabel('Note').fill('November');
  await lookAt(page, 'reseller-give');
  await dialog.getByRole('button', { name: 'Give $20.250000' }).click();
  await page.getByText('$20.250000 is given to Northwind Traders.').waitFor();
  const given = page.getByRole('region', { name: 'Credit that was given' });
  await page.getByRole('region', { name: 'Credit left' }).getByText('$25.25').waitFor();
  expect((await call()).status).toBe(200);
  await given.getByRole('button', { name: 'Take back what is unused of November' }).click();
  await dialog.getByRole('button', { name: 'Take back what is unused' }).click();
  await page.getByText(/\$\d+\.\d{6} came back to you\./).waitFor();
  const micros = async () => {
    const row = given.getByRole('row', { name: /^Together/ });
    const shown = await row.locator('.money').allInnerTexts();
    return shown.map((text) => Math.round(Number(text.replace('$', '')) * 1e6));
  };
  await expect.poll(async () => (await micros())[1]).toBeGreaterThan(20_000_000);
  const [all, back, stayed] = await micros();
  expect(all).toBe(20_250_000);
  expect((back ?? 0) + (stayed ?? 0)).toBe(all);
  await lookAround(page, 'reseller-customer');

  await page.getByRole('button', { name: 'Suspend…' }).click();
  await picture(page, 'reseller-suspend');
  await expectAccessible(page, 'suspend');
  // The way out has the focus, so that nobody is stopped by a press too many.
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Suspend…' }).click();
  await dialog.getByRole('button', { name: 'Suspend', exact: true }).click();
  await page.getByText('Its calls are refused from now on.').waitFor();
  await expect.poll(async () => (await call()).status).toBe(403);
  await page.getByRole('button', { name: 'Let it go on…' }).click();
  await dialog.getByRole('button', { name: 'Let it go on' }).click();
  await expect.poll(async () => (await call()).status).toBe(200);
  expect(faults).toEqual([]);
  await context.close();
});

test('the statement of a month adds up on the page and in the file, and an empty month says so', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${base}?view=earnings&month=2026-10`);
  const statement = page.getByRole('region', { name: 'Statement of the month' });
  // Half of what was used was paid for: 0.25 × ½ less what was written off.
  await statement.getByRole('row', { name: /Northwind Traders.*0\.250000.*0\.124000.*credited/ }).waitFor();
  await lookAround(page, 'reseller-earnings');
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ media: 'print', colorScheme });
    await page.setViewportSize({ width: 720, height: 1040 });
    await picture(page, `reseller-print-${colorScheme}`);
    // Paper is white, is no phone, and bears no menu and no button.
    const ground = page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect(await ground).toBe('rgb(247, 247, 249)');
    expect(await statement.getByRole('columnheader', { name: 'You earn' }).isVisible()).toBe(true);
    expect(await page.locator('button:visible, a:visible, select:visible').count()).toBe(0);
    await page.getByRole('heading', { name: 'meridian', level: 1 }).waitFor();
    await expectNoSidewaysScroll(page, `print-${colorScheme}`);
  }
  await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
  await page.setViewportSize({ width: 1320, height: 860 });
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save as CSV' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe('earnings-meridian-2026-10.csv');
  const lines = readFileSync(await file.path(), 'utf8')
    .trimEnd()
    .split('\r\n');
  expect(lines).toHaveLength(3);
  expect(lines[2]).toBe('2026-10,total,,2.250000,0.250000,2.250000,1.125000,0.001000,0.124000,,');
  await page.getByRole('combobox', { name: 'Month' }).selectOption('2026-09');
  await page.getByText('Nothing in this month').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('a code is shown once, customers read what is announced, and a ticket is answered and settled', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  const dialog = page.getByRole('dialog');
  await openArea(page, 'invites');
  await page.getByRole('button', { name: 'New code' }).click();
  await dialog.getByLabel('For', { exact: true }).fill('partners in Pune');
  await dialog.getByRole('button', { name: 'Make the code' }).click();
  const code = await dialog.locator('code').innerText();
  expect(code).toMatch(/^INV(-[0-9A-Z]{4}){4}$/);
  await dialog.getByRole('button', { name: 'Copy the code' }).click();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(code);
  await lookAt(page, 'reseller-code');
  await dialog.getByRole('button', { name: 'I have it, close' }).click();
  const codes = page.getByRole('region', { name: 'Codes and their uses' });
  await codes.getByRole('row', { name: /partners in Pune/ }).waitFor();
  expect(await page.content()).not.toContain(code);
  await codes.getByRole('button', { name: /^Revoke/ }).click();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await codes.getByText('revoked').waitFor();
  await lookAround(page, 'reseller-invites');

  await openArea(page, 'announcements');
  await page.getByRole('button', { name: 'New announcement' }).click();
  await dialog.getByLabel('Title').fill('New prices in December');
  await dialog.getByRole('button', { name: 'Announce' }).click();
  await dialog.getByText('Write what customers shall know.').waitFor();
  await dialog.getByLabel('Words').fill('Standard is 10 % from December on.');
  await dialog.getByRole('button', { name: 'Announce' }).click();
  await page.getByText('It is announced.').waitFor();
  const read = async () => {
    const answer = await fetch(`${stack.gateway_url}/v1/announcements`, {
      headers: { authorization: `Bearer ${north.live_key}` },
    });
    return ((await answer.json()) as { data: { title: string }[] }).data.map(({ title }) => title);
  };
  expect(await read()).toEqual(['New prices in December']);
  await lookAround(page, 'reseller-announcements');
  await page.getByRole('button', { name: 'Change New prices in December' }).click();
  await dialog.getByLabel('Title').fill('');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('A title is read first.').waitFor();
  await dialog.getByLabel('Title').fill('New prices in January');
  await dialog.getByLabel('How grave').selectOption('Warning');
  expect(await dialog.getByLabel('Words').inputValue()).toBe('Standard is 10 % from December on.');
  await dialog.getByLabel('Until').fill('2001-01-01T00:00');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('The end lies after the start.').waitFor();
  await lookAt(page, 'reseller-announcement-change');
  await dialog.getByLabel('Until').fill('');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('New prices in December is changed.').waitFor();
  expect(await read()).toEqual(['New prices in January']);
  await page.getByRole('button', { name: 'End New prices in January' }).click();
  await page.getByText('New prices in January is ended.').waitFor();
  await expect.poll(read).toEqual([]);

  const asked = await fetch(`${stack.gateway_url}/v1/tickets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${north.live_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'other', subject: 'Where is my credit?', body: 'It is not there.' }),
  });
  expect(asked.status).toBe(201);
  await openArea(page, 'tickets');
  await page.getByRole('button', { name: 'Read Where is my credit?' }).click();
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('Write an answer.').waitFor();
  await page.getByLabel('Answer to Where is my credit?').fill('It is there now.');
  await lookAround(page, 'reseller-tickets');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('The answer to Where is my credit? is sent.').waitFor();
  await page.getByText('It is there now.').first().waitFor();
  await page.getByRole('button', { name: 'Resolve Where is my credit?' }).click();
  await page.getByText('No open ticket').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('each part is for those who hold its grant, and the area is not there for whoever holds none', async () => {
  const theirs = await openPage(browser, {}, viewer);
  await theirs.page.goto(`${stack.console_url}/meridian/live/home`);
  const rail = theirs.page.getByRole('navigation', { name: 'Main' });
  await rail.getByRole('link', { name: 'Credits' }).waitFor();
  expect(await rail.getByRole('link', { name: 'Reseller' }).count()).toBe(0);
  await theirs.page.goto(base);
  await theirs.page.getByText('Nothing here for you yet').waitFor();
  await expectAccessible(theirs.page, 'no grant');
  await theirs.page.goto(`${stack.console_url}/meridian/sandbox/reseller`);
  await theirs.page.getByText('Customers are of live credit').waitFor();

  const mine = await openPage(browser, {}, owner);
  await openArea(mine.page, 'team');
  await mine.page.getByRole('button', { name: 'Change what vik@meridian.example may do' }).click();
  const dialog = mine.page.getByRole('dialog');
  await dialog.getByLabel(/^Support/).check();
  await lookAt(mine.page, 'reseller-grants');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await mine.page.getByText('Saved.').waitFor();
  await lookAround(mine.page, 'reseller-team');
  await theirs.page.goto(base);
  const views = theirs.page.getByRole('navigation', { name: 'Views of the reseller area' });
  await views.getByRole('link', { name: 'Tickets' }).waitFor();
  expect(await views.getByRole('link').allInnerTexts()).toEqual(['Tickets']);
  await theirs.page.goto(`${base}/customers/${north.org_id}`);
  await theirs.page.getByText('Nothing here for you yet').waitFor();

  await mine.page.getByRole('button', { name: 'Change what vik@meridian.example may do' }).click();
  await dialog.getByLabel(/^Support/).uncheck();
  await dialog.getByLabel(/^Read/).check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await theirs.page.goto(`${base}/customers/${north.org_id}`);
  await theirs.page.getByRole('heading', { name: 'Northwind Traders', level: 1 }).waitFor();
  await theirs.page.getByRole('region', { name: 'Credit that was given' }).getByText('November').waitFor();
  for (const name of ['Suspend…', 'Change tier…', 'Give credit…'])
    expect(await theirs.page.getByRole('button', { name }).count()).toBe(0);
  expect([...theirs.faults, ...mine.faults]).toEqual([]);
  await theirs.context.close();
  await mine.context.close();
});

test('staff make a reseller by keyboard with a reason, and see its customers and what it earned', async () => {
  const state = await memberState(browser, stack, await makeMember(stack, 'rita@svc.example', ['finance']));
  const { page, context, faults } = await openPage(browser, {}, state);
  await page.goto(`${stack.staff_url}/queue`);
  await page.getByRole('heading', { name: 'Queue', level: 1 }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('x');
  const list = page.getByRole('region', { name: 'Resellers', exact: true });
  await list.getByRole('row', { name: /meridian active 3 0 1/ }).waitFor();
  await pressByKeyboard(page, page.getByRole('button', { name: 'Make a reseller…' }));
  const dialog = page.getByRole('dialog');
  await tabTo(page, dialog.getByLabel('Organization'));
  await page.keyboard.type('northwind');
  await tabTo(page, dialog.getByLabel('Reason'));
  await page.keyboard.press('Enter');
  await dialog.getByText('Say it in one line.').waitFor();
  await page.keyboard.type('contract of November');
  await page.keyboard.press('Enter');
  // A customer of a reseller is none itself.
  await dialog.getByRole('alert').waitFor();
  await lookAt(page, 'staff-make-reseller');
  await dialog.getByLabel('Organization').fill('newcomer');
  await page.keyboard.press('Enter');
  await page.getByText('newcomer is a reseller.').waitFor();
  await list.getByRole('row', { name: /newcomer active 0 0 0/ }).waitFor();
  await lookAround(page, 'staff-resellers');
  await pressByKeyboard(page, list.getByRole('link', { name: 'meridian' }));
  const customers = page.getByRole('region', { name: 'Customers of the reseller' });
  await customers.getByRole('row', { name: /Northwind Traders.*Standard, 12.5%/ }).waitFor();
  const months = page.getByRole('region', { name: 'Earned by month' });
  await months.getByRole('row', { name: /2026-10.*0\.124000/ }).waitFor();
  await lookAround(page, 'staff-reseller');
  expect(faults).toEqual([]);
  await context.close();
});
