// The console of staff in a real browser, and that neither console has anything of the other.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test, vi } from 'vitest';
import { launchChromium } from '../../support/chromium.ts';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  fillSignIn,
  type Look,
  openPage,
  picture,
} from '../browser.ts';
import { startStack } from '../stack.ts';
import { fillCode, type Member, makeMember, memberState, writeMatters } from './member.ts';

vi.setConfig({ testTimeout: 90_000 });

const stack = await startStack();
const browser = await launchChromium();
let finance: Awaited<ReturnType<typeof memberState>>;
beforeAll(async () => {
  await writeMatters(stack);
  finance = await memberState(browser, stack, await makeMember(stack, 'mira@svc.example', ['finance']));
}, 120_000);

const at = (path: string) => `${stack.staff_url}/${path}`;

const file = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** All text of a built console: its scripts, its page, its list of documents. */
function builtText(dist: string): string {
  return readdirSync(file(dist), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:js|html|json|css)$/.test(entry.name))
    .map(({ parentPath, name }) => readFileSync(`${parentPath}/${name}`, 'utf8'))
    .join('\n');
}

/** Names of the fields of Query and Mutation in a printed schema. */
function rootFields(schema: string): Set<string> {
  const text = readFileSync(file(`graphql/${schema}/schema.graphql`), 'utf8');
  const roots = text.matchAll(/^type (?:Query|Mutation) \{([\s\S]*?)^\}/gm);
  return new Set(
    [...roots].flatMap(([, body]) => [...(body ?? '').matchAll(/^ {2}(\w+)/gm)].map(([, n]) => n ?? '')),
  );
}

test('neither console names an operation of the other one, and customers are served nothing of staff', async () => {
  const [tenant, staff] = [rootFields('tenant'), rootFields('staff')];
  // A name of one small word may be a word of the page.
  const only = (these: Set<string>, others: Set<string>) =>
    [...these].filter((name) => !others.has(name) && /[a-z][A-Z]/.test(name));
  const named = (names: string[], text: string) =>
    names.filter((name) => new RegExp(`\\b${name}\\b`).test(text));
  const [of_tenant, of_staff] = [builtText('console/dist'), builtText('console/dist-staff')];
  expect(named(only(staff, tenant), of_tenant)).toEqual([]);
  expect(named(only(tenant, staff), of_staff)).toEqual([]);
  // Each does name its own.
  expect(named(only(staff, tenant), of_staff)).toContain('staffOrgs');
  expect(named(only(tenant, staff), of_tenant)).toContain('startTopup');
  for (const asset of readdirSync(file('console/dist-staff/assets')).filter((name) =>
    /^staff-.*\.js$/.test(name),
  )) {
    expect((await fetch(`${stack.console_url}/assets/${asset}`)).status).toBe(404);
    expect((await fetch(at(`assets/${asset}`))).status).toBe(200);
  }
});

test('the page of staff is served compressed and with the content security policy of the console', async () => {
  const [page, other] = await Promise.all([fetch(at('')), fetch(`${stack.console_url}/`)]);
  const policy = page.headers.get('content-security-policy');
  expect(policy).toContain("script-src 'self'");
  expect(policy).toBe(other.headers.get('content-security-policy'));
  const [script] = /\/assets\/[\w.-]+\.js/.exec(await page.text()) ?? [];
  const sent = await fetch(at(String(script).slice(1)), { headers: { 'accept-encoding': 'br' } });
  expect(sent.headers.get('content-encoding')).toBe('br');
  expect(sent.headers.get('cache-control')).toContain('immutable');
});

test('staff sign in with password and code, and come to the address that they asked for', async () => {
  const member: Member = await makeMember(stack, 'noor@svc.example', ['support']);
  const { page, context, faults } = await openPage(browser);
  await page.goto(at('?q=meridian'));
  await page.waitForURL(/sign-in/);
  await fillSignIn(page, { ...member, password: 'not the password at all' });
  await page.getByText('The e-mail address or the password is wrong.').waitFor();
  await fillSignIn(page, member);
  await fillCode(page, '000000');
  await page.getByRole('alert').waitFor();
  await fillCode(page, member.code());
  await page.getByRole('row', { name: /meridian/ }).waitFor();
  await page.getByText('Your roles: support').waitFor();
  expect(faults).toEqual([]);
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Staff sign-in' }).waitFor();
  await page.goto(at(''));
  await page.waitForURL(/sign-in/);
  await context.close();
});

test('a person of a customer is nobody here, and the cookie of staff opens no console of customers', async () => {
  const { page, context } = await openPage(browser, {}, finance);
  await page.goto(`${stack.console_url}/`);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await context.clearCookies();
  await page.goto(at('sign-in'));
  await fillSignIn(page, stack.owner);
  await page.getByText('The e-mail address or the password is wrong.').waitFor();
  await context.close();
});

test('a session that has ended asks for a sign-in over the page, which stays as it was', async () => {
  const member = await makeMember(stack, 'ola@svc.example', ['support']);
  const { page, context } = await openPage(browser, {}, await memberState(browser, stack, member));
  await page.goto(at('?q=meridian'));
  await page.getByRole('row', { name: /meridian/ }).waitFor();
  await context.clearCookies();
  await page.keyboard.press('/');
  await page.getByLabel('Id, slug or part of a name').fill('newcomer');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.getByLabel('Password', { exact: true }).fill(member.password);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await fillCode(page, member.code());
  await page.getByRole('row', { name: /newcomer/ }).waitFor();
  await context.close();
});

test('finance finds an organization by keyboard, grants credit with a reason, and sees what it did', async () => {
  const { page, context, faults } = await openPage(browser, {}, finance);
  await page.goto(at(''));
  await page.getByLabel('What to find').fill('newc');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'newcomer' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'newcomer', level: 1 }).waitFor();
  await page.getByText('No top-up yet').waitFor();
  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog', { name: 'Grant credit to newcomer' });
  const send = () => dialog.getByRole('button', { name: 'Grant credit' }).click();
  await dialog.getByLabel('Amount in US dollars').fill('12.5.0');
  await send();
  await dialog.getByText('Enter an amount in dollars').waitFor();
  await dialog.getByText('Say why').waitFor();
  await dialog.getByLabel('Amount in US dollars').fill('100.01');
  await dialog.getByLabel('Reason').fill('an outage on Sunday');
  await dialog.getByLabel('Reference').fill('case-41');
  await send();
  await dialog.getByText('Above 100 USD this needs a second person').waitFor();
  await dialog.getByLabel('Amount in US dollars').fill('12.50');
  await send();
  await page.getByText('$12.50 granted, as entry 1 of the ledger.').waitFor();
  const balance = page.getByRole('region', { name: 'Available credit' });
  await expect.poll(() => balance.locator('.balance-value').innerText()).toBe('$12.50');
  await page.getByRole('row', { name: /Grant \+\$12\.50/ }).waitFor();
  await page
    .getByRole('row', { name: /mira@svc\.example staff\.credits\.grant an outage on Sunday/ })
    .waitFor();
  // The same once more: nothing moves.
  await page.getByRole('button', { name: 'Grant credit…' }).click();
  await dialog.getByLabel('Amount in US dollars').fill('12.50');
  await dialog.getByLabel('Reason').fill('an outage on Sunday');
  await dialog.getByLabel('Reference').fill('case-41');
  await send();
  await page.getByText('granted $12.50 before; nothing moved now').waitFor();
  expect(await balance.locator('.balance-value').innerText()).toBe('$12.50');
  expect(faults).toEqual([]);
  await context.close();
});

test('what waits stands in the queue with its reason; finance resolves it with a note, support only reads', async () => {
  const { page, context, faults } = await openPage(browser, {}, finance);
  await page.goto(at('queue'));
  const twice = page.getByRole('listitem').filter({ hasText: 'Paid twice' });
  await twice.getByText('The second payment is given back by itself.').waitFor();
  // A payment in review is decided, not resolved.
  const review = page.getByRole('listitem').filter({ hasText: 'Paid another amount' }).first();
  expect(await review.getByRole('button', { name: /^Resolve/ }).count()).toBe(0);
  await twice.getByRole('button', { name: /^Resolve/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Resolve: Paid twice' });
  await dialog.getByRole('button', { name: 'Resolve this item' }).click();
  await dialog.getByText('Say in one line what was found and done.').waitFor();
  await dialog.getByLabel('What was found and done').fill('given back on the 21st');
  await dialog.getByRole('button', { name: 'Resolve this item' }).click();
  await twice.waitFor({ state: 'detached' });
  await review.getByRole('link', { name: /^Open the organization/ }).click();
  await page.getByRole('heading', { name: 'meridian', level: 1 }).waitFor();
  await page.getByRole('row', { name: /staff\.items\.resolve given back on the 21st/ }).waitFor();
  await page
    .getByRole('row', { name: /in review/ })
    .first()
    .waitFor();
  expect(faults).toEqual([]);
  await context.close();

  const member = await makeMember(stack, 'sara@svc.example', ['support']);
  const reading = await openPage(browser, {}, await memberState(browser, stack, member));
  await reading.page.goto(at('orgs/meridian'));
  await reading.page.getByText('Paid another amount').first().waitFor();
  expect(await reading.page.getByRole('button', { name: /Grant credit|^Resolve/ }).count()).toBe(0);
  await reading.context.close();
});

interface Stop {
  readonly name: string;
  readonly path: string;
  readonly ready: string | RegExp;
}

const stops: readonly Stop[] = [
  { name: 'find', path: '?q=meridian', ready: 'active' },
  { name: 'find-nothing', path: '?q=nobody-at-all', ready: 'Nothing is called' },
  { name: 'org', path: 'orgs/meridian', ready: 'in review' },
  { name: 'org-sandbox', path: 'orgs/newcomer?env=sandbox', ready: 'Sandbox credit' },
  { name: 'no-org', path: 'orgs/nobody', ready: 'No such organization' },
  { name: 'queue', path: 'queue', ready: 'Paid another amount' },
  { name: 'reviews', path: 'reviews', ready: 'Book what was paid' },
  { name: 'disputes', path: 'disputes', ready: 'goods not received' },
  { name: 'limits', path: 'limits', ready: 'The sale begins' },
  { name: 'plans', path: 'plans', ready: 'For heavy use' },
  { name: 'codes', path: 'codes', ready: 'devcon-2026' },
  { name: 'mails', path: 'mails?q=asha@meridian.example', ready: 'low balance' },
  { name: 'no-mails', path: 'mails?q=nobody@meridian.example', ready: 'No mail for' },
  { name: 'operations', path: 'operations', ready: 'RailUnavailable: 503' },
  { name: 'operations-kind', path: 'operations?type=refund', ready: 'All kinds' },
  { name: 'prices', path: 'prices?q=gpt-4o', ready: 'it holds' },
  { name: 'no-prices', path: 'prices?q=no-such-model', ready: 'No price of a model' },
  { name: 'nowhere', path: 'no/such/page', ready: 'There is nothing at this address' },
];

const looks: readonly (Look & { readonly name: string })[] = [
  { name: 'light-wide', scheme: 'light', width: 1440 },
  { name: 'dark-wide', scheme: 'dark', width: 1440 },
  { name: 'light-narrow', scheme: 'light', width: 360 },
  { name: 'dark-narrow', scheme: 'dark', width: 360 },
];

test.each(looks)('every page of staff is accessible and keeps to its width, $name', async (look) => {
  const { page, context, faults } = await openPage(browser, look, finance);
  for (const stop of stops) {
    const where = `staff-${stop.name}-${look.name}`;
    await page.goto(at(stop.path));
    await page.getByText(stop.ready).first().waitFor();
    await picture(page, where);
    await expectNoSidewaysScroll(page, where);
    await expectAccessible(page, where);
  }
  await page.goto(at('orgs/meridian'));
  await page.getByRole('button', { name: 'Grant credit…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Grant credit' }).click();
  await page.getByText('Name the ticket or the case.').waitFor();
  await picture(page, `staff-grant-${look.name}`);
  await expectAccessible(page, 'grant');
  expect(faults).toEqual([]);
  await context.close();
  const outside = await openPage(browser, look);
  await outside.page.goto(at('sign-in'));
  await outside.page.getByLabel('E-mail').waitFor();
  await picture(outside.page, `staff-sign-in-${look.name}`);
  await expectAccessible(outside.page, 'sign-in of staff');
  await outside.context.close();
});

test('finance books what was paid or gives it back, each with a reason; support reads and decides nothing', async () => {
  const { page, context, faults } = await openPage(browser, {}, finance);
  await page.goto(at('reviews'));
  const over = page.getByRole('listitem').filter({ hasText: 'meridian: $26.00 paid, $25.00 asked' });
  await over.getByRole('button', { name: /^Book/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Book what was paid' });
  await dialog
    .getByText('$26.00 without tax are booked with their document, for $26.000000 of credit.')
    .waitFor();
  await dialog.getByRole('button', { name: 'Book it' }).click();
  await dialog.getByText('Say it in one line.').waitFor();
  await picture(page, 'staff-review-dialog');
  await expectAccessible(page, 'review dialog');
  await dialog.getByLabel('Reason').fill('a dollar too much');
  await dialog.getByRole('button', { name: 'Book it' }).click();
  await over.waitFor({ state: 'detached' });
  const short = page.getByRole('listitem').filter({ hasText: '$24.00 paid, $25.00 asked' });
  await short.getByRole('button', { name: /^Give back/ }).click();
  const back = page.getByRole('dialog', { name: 'Give the payment back' });
  await back.getByLabel('Reason').fill('the customer asked for it');
  await back.getByRole('button', { name: 'Give it back' }).click();
  await page.getByText('Nothing waits').waitFor();
  await page.goto(at('orgs/meridian'));
  await page.getByRole('row', { name: /staff\.topups\.accept a dollar too much/ }).waitFor();
  await page.getByRole('row', { name: /staff\.topups\.refuse the customer asked/ }).waitFor();
  await page
    .getByRole('row', { name: /paid .*\$25\.00|\$26\.00/ })
    .first()
    .waitFor();
  // What was booked has its document by number, which staff can open.
  const topups = page.getByRole('region', { name: 'Top-ups of the organization' });
  const [download] = await Promise.all([
    page.waitForEvent('download', { timeout: 60_000 }),
    topups.getByRole('button', { name: /^Download INV\// }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^INV-.*\.pdf$/);
  await page
    .getByRole('region', { name: 'Documents of the organization' })
    .getByRole('button', { name: /^Download INV\// })
    .first()
    .waitFor();
  expect(await page.content()).not.toContain('inv_');
  expect(faults).toEqual([]);
  await context.close();
});

test('finance lets calls go on despite a loss, then notes that it was paid', async () => {
  const { page, context, faults } = await openPage(browser, {}, finance);
  await page.goto(at('disputes'));
  const loss = page.getByRole('listitem').filter({ hasText: 'meridian: $25.00 lost' });
  await loss.getByRole('button', { name: /^Allow calls/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill('they pay on Friday');
  await dialog.getByRole('button', { name: 'Allow calls' }).click();
  await loss.getByText('calls are allowed again').waitFor();
  await loss.getByRole('button', { name: /^The loss/ }).click();
  await dialog.getByLabel('Reason').fill('by bank transfer');
  await dialog.getByRole('button', { name: 'It was paid' }).click();
  await loss.waitFor({ state: 'detached' });
  await page.getByText('$20.00 disputed').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('a request for higher limits is granted with other values, and stands with the limits of the organization', async () => {
  const { page, context, faults } = await openPage(browser, {}, finance);
  await page.goto(at('limits'));
  const request = page.getByRole('listitem').filter({ hasText: 'The sale begins on Friday' });
  await request.getByRole('button', { name: /^Grant/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Calls a minute').fill('lots');
  await dialog.getByRole('button', { name: 'Grant these limits' }).click();
  await dialog.getByText('Calls a minute: a whole number from 1 on.').waitFor();
  await picture(page, 'staff-limit-dialog');
  await expectAccessible(page, 'limit dialog');
  await dialog.getByLabel('Calls a minute').fill('800');
  await dialog.getByRole('button', { name: 'Grant these limits' }).click();
  await page.getByText('Nothing waits').waitFor();
  await page.goto(at('orgs/meridian'));
  await page.getByText('of which granted beyond the plan: 800 calls a minute, 60 at once').waitFor();
  await page.getByRole('button', { name: 'Change limits…' }).click();
  await dialog.getByLabel('Calls a minute').fill('');
  await dialog.getByLabel('Reason').fill('the sale is over');
  await dialog.getByLabel('At once').fill('70');
  await dialog.getByRole('button', { name: 'Set the limits' }).click();
  await page.getByText('of which granted beyond the plan: 70 at once').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('a batch of codes is made and shown once as a file, then stopped', async () => {
  const { page, context, faults } = await openPage(browser, {}, finance);
  await page.goto(at('codes'));
  await page.getByRole('button', { name: 'Make a batch…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Make the codes' }).click();
  await dialog.getByText('Up to 40 of a to z').waitFor();
  await picture(page, 'staff-batch-dialog');
  await expectAccessible(page, 'batch dialog');
  await dialog.getByLabel('Name').fill('meetup');
  await dialog.getByLabel('Dollars of each code').fill('2.50');
  await dialog.getByLabel('Codes', { exact: true }).fill('3');
  await dialog.getByLabel('Credit lasts, days').fill('30');
  await dialog.getByLabel('Codes are taken until').fill('2099-01-31');
  await dialog.getByRole('button', { name: 'Make the codes' }).click();
  const csv = await dialog.getByLabel('Codes as CSV').inputValue();
  expect(
    csv
      .trim()
      .split('\n')
      .map((line) => line.trim()),
  ).toEqual([
    'code,amount_micro_usd,batch',
    ...Array.from({ length: 3 }, () => expect.stringMatching(/^CR-[0-9A-Z-]+,2500000,meetup$/)),
  ]);
  await picture(page, 'staff-codes-once');
  const saved = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Save as a file' }).click();
  expect((await saved).suggestedFilename()).toBe('meetup.csv');
  await dialog.getByRole('button', { name: 'I have them, close' }).click();
  const row = page.getByRole('row', { name: /meetup/ });
  await row.getByText('open').waitFor();
  expect(await page.content()).not.toContain('CR-');
  await row.getByRole('button', { name: 'Stop meetup' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop this batch' }).click();
  await row.getByText('stopped').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});
