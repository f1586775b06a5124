// The statement of a month with more customers than a printed page holds, as the browser prints it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPool } from '@svc/core/db/index.ts';
import { setOrgKindOperation } from '@svc/core/resellers/index.ts';
import { extractText } from 'unpdf';
import { expect, test, vi } from 'vitest';
import { withClient } from '../../support/books.ts';
import { staffContext } from '../../support/provision.ts';
import { expectNoSidewaysScroll, lookAround, openPage, startConsole } from '../browser.ts';

vi.setConfig({ testTimeout: 120_000 });
const { stack, browser, owner } = await startConsole();
const CUSTOMERS = 130;
/** Names as long as they may be, and of one word that no line breaks by itself. */
const nameOf = (n: number) =>
  [`Customer ${n}`, `Customer ${n} ${'of a long name '.repeat(6)}`.trim(), `Customer ${n} ${'x'.repeat(60)}`][
    n % 3
  ];

const pool = createPool(stack.database_url, { max: 2, application: 'svc-test' });
await setOrgKindOperation.run(staffContext(pool), {
  ...{ id: stack.full.org_id, kind: 'reseller', reason: 'a contract' },
});
await pool.end();
await withClient(stack.database_url, async (client) => {
  const { rows } = await client.query<{ name: string }>(
    `select column_name as name from information_schema.columns
      where table_name = 'org' and table_schema = 'public'
        and column_name not in ('id', 'slug', 'name', 'kind', 'parent_org_id', 'live_book_id', 'sandbox_book_id')`,
  );
  const columns = rows.map(({ name }) => name).join(', ');
  await client.query(
    `insert into org (id, slug, name, kind, parent_org_id, ${columns})
     select 'org_' || lpad('C' || n, 26, '0'), 'customer-' || n, ($2::text[])[n], 'child', $1, ${columns}
       from org, generate_series(1, $3::int) as n where id = $1`,
    [stack.full.org_id, Array.from({ length: CUSTOMERS }, (_, n) => nameOf(n + 1)), CUSTOMERS],
  );
  await client.query(
    `insert into reseller_accrual (child_org_id, org_id, month, usage_micro, markup_micro, burned_micro, paid_micro,
                                   written_off_micro, status, accrued_micro)
     select 'org_' || lpad('C' || n, 26, '0'), $1, month, 9000000000::bigint * n, 900000000::bigint * n, 9000000000::bigint * n,
            4500000000::bigint * n, 1000, 'credited', 450000000::bigint * n - 1000
       from generate_series(1, $2::int) as n, unnest('{2026-09-01,2026-10-01}'::date[]) as month
      where month = '2026-10-01' or n > $2::int - 9`,
    [stack.full.org_id, CUSTOMERS],
  );
});

/** The words of each page of `pdf`. */
async function pageTexts(pdf: Uint8Array): Promise<string[]> {
  const { text } = await extractText(pdf, { mergePages: false });
  return text.map((page) => page.replaceAll(/\s+/g, ' '));
}
const HEADING = 'Customer Calls cost Markup in it Credit used Of it paid Written off You earn State';

test.each(['A4', 'Letter'])(
  'on %s each page has its heading and whole rows with every column, and the last one the sum, not alone',
  async (format) => {
    const { page, context, faults } = await openPage(browser, {}, owner);
    await page.goto(`${stack.console_url}/meridian/live/reseller?view=earnings&month=2026-10`);
    await page.getByRole('row', { name: /^All customers/ }).waitFor();
    const pdf = await page.pdf({ format, preferCSSPageSize: true });
    const folder = process.env['CONSOLE_PICTURES'];
    if (folder !== undefined) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `statement-${format}.pdf`), pdf);
    }
    const texts = await pageTexts(new Uint8Array(pdf));
    expect(texts.length).toBeGreaterThan(2);
    for (const [at, text] of texts.entries()) expect([at, text.includes(HEADING)]).toEqual([at, true]);
    // Each row is whole on one page: its name, its first amount and its last.
    for (let n = 1; n <= CUSTOMERS; n++) {
      const dollars = (micro: number) => (micro / 1e6).toLocaleString('en-US', { minimumFractionDigits: 6 });
      const row = new RegExp(
        `Customer ${n} (?:(?!Customer).)*?\\$${dollars(9e9 * n)}(?:(?!Customer).)*?\\$${dollars(45e7 * n - 1000)} credited`,
      );
      expect([n, texts.filter((text) => row.test(text)).length]).toEqual([n, 1]);
    }
    expect(texts.findIndex((text) => text.includes('All customers'))).toBe(texts.length - 1);
    expect(texts.at(-1)).toMatch(/Customer 130 .*All customers \$76,635,000\.000000/);
    expect(faults).toEqual([]);
    await context.close();
  },
);

test('on a screen of any width long names and large amounts hold, and the page never scrolls sideways', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/live/reseller?view=earnings&month=2026-09`);
  await page.getByRole('row', { name: /^All customers/ }).waitFor();
  for (const width of [760, 761, 900, 1024, 1280, 1920]) {
    await page.setViewportSize({ width, height: 860 });
    await expectNoSidewaysScroll(page, `statement-${width}`);
  }
  await lookAround(page, 'statement-long');
  expect(faults).toEqual([]);
  await context.close();
});
