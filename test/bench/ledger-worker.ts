// One Node process of the ledger benchmark: hold, stand, settle, either as fast as it goes or at a fixed rate.
// Started by ledger.ts, which reads the one line of JSON that it prints.

import { microUsd, newRequestId } from '@svc/core/kernel/index.ts';
import type { LedgerHandle, Subject } from '@svc/core/ledger/index.ts';
import { openTestLedger, settleOf } from '@svc/core/ledger/testing/testing.ts';

export interface WorkerJob {
  readonly url: string;
  readonly journal_dir: string;
  readonly first_book: number;
  readonly books: number;
  readonly keys_per_book: number;
  readonly keys_per_project: number;
  readonly seconds: number;
  /** Calls per second; 0: as fast as it goes. */
  readonly rate: number;
  /** Calls in the air when there is no rate. */
  readonly concurrency: number;
  /** How long a hold stands at most. */
  readonly stand_ms_max: number;
}

export interface WorkerReport {
  readonly pairs: number;
  readonly seconds: number;
  readonly cpu_us: number;
  /** Answers other than `ok` and `settled`, by their status. */
  readonly faults: Readonly<Record<string, number>>;
  /** Settles that took over a second and went by way of the journal; they are booked all the same. */
  readonly journaled: number;
  readonly hold_batch: number;
  readonly settle_batch: number;
  /** Milliseconds of hold and settle together, and apart: p50 and p99. */
  readonly both: readonly [number, number];
  readonly hold: readonly [number, number];
  readonly settle: readonly [number, number];
}

/** How many of the costs exceed their hold. */
const SHARE_ABOVE = 0.01;
const HOLD_MICRO_USD = 2_000;

const job = JSON.parse(process.argv[2] as string) as WorkerJob;
const ledger = await openTestLedger(job.url, job.journal_dir, { process_name: 'bench' });
let serial = process.pid;

function nextSubject(): Subject {
  serial = (serial * 1_103_515_245 + 12_345) & 0x7fffffff;
  const book_id = job.first_book + ((serial >> 8) % job.books);
  const key = (serial >> 3) % job.keys_per_book;
  return {
    book_id,
    key_no: book_id * 100 + key,
    project_no: book_id * 100 + Math.floor(key / job.keys_per_project),
  };
}

const holds: number[] = [];
const settles: number[] = [];
const both: number[] = [];
let pairs = 0;
let journaled = 0;
const faults: Record<string, number> = {};

function count(status: string): void {
  faults[status] = (faults[status] ?? 0) + 1;
}

async function call(to: LedgerHandle): Promise<void> {
  const subject = nextSubject();
  const request_id = newRequestId();
  const start = performance.now();
  const held = await to.hold({ ...subject, request_id, amount_micro_usd: microUsd(HOLD_MICRO_USD) });
  const hold_ms = performance.now() - start;
  if (held.status !== 'ok') {
    count(held.status);
    return;
  }
  await new Promise((resolve) => setTimeout(resolve, Math.random() * job.stand_ms_max));
  const cost = Math.floor(Math.random() * HOLD_MICRO_USD * (Math.random() < SHARE_ABOVE ? 2 : 1)) + 1;
  const before = performance.now();
  const settled = await to.settle(settleOf(subject, request_id, cost));
  const settle_ms = performance.now() - before;
  if (settled.status === 'journaled') journaled++;
  else if (settled.status !== 'settled') count(settled.status);
  pairs++;
  holds.push(hold_ms);
  settles.push(settle_ms);
  both.push(hold_ms + settle_ms);
}

async function saturate(until: number): Promise<void> {
  const loops = Array.from({ length: job.concurrency }, async () => {
    while (performance.now() < until) await call(ledger);
  });
  await Promise.all(loops);
}

async function atRate(until: number): Promise<void> {
  const calls: Promise<void>[] = [];
  const start = performance.now();
  for (let n = 0; performance.now() < until; n++) {
    const wait = start + (n * 1_000) / job.rate - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    calls.push(call(ledger));
  }
  await Promise.all(calls);
}

function percentiles(values: number[]): [number, number] {
  values.sort((a, b) => a - b);
  const at = (share: number) => values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
  return [at(0.5), at(0.99)];
}

const before = process.cpuUsage();
const counted = structuredClone(ledger.figures.batches);
const start = performance.now();
await (job.rate > 0 ? atRate(start + job.seconds * 1_000) : saturate(start + job.seconds * 1_000));
const seconds = (performance.now() - start) / 1_000;
const used = process.cpuUsage(before);
const now = ledger.figures.batches;
/** Items in a batch, on average. */
const batchSize = (batcher: 'hold' | 'settle') =>
  (now[batcher].items - counted[batcher].items) / Math.max(1, now[batcher].sent - counted[batcher].sent);
const report: WorkerReport = {
  pairs,
  seconds,
  cpu_us: used.user + used.system,
  faults,
  journaled,
  hold_batch: batchSize('hold'),
  settle_batch: batchSize('settle'),
  both: percentiles(both),
  hold: percentiles(holds),
  settle: percentiles(settles),
};
await ledger.close();
process.stdout.write(`${JSON.stringify(report)}\n`);
