// Where the verifier reads from: a database in one repeatable-read snapshot, or a dump of one. Every value is text,
// so that no parser of the product stands between the stored value and the check.

import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { inLedgerSchema, ledgerSchemaOf } from '../../db/index.ts';

export type Row = readonly (string | null)[];

const FETCH = 5_000;
const DUMP_VERSION = 4;
const MICROS = (column: string) =>
  `case when isfinite(${column}) then (extract(epoch from ${column}) * 1000000)::bigint::text else ${column}::text end`;

/**
 * Columns and order of what is read; `book_id` is always the first column and the first in the order. The order names
 * the table: a bare name would mean the column as text, and 10 would come before 9.
 */
const TABLES = {
  book: {
    columns: `book_id, org_id, environment, available, held, granted, seq, block_no, encode(head, 'hex'),
              current_lot_no`,
    order: 't.book_id',
  },
  lot: {
    columns: `book_id, lot_no, lot_id, seq, is_grant, ${MICROS('expires_at')}, amount, burned, is_open,
              origin_seq`,
    order: 't.book_id, t.seq, t.origin_seq',
  },
  burn: {
    columns: 'book_id, block_no, lot_no, from_micro, to_micro, seq',
    order: 't.book_id, t.block_no, t.lot_no, t.from_micro',
  },
  win: {
    columns: 'book_id, kind, subject, start, spent, held',
    order: 't.book_id, t.kind, t.subject, t.start',
  },
  run: { columns: 'book_id, run, spent, held, after_block', order: 't.book_id, t.run' },
  hold: { columns: 'book_id, hold_id, amount, key_no, project_no, run', order: 't.book_id, t.hold_id' },
  entry: {
    columns: `book_id, seq, amount, balance_after, ${MICROS('created_at')}, request_id, kind, ref_type, ref_id`,
    order: 't.book_id, t.seq',
  },
  meter: {
    columns: `book_id, block_no, request_id, seq, cost, key_no, project_no, model_no, endpoint_no, price_no,
              input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cache_write_5m_tokens,
              cache_write_1h_tokens, reasoning_tokens, outcome, estimated::int, other_units, run`,
    order: 't.book_id, t.block_no, t.request_id',
  },
  block: {
    columns: `book_id, block_no, first_seq, entries, meters, ${MICROS('created_at')}, encode(hash, 'hex')`,
    order: 't.book_id, t.block_no',
  },
  writeoff: { columns: 'book_id, seq, amount, request_id', order: 't.book_id, t.seq' },
} as const;

export type TableName = keyof typeof TABLES;
export const TABLE_NAMES = Object.keys(TABLES) as TableName[];

export interface Source {
  /** The rows of a table in its order; each table is read once. */
  rows(table: TableName): AsyncIterable<Row>;
  close(): Promise<void>;
}

/** Columns as text: `a, b` becomes `(a)::text, (b)::text`, commas inside brackets left alone. */
function asText(columns: string): string {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const character of columns) {
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (character === ',' && depth === 0) {
      parts.push(part);
      part = '';
    } else part += character;
  }
  parts.push(part);
  return parts.map((one) => `(${one.trim()})::text`).join(', ');
}

/** Opens one read-only snapshot of the database at `url`, narrowed to the books of `org_id` when it is given. */
export async function openDatabase(url: string, org_id: string | null): Promise<Source> {
  const schema = ledgerSchemaOf(url);
  const client = new pg.Client({ connectionString: url, application_name: 'svc-ledger-verify' });
  // What breaks between two questions is found by the next one.
  client.on('error', () => {});
  await client.connect();
  await client.query('begin isolation level repeatable read read only');
  await client.query(`set local timezone = 'UTC'`);
  let where = '';
  if (org_id !== null) {
    const { rows } = await client.query<{ id: string }>(
      inLedgerSchema('select book_id::text as id from ledger.book where org_id = $1', schema),
      [org_id],
    );
    // Numbers of our own table: a cursor takes no parameters.
    where = `where book_id in (${['-1', ...rows.map((row) => row.id)].join(', ')})`;
  }
  return {
    async *rows(table) {
      const { columns, order } = TABLES[table];
      await client.query(
        `declare c_${table} no scroll cursor for select ${asText(columns)} from ${schema}.${table} t ${where} order by ${order}`,
      );
      for (;;) {
        const { rows } = await client.query<string[]>({
          text: `fetch ${FETCH} from c_${table}`,
          rowMode: 'array',
        });
        yield* rows;
        if (rows.length < FETCH) return;
      }
    },
    async close() {
      await client.query('rollback').catch(() => {});
      await client.end();
    },
  };
}

/** Opens a dump that `dumpLedger` made. @throws Error when `dir` holds none. */
export async function openDump(dir: string, org_id: string | null): Promise<Source> {
  const manifest = JSON.parse(await readFile(join(dir, 'ledger.json'), 'utf8')) as { version: number };
  if (manifest.version !== DUMP_VERSION)
    throw new Error(`a dump of version ${manifest.version} cannot be read`);
  async function* read(table: TableName): AsyncIterable<Row> {
    const lines = createInterface({ input: createReadStream(join(dir, `${table}.ndjson`)) });
    for await (const line of lines) yield JSON.parse(line) as Row;
  }
  const books = new Set<string>();
  if (org_id !== null) for await (const row of read('book')) if (row[1] === org_id) books.add(row[0]!);
  return {
    async *rows(table) {
      for await (const row of read(table)) if (org_id === null || books.has(row[0]!)) yield row;
    },
    async close() {},
  };
}

/**
 * Writes one snapshot of the ledger's tables to `dir`: a file of JSON lines per table in the order that the verifier
 * reads, and `ledger.json` last, so that a broken-off dump is none. Returns the number of rows by table.
 */
export async function dumpLedger(url: string, dir: string): Promise<Record<TableName, number>> {
  await mkdir(dir, { recursive: true });
  const source = await openDatabase(url, null);
  const counts = {} as Record<TableName, number>;
  try {
    for (const table of TABLE_NAMES) {
      const file = createWriteStream(join(dir, `${table}.ndjson`), { mode: 0o600 });
      counts[table] = 0;
      for await (const row of source.rows(table)) {
        counts[table]++;
        if (!file.write(`${JSON.stringify(row)}\n`)) await once(file, 'drain');
      }
      file.end();
      await once(file, 'close');
    }
  } finally {
    await source.close();
  }
  await writeFile(join(dir, 'ledger.json'), `${JSON.stringify({ version: DUMP_VERSION, rows: counts })}\n`, {
    mode: 0o600,
  });
  return counts;
}
