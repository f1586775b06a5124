// A dump of a ledger in memory, to be changed before the verifier reads it: what the tests of the verifier share.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { type Row, TABLE_NAMES, type TableName } from '../verify/store.ts';
import { type VerifyReport, verifySource } from '../verify/verify.ts';

/** The columns of each table in the order of the dump. */
const COLUMNS: Readonly<Record<TableName, string>> = {
  book: 'book_id org_id environment available held granted seq block_no head current_lot_no',
  lot: 'book_id lot_no lot_id seq is_grant expires_at amount burned is_open origin_seq',
  burn: 'book_id block_no lot_no from_micro to_micro seq',
  win: 'book_id kind subject start spent held',
  run: 'book_id run spent held after_block',
  hold: 'book_id hold_id amount key_no project_no run',
  entry: 'book_id seq amount balance_after created_at request_id kind ref_type ref_id',
  meter: `book_id block_no request_id seq cost key_no project_no model_no endpoint_no price_no input_tokens output_tokens
    cache_read_tokens cache_write_tokens cache_write_5m_tokens cache_write_1h_tokens reasoning_tokens outcome estimated
    other_units run`,
  block: 'book_id block_no first_seq entries meters created_at hash',
  writeoff: 'book_id seq amount request_id',
};

type Named = Readonly<Record<string, string | null>>;

export const fixtures = fileURLToPath(new URL('../verify/fixtures', import.meta.url));

const namesOf = (table: TableName) => COLUMNS[table].split(/\s+/);

/** The tables of the dump, to be changed. */
export class Tables {
  private readonly tables = new Map<TableName, Record<string, string | null>[]>(
    TABLE_NAMES.map((table) => {
      const lines = readFileSync(join(fixtures, `${table}.ndjson`), 'utf8')
        .trim()
        .split('\n');
      const rows = lines.map((line) => JSON.parse(line) as (string | null)[]);
      return [table, rows.map((row) => Object.fromEntries(namesOf(table).map((name, i) => [name, row[i]!])))];
    }),
  );

  private find(table: TableName, where: Named): Record<string, string | null>[] {
    const found = this.tables
      .get(table)!
      .filter((row) => Object.entries(where).every(([name, value]) => row[name] === value));
    expect(found.length, `rows of ${table}`).toBeGreaterThan(0);
    return found;
  }

  set(table: TableName, where: Named, to: Named): void {
    for (const row of this.find(table, where)) Object.assign(row, to);
  }

  remove(table: TableName, where: Named): void {
    const gone = new Set(this.find(table, where));
    this.tables.set(
      table,
      this.tables.get(table)!.filter((row) => !gone.has(row)),
    );
  }

  /** Adds the row that is like the one of `where`, with other values, behind it. */
  add(table: TableName, where: Named, to: Named): void {
    const [like] = this.find(table, where);
    const rows = this.tables.get(table)!;
    rows.splice(rows.indexOf(like!) + 1, 0, { ...like!, ...to });
  }

  /** What the verifier says of them. */
  verify(): Promise<VerifyReport> {
    const { tables } = this;
    return verifySource({
      async *rows(table) {
        for (const row of tables.get(table)!) yield namesOf(table).map((name) => row[name]!) as Row;
      },
      async close() {},
    });
  }

  /** The book of the findings and the check of each; nothing where there are none. */
  async findings(): Promise<string> {
    const { ok, findings, more } = await this.verify();
    expect({ ok, more }).toEqual({ ok: findings.length === 0, more: 0 });
    const [first] = findings;
    if (first === undefined) return '';
    for (const { book_id } of findings) expect(book_id).toBe(first.book_id);
    return `${first.book_id}: ${findings.map(({ check }) => check).join(' ')}`;
  }
}

/** A change, and the book and the checks of what is found then. */
export type Case = readonly [what: string, change: (tables: Tables) => void, findings: string];

/** What is found after `change`. */
export function findingsAfter(change: (tables: Tables) => void): Promise<string> {
  const tables = new Tables();
  change(tables);
  return tables.findings();
}

export const A = { book_id: '1' };
export const B = { book_id: '2' };
