// The end of each bench run: no speed-up may drop a check.
import { verifyLedger } from '@svc/core/ledger/index.ts';
import { readBook } from '../support/books.ts';
import type { Stack } from './stack.ts';

export interface Verified {
  readonly ok: boolean;
  readonly settled_calls: number;
  readonly faults: readonly string[];
}

/** Verifies every book, and that exactly the calls sent (null: any number) were charged and nothing is held. */
export async function verify(stack: Stack, calls: number | null): Promise<Verified> {
  const report = await verifyLedger({ url: stack.database_url });
  const book = await readBook(stack.database_url, stack.keys.live_book_id);
  const faults = report.findings.map(
    (finding) => `${finding.check} of book ${finding.book_id}: ${finding.message}`,
  );
  if (book.held !== 0) faults.push(`${book.held} micro-USD are still held`);
  if (calls !== null && book.charges.length !== calls)
    faults.push(`${calls} calls were answered, ${book.charges.length} charged`);
  return { ok: report.ok && faults.length === 0, settled_calls: book.charges.length, faults };
}
