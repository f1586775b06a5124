// Hold and settle pairs per second and what a pair costs, on a PostgreSQL of its own with fsync on. Every run ends
// with `ledger verify`. `node test/bench/ledger.ts --seconds 10`.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Postgres } from '@svc/cli/tools/postgres.ts';
import { createPool, migrate } from '@svc/core/db/index.ts';
import { microUsd } from '@svc/core/kernel/index.ts';
import { credit, openBook, setBudget, verifyLedger } from '@svc/core/ledger/index.ts';
import pg from 'pg';
import { startTestPostgres } from '../support/postgres.ts';
import type { WorkerJob, WorkerReport } from './ledger-worker.ts';
import { tableOf } from './table.ts';

/** As many as two processes can, as one can, 48 in flight, 100 a second. */
export type Load = 'full' | 'full of one process' | 'few' | 'slow';

export interface LedgerBenchRow {
  readonly name: string;
  readonly spread: 'hot' | 'spread';
  readonly load: Load;
  readonly processes: number;
  readonly pairs_per_s: number;
  readonly postgres_us: number;
  readonly node_us: number;
  readonly hold_batch: number;
  readonly settle_batch: number;
  readonly both_p50_ms: number;
  readonly both_p99_ms: number;
  /** Settles that took over a second, so that they were answered from the journal. */
  readonly journaled: number;
}

const CREDIT = microUsd(1_000_000_000_000);
const CORE_OF_POSTGRES = '0';
const CORE_OF_NODE = '1';
const PINS = spawnSync('taskset', ['--version']).status === 0;

interface Spread {
  readonly first_book: number;
  readonly books: number;
  readonly keys_per_book: number;
  readonly keys_per_project: number;
}

let made = 0;

/** One hot book with 40 keys in 5 projects, or many books with 8 keys in 2 projects; half of the budgets are hard. */
async function fill(url: string, spread: Omit<Spread, 'first_book'>, name: string): Promise<Spread> {
  const pool = createPool(url, { max: 4 });
  const { books, keys_per_book, keys_per_project } = spread;
  const first_book = made + 1;
  await pool.transaction(async (db) => {
    for (let i = 0; i < books; i++) {
      const book_id = ++made;
      const org_id = `org_${name}_${i}`;
      await openBook(db, { book_id, org_id, environment: 'live', low_mark_micro_usd: null });
      await credit(db, {
        book_id,
        kind: 'topup',
        amount_micro_usd: CREDIT,
        granted: false,
        expires_at: null,
        ref_type: 'topup',
        ref_id: `${name}-${i}`,
      });
      for (let key = 0; key < keys_per_book; key++) {
        const cap = { book_id, cap_micro_usd: CREDIT, hard: key % 2 === 0 };
        await setBudget(db, { ...cap, subject: { key_no: book_id * 100 + key } });
        if (key % keys_per_project !== 0) continue;
        await setBudget(db, { ...cap, subject: { project_no: book_id * 100 + key / keys_per_project } });
      }
    }
  });
  await pool.end();
  return { first_book, ...spread };
}

/** Ticks of user and system time of the server: the postmaster, its children, and those of them that ended. */
function serverTicks(pid: number): number {
  let ticks = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      if (Number(name) === pid) ticks += fields[11]! + fields[12]! + fields[13]! + fields[14]!;
      else if (fields[1] === pid) ticks += fields[11]! + fields[12]!;
    } catch {
      // The process ended meanwhile; its time is in the postmaster's.
    }
  }
  return ticks;
}

function pin(server: Postgres): void {
  if (!PINS) return;
  const children = readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/stat`, 'utf8').includes(`) S ${server.pid} `);
    } catch {
      return false;
    }
  });
  for (const pid of [String(server.pid), ...children]) spawnSync('taskset', ['-cp', CORE_OF_POSTGRES, pid]);
}

function runWorker(job: WorkerJob): Promise<WorkerReport> {
  const script = new URL('./ledger-worker.ts', import.meta.url).pathname;
  const command = [process.execPath, script, JSON.stringify(job)];
  const [program, ...args] = PINS ? ['taskset', '-c', CORE_OF_NODE, ...command] : command;
  return new Promise((done, fail) => {
    const child = spawn(program as string, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.once('error', fail);
    child.once('exit', (code) => {
      if (code === 0) done(JSON.parse(output) as WorkerReport);
      else fail(new Error(`the bench worker ended with ${code}`));
    });
  });
}

interface Run {
  readonly name: string;
  readonly spread: Spread;
  readonly load: Load;
}

/** Of each load: processes, calls a second of all (0: as fast as it goes), calls in the air, how long a hold stands. */
const LOADS: Readonly<
  Record<Load, { processes: number; rate: number; concurrency: number; stand_ms_max: number }>
> = {
  'full of one process': { processes: 1, rate: 0, concurrency: 4_000, stand_ms_max: 100 },
  full: { processes: 2, rate: 0, concurrency: 4_000, stand_ms_max: 100 },
  few: { processes: 1, rate: 0, concurrency: 48, stand_ms_max: 8 },
  slow: { processes: 1, rate: 100, concurrency: 0, stand_ms_max: 100 },
};

async function measure(server: Postgres, dir: string, run: Run, seconds: number): Promise<LedgerBenchRow> {
  const url = server.urlOf('bench');
  const { processes, rate, concurrency, stand_ms_max } = LOADS[run.load];
  const before = serverTicks(server.pid);
  const reports = await Promise.all(
    Array.from({ length: processes }, () =>
      runWorker({
        url,
        journal_dir: join(dir, 'journal'),
        ...run.spread,
        seconds,
        rate: rate / processes,
        concurrency: concurrency / processes,
        stand_ms_max,
      }),
    ),
  );
  const ticks = serverTicks(server.pid) - before;
  const faults = reports.map((report) => report.faults).filter((one) => Object.keys(one).length > 0);
  if (faults.length > 0)
    throw new Error(`${run.name}: calls were not held or not settled: ${JSON.stringify(faults)}`);
  const verified = await verifyLedger({ url });
  if (!verified.ok) throw new Error(`${run.name}: ${JSON.stringify(verified.findings.slice(0, 5))}`);
  const pairs = reports.reduce((sum, report) => sum + report.pairs, 0);
  const mean = (of: (report: WorkerReport) => number) =>
    reports.reduce((sum, report) => sum + of(report), 0) / reports.length;
  const row = {
    pairs_per_s: reports.reduce((sum, report) => sum + report.pairs / report.seconds, 0),
    // A tick is 10 ms on every Linux that Node runs on.
    postgres_us: (ticks * 10_000) / pairs,
    both_p50_ms: mean((report) => report.both[0]),
  };
  return {
    name: run.name,
    spread: run.spread.books === 1 ? 'hot' : 'spread',
    load: run.load,
    processes,
    ...row,
    node_us: reports.reduce((sum, report) => sum + report.cpu_us, 0) / pairs,
    hold_batch: mean((report) => report.hold_batch),
    settle_batch: mean((report) => report.settle_batch),
    both_p99_ms: mean((report) => report.both[1]),
    journaled: reports.reduce((sum, report) => sum + report.journaled, 0),
  };
}

const TITLES: Readonly<Record<Load, string>> = {
  'full of one process': '',
  full: ', two processes',
  few: ', 48 in flight',
  slow: ' at 100/s',
};
const nameOf = (books: string, load: Load) => `${books}${TITLES[load]}`;

/** Runs the ledger benchmark; every run is verified. @throws Error when a call failed or `verify` found something. */
export async function benchLedger(options: { seconds: number; only?: string }): Promise<LedgerBenchRow[]> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const server = await startTestPostgres({
    dir,
    settings: { shared_buffers: '512MB', max_wal_size: '4GB' },
  });
  try {
    pin(server);
    const admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    await admin.query('create database bench');
    await admin.end();
    const url = server.urlOf('bench');
    await migrate(url);
    const hot = await fill(url, { books: 1, keys_per_book: 40, keys_per_project: 8 }, 'hot');
    const many = await fill(url, { books: 1_000, keys_per_book: 8, keys_per_project: 4 }, 'many');
    const runs = (Object.keys(LOADS) as Load[]).flatMap((load): Run[] => [
      { name: nameOf('hot book', load), spread: hot, load },
      { name: nameOf('1,000 books', load), spread: many, load },
    ]);
    const rows: LedgerBenchRow[] = [];
    for (const run of runs) {
      if (options.only !== undefined && !run.name.includes(options.only)) continue;
      rows.push(await measure(server, dir, run, options.seconds));
    }
    return rows;
  } finally {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The rows as a table for people. */
export function formatLedgerBench(rows: readonly LedgerBenchRow[]): string {
  const head = [
    'run',
    'proc.',
    'pairs/s',
    'PostgreSQL µs',
    'Node µs',
    'batch h/s',
    'hold+settle p50/p99 ms',
    'journaled',
  ];
  const lines = rows.map((row) => [
    row.name,
    row.processes,
    Math.round(row.pairs_per_s),
    row.postgres_us,
    row.node_us,
    `${row.hold_batch.toFixed(0)}/${row.settle_batch.toFixed(0)}`,
    `${row.both_p50_ms.toFixed(2)}/${row.both_p99_ms.toFixed(2)}`,
    row.journaled,
  ]);
  return tableOf(head, lines);
}

function option(name: string): string | undefined {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const only = option('--only');
  const rows = await benchLedger({
    seconds: Number(option('--seconds') ?? 10),
    ...(only === undefined ? {} : { only }),
  });
  process.stdout.write(`${formatLedgerBench(rows)}\n`);
}
