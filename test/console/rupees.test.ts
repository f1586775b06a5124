// An organisation in India buys credits in a browser: the dialog, our page to pay on, the checkout of rail-a, the console
// again.
import { beforeAll, expect, test } from 'vitest';
import { withClient } from '../support/books.ts';
import {
  cutStreams,
  expectAccessible,
  expectNoSidewaysScroll,
  openPage,
  picture,
  startConsole,
} from './browser.ts';
import { expectFocused, pressByKeyboard, tabTo } from './keyboard.ts';

const { stack, browser, owner } = await startConsole();
beforeAll(async () => {
  await withClient(stack.database_url, (client) =>
    client.query(
      `update org set billing_country = 'IN', billing_currency = 'INR', billing_address = null where slug = 'newcomer'`,
    ),
  );
});
const at = (path: string) => `${stack.console_url}/${path}`;

test('the state is asked for, then the page opens the checkout by itself, and UPI books credits with GST', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(at('newcomer/live/credits?add=true'));
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('State').selectOption({ label: 'Maharashtra' });
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await dialog.getByRole('button', { name: 'Pay ₹2,950.00' }).click();
  await page.waitForURL(`${stack.rail_a.url}/checkout/**`);
  await page.getByRole('button', { name: 'Fail: the bank declines' }).click();
  await page.getByText('Your payment was declined by the bank.').waitFor();
  await page.getByRole('button', { name: 'Pay by UPI' }).click();
  await page.waitForURL(/\/newcomer\/live\/credits\?.*topup=tup_.*outcome=done/);
  await page.getByText('of credit added for ₹2,950.00').waitFor();
  await page.getByRole('region', { name: 'List of top-ups' }).locator('.status.ok').waitFor();
  await page.getByText('upi').first().waitFor();
  // The document has its number wherever it is named, and a press saves it.
  const list = page.getByRole('region', { name: 'List of top-ups' });
  const [download] = await Promise.all([
    page.waitForEvent('download', { timeout: 60_000 }),
    list.getByRole('button', { name: /^Download INV\/\d\d-\d\d\/00001$/ }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^INV-\d\d-\d\d-00001\.pdf$/);
  await page
    .getByRole('region', { name: 'Top-up', exact: true })
    .getByRole('button', { name: /^Download INV/ })
    .waitFor();
  expect(await page.content()).not.toContain('inv_');
  await page.goto(at('newcomer/live/credits?view=movements'));
  await page
    .getByRole('row', { name: /Top-up \+/ })
    .getByRole('button', { name: /^Download INV/ })
    .waitFor();
  expect(await page.content()).not.toContain('inv_');
  expect(faults).toEqual([]);
  await context.close();
});

test('closed without paying: told so in the console, and the same page goes on to the checkout', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(at('newcomer/live/credits?add=true'));
  await page.getByRole('dialog').getByRole('button', { name: 'Pay ₹2,950.00' }).click();
  await page.waitForURL(`${stack.rail_a.url}/checkout/**`);
  await page.getByRole('button', { name: 'Close without paying' }).click();
  await page.getByText('You came back without paying ₹2,950.00. Nothing was charged.').waitFor();
  await page.getByRole('link', { name: 'Continue to payment' }).click();
  await page.waitForURL(`${stack.rail_a.url}/checkout/**`);
  await page.getByRole('button', { name: 'Pay by card' }).click();
  await page.getByText('of credit added for ₹2,950.00').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('a payment that was read is told, although all that a stream ever said is that it waits', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await cutStreams(page, 'Topup', (data) => {
    const { topup } = data['credits'] as { topup: unknown };
    return { read: data, said: { topupUpdated: topup } };
  });
  await page.goto(at('newcomer/live/credits?add=true'));
  await page.getByRole('dialog').getByRole('button', { name: 'Pay ₹2,950.00' }).click();
  await page.waitForURL(`${stack.rail_a.url}/checkout/**`);
  const checkout = page.url();
  await page.getByRole('button', { name: 'Close without paying' }).click();
  await page.getByText('You came back without paying ₹2,950.00. Nothing was charged.').waitFor();
  const elsewhere = await context.newPage();
  await elsewhere.goto(checkout);
  await elsewhere.getByRole('button', { name: 'Pay by card' }).click();
  await elsewhere.getByText('of credit added for ₹2,950.00').waitFor();
  // A page that nobody looks at rests.
  await page.bringToFront();
  await page.getByText('of credit added for ₹2,950.00').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('unused credit of a top-up is given back: a wrong amount is told at its field, the credit goes at once', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(at('newcomer/live/credits'));
  await page.getByRole('region', { name: 'List of top-ups' }).getByRole('link').first().click();
  await page.getByRole('button', { name: 'Refund…' }).click();
  const dialog = page.getByRole('dialog');
  const amount = dialog.getByLabel('Amount in INR, without tax');
  await amount.fill('2500.01');
  await dialog.getByText('At most the price, ₹2,500.00.').waitFor();
  await amount.fill('1000');
  await dialog.getByLabel('Reason').fill('bought too much');
  await picture(page, 'refund');
  await expectAccessible(page, 'refund');
  await dialog.getByRole('button', { name: 'Refund ₹1,000.00' }).click();
  // Nobody sends it to the rail here: that is the worker's.
  await dialog
    .getByText('₹1,180.00 (₹180.00 of it tax) goes back as soon as the rail has taken it')
    .waitFor();
  await picture(page, 'refund-asked');
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Refund…' }).click();
  await dialog.getByRole('button', { name: 'Refund what is unused' }).click();
  await dialog.getByText('A refund of this top-up is under way.').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

const looks = [
  { name: 'light-wide', scheme: 'light', width: 1440 },
  { name: 'dark-wide', scheme: 'dark', width: 1440 },
  { name: 'light-narrow', scheme: 'light', width: 360 },
  { name: 'dark-narrow', scheme: 'dark', width: 360 },
] as const;

test('the page to pay on in both themes, wide and narrow, and without scripts; what it says when it is over', async () => {
  const made = await openPage(browser, {}, owner);
  await made.page.goto(at('newcomer/live/credits?add=true'));
  await made.page.getByRole('dialog').getByRole('button', { name: 'Pay ₹2,950.00' }).click();
  await made.page.waitForURL(`${stack.rail_a.url}/checkout/**`);
  const order = stack.rail_a.store.orders.get([...stack.rail_a.store.orders.keys()].at(-1) as string);
  // Loaded again, as by who comes back: no token in the address, and it opens nothing by itself.
  const address = `${stack.gateway_url}/pay/${order?.receipt}`;
  const state = await made.context.storageState();
  await made.context.close();
  for (const look of looks) {
    const { page, context, faults } = await openPage(browser, look, state);
    await page.goto(address);
    await page.getByRole('button', { name: 'Pay ₹2,950.00' }).waitFor();
    await expectNoSidewaysScroll(page, look.name);
    await expectAccessible(page, look.name);
    await picture(page, `pay-${look.name}`);
    expect(faults).toEqual([]);
    await context.close();
  }
  const plain = await browser.newContext({ javaScriptEnabled: false, storageState: state });
  const page = await plain.newPage();
  await page.goto(address);
  await page.getByRole('button', { name: 'Pay ₹2,950.00' }).click();
  await page.waitForURL(`${stack.rail_a.url}/checkout/**`);
  await page.getByRole('button', { name: 'Pay by netbanking' }).click();
  await page.getByRole('button', { name: 'Return' }).click();
  await page.waitForURL(/outcome=done/);
  await expect.poll(async () => (await page.goto(address))?.status(), { timeout: 20_000 }).toBe(410);
  await page.getByText('This is paid. The credits are in your balance.').waitFor();
  await plain.close();
  const over = await openPage(browser, looks[3], state);
  await over.page.goto(address);
  await expectAccessible(over.page, 'over');
  await picture(over.page, 'pay-over');
  await over.context.close();
});

test('by keyboard alone UPI is allowed at the checkout, the rule is set, and credits are bought', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(at('newcomer/live/credits'));
  const card = page.getByRole('region', { name: 'Automatic top-up' });
  await pressByKeyboard(page, card.getByRole('button', { name: 'Use UPI' }));
  await page.waitForURL(`${stack.rail_a.url}/checkout/**`);
  await pressByKeyboard(page, page.getByRole('button', { name: 'Close without allowing it' }));
  const state = await context.storageState();
  const pending = page.getByRole('link', { name: 'Continue' });
  await pending.waitFor();
  const address = ((await pending.getAttribute('href')) as string).replace(/\?.*/, '');
  await pressByKeyboard(page, pending);
  await page.waitForURL(`${stack.rail_a.url}/checkout/**`);
  for (const look of looks) {
    // Loaded again, as by who comes back: it opens nothing by itself.
    const seen = await openPage(browser, look, state);
    await seen.page.goto(address);
    await seen.page.getByRole('button', { name: 'Go on by UPI' }).waitFor();
    await expectNoSidewaysScroll(seen.page, `mandate, ${look.name}`);
    await expectAccessible(seen.page, `mandate, ${look.name}`);
    await picture(seen.page, `mandate-${look.name}`);
    expect(seen.faults).toEqual([]);
    await seen.context.close();
  }
  await pressByKeyboard(page, page.getByRole('button', { name: 'Allow it', exact: true }));
  await card.getByText(/^Your UPI .*may be debited/).waitFor();
  await pressByKeyboard(page, card.getByRole('button', { name: 'Change' }));
  const rule = page.getByRole('dialog', { name: 'Automatic top-up' });
  const below = rule.getByLabel('When the balance falls below, in USD');
  await expectFocused(below);
  await page.keyboard.press('Control+A');
  await page.keyboard.type('7');
  await tabTo(page, rule.getByLabel('Add, in INR'));
  await page.keyboard.press('Control+A');
  await page.keyboard.type('3000');
  await page.keyboard.press('Enter');
  await rule.waitFor({ state: 'detached' });
  // The focus is where it was, so the next Tab goes on from there.
  await expectFocused(card.getByRole('button', { name: 'Change' }));
  await card.getByText(/When the balance falls below \$7\.00, add ₹3,000\.00/).waitFor();
  await pressByKeyboard(page, page.getByRole('main').getByText('Add credits', { exact: true }));
  const buy = page.getByRole('dialog', { name: 'Add credits' });
  await tabTo(page, buy.getByLabel('Amount in INR'));
  await page.keyboard.press('Control+A');
  await page.keyboard.type('3000');
  await pressByKeyboard(page, buy.getByRole('button', { name: 'Pay ₹3,540.00' }));
  await page.waitForURL(`${stack.rail_a.url}/checkout/**`);
  await pressByKeyboard(page, page.getByRole('button', { name: 'Pay by UPI' }));
  await page.getByText('of credit added for ₹3,540.00').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});
