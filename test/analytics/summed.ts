// Rows that ClickHouse sums, and time that passes for what it has summed.
import type { ClickHouse } from '@svc/core/analytics/clickhouse/client.ts';
import { writeRows } from '@svc/core/analytics/clickhouse/write-store.ts';
import type { RequestRow } from '@svc/core/analytics/types.ts';

const SUMS = {
  ...{ usage_look: 'checked', usage_seal: 'made_at', usage_hour: 'made_at' },
  ...{ usage_value: 'made_at', usage_value_seal: 'made_at' },
} as const;

/** Leaves no row and no sum. */
export async function clear(db: ClickHouse): Promise<void> {
  for (const table of ['request_row', 'request_attempt', ...Object.keys(SUMS)])
    await db.run({ name: 'test.clear', text: `truncate table if exists ${table}` });
}

/** Rows that were stored so long ago that no look calls them late. */
export const storeSettled = (db: ClickHouse, rows: readonly RequestRow[]) =>
  writeRows(
    db,
    rows.map((row) => ({ ...row, stored_at: new Date(Date.now() - 3_600_000) })),
  );

async function ageTable(db: ClickHouse, table: string, column: string): Promise<void> {
  const columns = await db.query<{ name: string }>({
    name: 'test.columns',
    text: 'select name from system.columns where database = currentDatabase() and table = {table:String}',
    values: { table },
  });
  const names = columns.map(({ name }) => name).filter((name) => name !== 'version');
  const read = names.map((name) => (name === column ? `${name} - toIntervalMinute(10) as ${name}` : name));
  const steps = [
    `create table aged engine = Memory as select ${read.join(', ')} from ${table}`,
    `truncate table ${table}`,
    `insert into ${table} (${names.join(', ')}) select ${names.join(', ')} from aged`,
    'drop table aged',
  ];
  for (const text of steps) await db.run({ name: 'test.age', text });
}

/** As if everything that was summed until now, and the looks at it, were ten minutes older; `rows` too where they are to be. */
export async function age(db: ClickHouse, { rows = false }: { rows?: boolean } = {}): Promise<void> {
  for (const [table, column] of Object.entries(SUMS)) await ageTable(db, table, column);
  if (rows) await ageTable(db, 'request_row', 'stored_at');
}
