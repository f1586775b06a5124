// The digest of a receipt: SHA-256 over its lines, a table each, in the order of their bytes. Whoever has the receipt can recompute it,
// and whoever has the database can count again: of what was erased nothing is there, of what is kept as much as it says.
import { Sha256 } from '../kernel/index.ts';
import type { RowCounts } from './types.ts';

/** The lines of a receipt: `erased api_key 3`, `kept invoice 2`. */
export function linesOf({ erased, kept }: { erased: RowCounts; kept: RowCounts }): string[] {
  const lines = (word: string, counts: RowCounts) =>
    Object.entries(counts).map(([table, rows]) => `${word} ${table} ${rows}`);
  // Names of tables are ASCII: the order of their characters is that of their bytes.
  return [...lines('erased', erased), ...lines('kept', kept)].sort((a, b) => (a < b ? -1 : 1));
}

/** The digest over the organization's id and the lines, each with a line feed behind it. */
export function receiptDigest(receipt: { org_id: string; erased: RowCounts; kept: RowCounts }): string {
  const hash = new Sha256();
  for (const line of [receipt.org_id, ...linesOf(receipt)]) hash.add(`${line}\n`);
  return hash.hex();
}
