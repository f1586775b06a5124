// node test/citus/move.ts: two ledgers at two servers of a cluster, and calls of both. One is moved to the other server and back, a
// server is drained, and the engine spreads ledgers again; printed is how long calls took, and whether the ledgers are right. The cluster
// is that of TEST_CITUS (main.ts sets it).
import { join } from 'node:path';
import { createPool, ledgerSchemaOf, serverOfLedger, spreadLedger } from '@svc/core/db/index.ts';
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
/** Of each ledger. */
const CALLERS = 32;
/** What a gateway waits for a hold; a settle goes to the journal after one. */
const PATIENCE = { hold_ms: 3_000, settle_ms: 1_000 };

const database = await openClusterDatabase(`svc_move_${process.pid}`);
const journal = journalDirectory();
/** A ledger, what the calls of one process go through, and books for them. */
async function openOne(url: string) {
  const home = await spreadLedger(url);
  const db = createPool(url);
  const ledger = await openTestLedger(url, join(journal.dir, ledgerSchemaOf(url)), { patience: PATIENCE });
  const books: number[] = [];
  for (let i = 0; i < BOOKS; i++) books.push(await makeBook(db, { amount: 1_000_000_000 }));
  await db.end();
  return { url, home, ledger, books };
}
type One = Awaited<ReturnType<typeof openOne>>;
const ones: One[] = [];
for (const { url } of furtherLedgers(database.url)) ones.push(await openOne(url));

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

async function call({ ledger }: One, book: number): Promise<void> {
  const hold = holdOf(subjectOf(book), 100);
  const held = await timed(ledger.hold(hold), 'ok');
  const settled = await timed(ledger.settle(settleOf(subjectOf(book), hold.request_id, 60)), 'settled');
  seen.calls++;
  seen.longest_hold_ms = Math.max(seen.longest_hold_ms, held);
  seen.longest_settle_ms = Math.max(seen.longest_settle_ms, settled);
}

const callers = ones.flatMap((one) =>
  Array.from({ length: CALLERS }, async (_, i) => {
    for (let n = i; running; n++) await call(one, one.books[n % BOOKS] as number);
  }),
);

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
const ask = (text: string, values: unknown[]) =>
  withClient(
    database.url,
    async (client) => (await client.query<Record<string, unknown>>(text, values)).rows,
  );
const moved = ones[0] as One;
const schema = ledgerSchemaOf(moved.url);
const portOf = ({ port }: URL) => Number(port || 5432);
const move = (server: URL) =>
  ask(`select citus_schema_move($1::regnamespace, $2, $3, 'force_logical')`, [
    schema,
    server.hostname,
    portOf(server),
  ]);
/** Moves what is at `server` to others, and lets nothing new come there. */
const drain = (server: URL) =>
  ask(`select citus_drain_node($1, $2, 'force_logical')`, [server.hostname, portOf(server)]);
async function spreadAgain(server: URL): Promise<void> {
  const at = [server.hostname, portOf(server)];
  await ask(`select citus_set_node_property($1, $2, 'shouldhaveshards', true)`, at);
  await ask(`select citus_rebalance_start('by_shard_count', shard_transfer_mode => 'force_logical')`, []);
  await ask('select citus_rebalance_wait()', []);
}
/** How many ledgers are at `server`. */
async function atServer({ host }: URL): Promise<number> {
  const homes = await Promise.all(ones.map(({ url }) => serverOfLedger(url)));
  return homes.filter((home) => home === host).length;
}
async function expectAt(server: URL, count: number): Promise<void> {
  const found = await atServer(server);
  if (found !== count) throw new Error(`${found} ledgers are at ${server.host} in place of ${count}`);
}

const quiet = () => new Promise((resolve) => setTimeout(resolve, 5_000));
const first = database.servers.find(({ host }) => host === moved.home) as URL;
const second = database.servers.find((server) => server !== first) as URL;
let failed = '';
try {
  await quiet();
  seen = fresh();
  await during('without a move', quiet);
  await during(`to ${second.host}`, () => move(second));
  await during(`to ${first.host}`, () => move(first));
  await during(`to ${second.host}`, () => move(second));
  await during(`${second.host} drained`, () => drain(second));
  await expectAt(first, 2);
  await during('spread again', () => spreadAgain(second));
  await expectAt(first, 1);
  await during('after the moves', quiet);
} catch (error) {
  failed = String(error);
}
running = false;
await Promise.all(callers);
let right = failed === '';
for (const { url, ledger } of ones) {
  await ledger.close();
  const { ok, books, meters, findings } = await verifyLedger({ url });
  right &&= ok;
  process.stdout.write(`${ok ? 'right' : 'NOT RIGHT'}: ${books} books, ${meters} metered calls\n`);
  for (const { message } of findings) process.stdout.write(`  ${message}\n`);
}
if (failed !== '') process.stdout.write(`${failed}\n`);
journal.remove();
await database.drop();
process.exitCode = right ? 0 : 1;
