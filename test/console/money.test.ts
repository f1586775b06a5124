// Every screen of money, of customers and of staff: in both themes, wide and on a phone. Nothing scrolls sideways, neither
// the page nor a table in its frame, and each row is reached by keyboard. With CONSOLE_PICTURES set to a folder, a picture
// of each is saved there for review.
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { withClient } from '../support/books.ts';
import { until } from '../support/programs/until.ts';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  type Look,
  openPage,
  picture,
  startConsole,
} from './browser.ts';
import { expectChosenInSight, expectFramesHold, expectRowsReached } from './keyboard.ts';
import { writeMoney } from './money-past.ts';
import { makeMember, memberState } from './staff/member.ts';

const { stack, browser, owner } = await startConsole();
let staff: Awaited<ReturnType<typeof memberState>>;
let topup_id: string;
let ticket_id: string;
beforeAll(async () => {
  await writeMoney(stack, browser, owner);
  staff = await memberState(
    browser,
    stack,
    await makeMember(stack, 'mira@svc.example', ['finance', 'support']),
  );
  await withClient(stack.database_url, async (client) => {
    const paid = await client.query<{ id: string }>(`select id from topup where status = 'paid'`);
    topup_id = paid.rows[0]?.id as string;
    const asked = await client.query<{ id: string }>(
      `select id from ticket where kind = 'invoice_correction'`,
    );
    ticket_id = asked.rows[0]?.id as string;
    // A mail comes back after it was sent.
    const underway = `select 1 from mail where template = 'low_balance' and status in ('queued', 'sending')`;
    await until('the mails are sent', async () => (await client.query(underway)).rowCount === 0);
    await client.query(
      `update mail set status = 'bounced', answer =
        '550 5.1.1 <asha@meridian.example>: recipient address rejected: user unknown in virtual mailbox table'
       where template = 'low_balance'`,
    );
  });
}, 240_000);

interface Stop {
  readonly name: string;
  readonly path: string | (() => string);
  /** What stands there when the page shows what it is for. */
  readonly ready: string | RegExp;
}

const CREDITS = 'meridian/live/credits';
const customers: readonly Stop[] = [
  { name: 'home', path: 'meridian/live/home', ready: 'Available credit' },
  { name: 'balance', path: CREDITS, ready: /^Your card may be debited/ },
  { name: 'add', path: `${CREDITS}?add=true`, ready: 'Pay $25.00' },
  { name: 'topup', path: () => `${CREDITS}?topup=${topup_id}`, ready: 'Refund…' },
  { name: 'movements', path: `${CREDITS}?view=movements`, ready: 'Call or document' },
  { name: 'lots', path: `${CREDITS}?view=lots`, ready: 'granted' },
  { name: 'reconciliation', path: `${CREDITS}?view=reconciliation`, ready: 'Total' },
  { name: 'gifts', path: `${CREDITS}?view=gifts`, ready: 'for the team that won' },
  { name: 'plan', path: `${CREDITS}?view=plan`, ready: 'the fee rises' },
  { name: 'invoices', path: 'meridian/live/invoices', ready: /^CINV/ },
  { name: 'budgets', path: 'meridian/live/budgets', ready: 'Ask for more…' },
  { name: 'tickets', path: 'meridian/live/tickets', ready: 'waits for support' },
  { name: 'ticket', path: () => `meridian/live/tickets/${ticket_id}`, ready: 'We have moved to Pune.' },
];

const ofStaff: readonly Stop[] = [
  { name: 'org', path: 'orgs/meridian', ready: 'in review' },
  { name: 'queue', path: 'queue', ready: 'Paid another amount' },
  { name: 'reviews', path: 'reviews', ready: 'Book what was paid' },
  { name: 'disputes', path: 'disputes', ready: 'goods not received' },
  { name: 'limits', path: 'limits', ready: /The sale begins/ },
  { name: 'plans', path: 'plans', ready: 'For heavy use' },
  { name: 'codes', path: 'codes', ready: 'devcon-2026' },
  { name: 'mails', path: 'mails?q=asha@meridian.example', ready: 'low balance' },
  { name: 'tickets', path: 'tickets', ready: /has our old address/ },
];

const looks: readonly (Look & { readonly name: string })[] = [
  { name: 'light-wide', scheme: 'light', width: 1320 },
  { name: 'dark-wide', scheme: 'dark', width: 1320 },
  { name: 'light-narrow', scheme: 'light', width: 360 },
  { name: 'dark-narrow', scheme: 'dark', width: 360 },
];

/** Goes to every stop and expects of it what holds for all. */
async function walk(page: Page, base: string, stops: readonly Stop[], prefix: string): Promise<void> {
  for (const { name, path, ready } of stops) {
    const where = `${prefix}-${name}`;
    await page.goto(`${base}/${typeof path === 'string' ? path : path()}`);
    await page.getByText(ready).first().waitFor({ state: 'attached' });
    await expect.poll(() => page.locator('.skeleton').count()).toBe(0);
    await picture(page, where);
    await expectNoSidewaysScroll(page, where);
    await expectFramesHold(page, where);
    await expectChosenInSight(page, where);
    await expectRowsReached(page, where);
    await expectAccessible(page, where);
  }
}

test.each(looks)(
  'no screen of money scrolls sideways, and each row is reached by keyboard, $name',
  { timeout: 240_000 },
  async (look) => {
    const { page, context, faults } = await openPage(browser, look, owner);
    await walk(page, stack.console_url, customers, `money-${look.name}`);
    expect(faults).toEqual([]);
    await context.close();
  },
);

test.each(looks)('the same holds for the screens of staff, $name', { timeout: 240_000 }, async (look) => {
  const { page, context, faults } = await openPage(browser, look, staff);
  await walk(page, stack.staff_url, ofStaff, `money-staff-${look.name}`);
  expect(faults).toEqual([]);
  await context.close();
});
