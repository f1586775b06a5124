// node test/shards/batches.ts: what PostgreSQL's processor takes for a hold and its settle, by how many go in one batch. A batch gathers
// what comes while the one before is in the air, so many gateways with few calls each make small ones (docs/operate/scale.md).
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createPool, migrateLedger } from '@svc/core/db/index.ts';
import {
  holdOf,
  journalDirectory,
  makeBook,
  openTestLedger,
  PATIENT,
  settleOf,
  subjectOf,
} from '@svc/core/ledger/testing/testing.ts';
import { startTestPostgres } from '../support/postgres.ts';

const BOOKS = 200;
const SECONDS = 5;
/** A tick of the processor's account. */
const TICK_US = 10_000;
/** Clients of the ledger, and calls that each has under way. */
const LOADS = [
  [1, 1],
  [8, 1],
  [8, 2],
  [4, 4],
  [2, 16],
  [1, 48],
  [1, 200],
] as const;

/** Processor time of a server and its processes, also of those that have ended. */
function processorUs(postmaster: number): number {
  let ticks = 0;
  for (const name of readdirSync('/proc')) {
    const line = /^\d+$/.test(name) ? readStat(name) : '';
    const [, parent, ...rest] = line.slice(line.lastIndexOf(')') + 2).split(' ');
    if (Number(name) !== postmaster && Number(parent) !== postmaster) continue;
    const [own, system, ended, ended_system] = rest.slice(9, 13).map(Number) as [
      number,
      number,
      number,
      number,
    ];
    ticks += own + system + (Number(name) === postmaster ? ended + ended_system : 0);
  }
  return ticks * TICK_US;
}

function readStat(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
}

const dir = mkdtempSync('/var/tmp/svc-batches-');
chmodSync(dir, 0o755);
const server = await startTestPostgres({ dir });
const url = server.urlOf('postgres');
await migrateLedger(url);
const pool = createPool(url);
const books: number[] = [];
for (let i = 0; i < BOOKS; i++) books.push(await makeBook(pool, { amount: 1_000_000_000 }));

for (const [clients, calls] of LOADS) {
  const journals = Array.from({ length: clients }, () => journalDirectory());
  const ledgers = await Promise.all(journals.map((journal) => openTestLedger(url, journal.dir, PATIENT)));
  let [pairs, is_over] = [0, false];
  const run = async (ledger: (typeof ledgers)[number]) => {
    while (!is_over) {
      const subject = subjectOf(books[(pairs * 7) % BOOKS] as number);
      const hold = holdOf(subject, 100);
      await ledger.hold(hold);
      await ledger.settle(settleOf(subject, hold.request_id, 10));
      pairs++;
    }
  };
  const look = () => {
    const batches = ledgers.map(({ figures }) => figures.batches.settle);
    const [sent, items] = [batches, batches].map((all, i) =>
      all.reduce((n, b) => n + (i ? b.items : b.sent), 0),
    );
    return { us: processorUs(server.pid), pairs, sent: sent as number, items: items as number };
  };
  const running = ledgers.flatMap((ledger) => Array.from({ length: calls }, () => run(ledger)));
  await pause(1_000);
  const before = look();
  await pause(SECONDS * 1_000);
  const after = look();
  is_over = true;
  await Promise.all(running);
  const done = after.pairs - before.pairs;
  const batch = (after.items - before.items) / (after.sent - before.sent);
  console.log(
    `${clients} clients with ${calls} calls: ${batch.toFixed(1)} in a batch, ` +
      `${((after.us - before.us) / done).toFixed(0)} us of PostgreSQL a pair, ${(done / SECONDS).toFixed(0)} pairs/s`,
  );
  await Promise.all(ledgers.map((ledger) => ledger.close()));
  for (const journal of journals) journal.remove();
}
await pool.end();
await server.kill();
rmSync(dir, { recursive: true, force: true });
process.exit(0);
