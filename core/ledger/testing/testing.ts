// What the ledger's tests and benchmarks share: a funded book with keys and projects, and calls on it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { ledgerNaming, ledgerSchemaOf } from '../../db/index.ts';
import {
  createLog,
  type Db,
  type Log,
  type MicroUsd,
  microUsd,
  newRequestId,
  type RequestId,
  silentLog,
} from '../../kernel/index.ts';
import { type Credited, type LedgerHandle, type LedgerOptions, openLedger } from '../index.ts';
import { credit, openBook, setBudget } from '../store.ts';
import type { Hold, MeteredUnits, Settle, Subject } from '../types.ts';

/** The database's owner, who may do what programs may not, in the ledger that `url` names. */
export interface Owner {
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<pg.QueryResult<Row>>;
  end(): Promise<void>;
}

/** Connects as the owner. */
export async function openOwner(url: string): Promise<Owner> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const named = ledgerNaming(ledgerSchemaOf(url));
  return { query: (text, values) => client.query(named(text), values), end: () => client.end() };
}

let serial = 0;

/** A book of a fresh organization with `amount` paid, and one key and project (or more) without budgets. */
export async function makeBook(
  db: Db,
  args: {
    amount?: number;
    keys?: readonly number[];
    projects?: readonly number[];
    org?: string;
    book_id?: number;
  } = {},
): Promise<number> {
  serial++;
  const org_id = args.org ?? `org_T${process.pid}_${serial}`;
  const { book_id = serial } = args;
  await openBook(db, { book_id, org_id, environment: 'live', low_mark_micro_usd: null });
  const { keys = [book_id * 10 + 1], projects = [book_id * 10 + 1] } = args;
  for (const key_no of keys) await setBudget(db, { book_id, subject: { key_no }, cap_micro_usd: null });
  for (const project_no of projects)
    await setBudget(db, { book_id, subject: { project_no }, cap_micro_usd: null });
  if (args.amount !== undefined && args.amount > 0) await topUp(db, book_id, args.amount);
  return book_id;
}

/** The subject that `makeBook` makes by default. */
export function subjectOf(book_id: number): Subject {
  return { book_id, key_no: book_id * 10 + 1, project_no: book_id * 10 + 1 };
}

/** A paid lot without expiry under a reference of its own. */
export function topUp(db: Db, book_id: number, amount: number): Promise<Credited> {
  return credit(db, {
    book_id,
    kind: 'topup',
    amount_micro_usd: microUsd(amount),
    granted: false,
    expires_at: null,
    ref_type: 'topup',
    ref_id: `tup_${newRequestId()}`,
  });
}

export const UNITS: MeteredUnits = {
  input_tokens: 100,
  output_tokens: 20,
  cache_read_tokens: 3,
  cache_write_tokens: 4,
  cache_write_5m_tokens: 5,
  cache_write_1h_tokens: 6,
  reasoning_tokens: 7,
};

export function holdOf(subject: Subject, amount: number, request_id: RequestId = newRequestId()): Hold {
  return { ...subject, request_id, amount_micro_usd: amount as MicroUsd };
}

export function settleOf(subject: Subject, request_id: RequestId, cost: number): Settle {
  return {
    book_id: subject.book_id,
    key_no: subject.key_no,
    project_no: subject.project_no,
    request_id,
    cost_micro_usd: cost as MicroUsd,
    model_no: 1,
    endpoint_no: 2,
    price_no: 3,
    units: UNITS,
    estimated: false,
    outcome: 'ok',
  };
}

/** A journal directory of its own and a way to remove it. */
export function journalDirectory(): { dir: string; remove: () => void } {
  const dir = mkdtempSync(join(tmpdir(), 'svc-journal-'));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** For tests of what the ledger decides: a busy machine may keep a batch waiting longer than a gateway would. */
export const PATIENT = { patience: { hold_ms: 20_000, settle_ms: 20_000 } } as const;

/** The address of a ledger that is away: nobody listens there. */
export const AWAY = 'postgres://svc@127.0.0.1:1/none';

/** A log whose lines are kept, as they would be read. */
export function keptLog(): { readonly log: Log; readonly lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string | Uint8Array) => lines.push(JSON.parse(String(line))) > 0;
  return { log: createLog('debug', 'test', { write }), lines };
}

/** A client on `url` that logs nothing. */
export function openTestLedger(
  url: string,
  journal_dir: string,
  options: Partial<LedgerOptions> = {},
): Promise<LedgerHandle> {
  return openLedger({ url, process_name: 'test', journal_dir, log: silentLog, ...options });
}

/** Waits until `condition` holds, looking again every 10 ms. @throws Error after `timeout_ms`. */
export async function until(condition: () => boolean | Promise<boolean>, timeout_ms = 20_000): Promise<void> {
  const deadline = performance.now() + timeout_ms;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`the condition did not come true: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
