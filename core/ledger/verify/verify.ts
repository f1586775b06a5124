// `svcctl ledger verify`: reads the ledger as an outsider would and recomputes all of it, with its own arithmetic
// (bigint) and its own bytes for the hashes. It shares nothing with the code that writes but the column names. One
// book at a time is in memory, and of a book only its lots, windows and holds.
import { BookCheck } from './book.ts';
import { Cursor, type Cursors } from './cursor.ts';
import { openDatabase, openDump, type Source, TABLE_NAMES } from './store.ts';

/** More findings than this are counted, not listed. */
const FINDINGS_MAX = 200;

export interface Finding {
  readonly book_id: number;
  /** What does not hold: an invariant of core/ledger/README.md in a word. */
  readonly check: string;
  readonly message: string;
}

export interface VerifyReport {
  readonly ok: boolean;
  readonly books: number;
  readonly entries: number;
  readonly meters: number;
  readonly findings: readonly Finding[];
  /** Findings beyond those listed. */
  readonly more: number;
}

/**
 * Recomputes balances, seqs, hashes, lots and burn ranges, windows, holds, grants, metering and write-offs of every
 * book (or those of `org_id`) at `from` and reports what differs. Reads one snapshot, so calls may run meanwhile.
 * @throws Error when the database or the dump cannot be read.
 */
export async function verifyLedger(
  from: { readonly url: string } | { readonly dump: string },
  options: { readonly org_id?: string } = {},
): Promise<VerifyReport> {
  const org_id = options.org_id ?? null;
  const source = 'url' in from ? await openDatabase(from.url, org_id) : await openDump(from.dump, org_id);
  try {
    return await verifySource(source);
  } finally {
    await source.close();
  }
}

/** The same of tables from anywhere; each is read once, in its order. */
export async function verifySource(source: Source): Promise<VerifyReport> {
  const findings: Finding[] = [];
  let more = 0;
  const report = (book: string, check: string, message: string) => {
    if (findings.length < FINDINGS_MAX) findings.push({ book_id: Number(book), check, message });
    else more++;
  };
  const cursors = Object.fromEntries(
    TABLE_NAMES.map((table) => [table, new Cursor(source.rows(table))]),
  ) as unknown as Cursors;
  let books = 0;
  let entries = 0;
  let meters = 0;
  for (;;) {
    const row = await cursors.book.take(() => true);
    await skipStrangers(cursors, row === null ? null : BigInt(row[0]!), report);
    if (row === null) break;
    books++;
    const check = new BookCheck(row, cursors, (name, message) => report(row[0]!, name, message));
    await check.run();
    entries += check.entries;
    meters += check.meters;
  }
  return { ok: findings.length === 0, books, entries, meters, findings, more };
}

/** Rows of books before `book` that no book owned up to. */
async function skipStrangers(
  cursors: Cursors,
  book: bigint | null,
  report: (book: string, check: string, message: string) => void,
): Promise<void> {
  for (const table of TABLE_NAMES) {
    if (table === 'book') continue;
    for (;;) {
      const row = await cursors[table].take((next) => book === null || BigInt(next[0]!) < book);
      if (row === null) break;
      report(row[0]!, 'owner', `a row of ${table} belongs to no book or no block: ${JSON.stringify(row)}`);
    }
  }
}
