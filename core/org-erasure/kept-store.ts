// Counts what there is of an organization in a table, for a receipt and whoever checks it. Names of tables come from fates.ts alone.
import type { Db, Id } from '../kernel/index.ts';

/** How many rows of `table` name the organization; `ledger` tables are counted where the books are. */
export async function countRows(db: Db, args: { table: string; org_id: Id<'org'> }): Promise<number> {
  const { table, org_id } = args;
  if (!/^[a-z_]+(?:\.[a-z_]+)?$/.test(table)) throw new Error(`not the name of a table: ${table}`);
  // The books are the one table of the ledger among them.
  const from = table === 'book' ? 'ledger.book' : table;
  const { rows } = await db.query<{ n: number }>({
    name: `org_erasure.count_${table.replace('.', '_')}`,
    text: `select count(*)::int as n from ${from} where org_id = $1`,
    values: [org_id],
  });
  return rows[0]?.n ?? 0;
}
