// node test/citus/move.ts: moves a ledger's schema from one server of the cluster to the other and back while calls run, prints how
// long calls took, and verifies the ledger. The cluster is that of TEST_CITUS (main.ts sets it).
import { createPool, spreadLedger } from '@svc/core/db/index.ts';
import { verifyLedger } from '@svc/core/ledger/index.ts';
import {
  holdOf,
  journalDirectory,
  makeBook,
  openTestLedger,
  settleOf,
  subjectOf,
} from '@svc/core/ledger/testing/testing.ts';
import { furtherLedgers, withClient } from '../support/books.ts';
import { openClusterDatabase } from './cluster.ts';

const BOOKS = 40;
const CALLERS = 64;
/** What a gateway waits for a hold; a settle goes to the journal after one. */
const PATIENCE = { hold_ms: 3_000, settle_ms: 1_000 };

const database = await openClusterDatabase(`svc_move_${process.pid}`);
const [{ url }] = furtherLedgers(database.url);
const home = await spreadLedger(url);
const db = createPool(url);
const journal = journalDirectory();
const ledger = await openTestLedger(url, journal.dir, { patience: PATIENCE });
const books: number[] = [];
for (let i = 0; i < BOOKS; i++) books.push(await makeBook(db, { amount: 1_000_000_000 }));

interface Seen {
  calls: number;
  longest_hold_ms: number;
  longest_settle_ms: number;
  /** Answers that are not those of a call that goes well. */
  others: Record<string, number>;
}
const fresh = (): Seen => ({ calls: 0, longest_hold_ms: 0, longest_settle_ms: 0, others: {} });
let seen = fresh();
let running = true;

/** How long `work` took, and what it answered, noted unless that is `usual`. */
async function timed(work: Promise<{ status: string }>, usual: string): Promise<number> {
  const start = performance.now();
  const { status } = await work;
  if (status !== usual) seen.others[status] = (seen.others[status] ?? 0) + 1;
  return performance.now() - start;
}

async function call(book: number): Promise<void> {
  const hold = holdOf(subjectOf(book), 100);
  const held = await timed(ledger.hold(hold), 'ok');
  const settled = await timed(ledger.settle(settleOf(subjectOf(book), hold.request_id, 60)), 'settled');
  seen.calls++;
  seen.longest_hold_ms = Math.max(seen.longest_hold_ms, held);
  seen.longest_settle_ms = Math.max(seen.longest_settle_ms, settled);
}

const callers = Array.from({ length: CALLERS }, async (_, i) => {
  for (let n = i; running; n++) await call(books[n % BOOKS] as number);
});

const report = (what: string, ms: number) => {
  const { calls, longest_hold_ms, longest_settle_ms, others } = seen;
  const ends = Object.entries(others).map(([status, count]) => `${count} ${status}`);
  process.stdout.write(
    `${what}: ${Math.round(ms)} ms, ${calls} calls, longest hold ${Math.round(longest_hold_ms)} ms, longest settle ` +
      `${Math.round(longest_settle_ms)} ms, other answers: ${ends.length === 0 ? 'none' : ends.join(', ')}\n`,
  );
  seen = fresh();
};
/** Runs `work` while calls go on. */
async function during(what: string, work: () => Promise<unknown>): Promise<void> {
  const start = performance.now();
  await work();
  report(what, performance.now() - start);
}
const schema = new URL(url).searchParams.get('ledger_schema') as string;
const move = ({ hostname, port }: URL) =>
  withClient(database.url, (client) =>
    client.query(`select citus_schema_move($1::regnamespace, $2, $3, 'force_logical')`, [
      schema,
      hostname,
      Number(port || 5432),
    ]),
  );

const quiet = () => new Promise((resolve) => setTimeout(resolve, 5_000));
const first = database.servers.find(({ host }) => host === home) as URL;
const second = database.servers.find((server) => server !== first) as URL;
let failed = '';
try {
  await quiet();
  seen = fresh();
  await during('without a move', quiet);
  await during(`to ${second.host}`, () => move(second));
  await during(`to ${first.host}`, () => move(first));
  await during(`to ${second.host}`, () => move(second));
  await during('after the moves', quiet);
} catch (error) {
  failed = String(error);
}
running = false;
await Promise.all(callers);
await ledger.close();
const { ok, books: checked, meters, findings } = await verifyLedger({ url });
process.stdout.write(
  `${ok ? 'right' : 'NOT RIGHT'}: ${checked} books, ${meters} metered calls${failed && `; ${failed}`}\n`,
);
for (const { message } of findings) process.stdout.write(`  ${message}\n`);
await db.end();
journal.remove();
await database.drop();
process.exitCode = ok && failed === '' ? 0 : 1;
