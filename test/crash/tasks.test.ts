// Credits, debits, budgets and books are ordered in the management transaction and carried out after it, in a ledger that is in
// another database. Whichever process dies between the two, each is carried out once.
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createPool, migrateLedger, withLedgerSchema } from '@svc/core/db/index.ts';
import { microUsd, silentLog } from '@svc/core/kernel/index.ts';
import {
  applyDueTasks,
  debitOutcome,
  findBook,
  orderCredit,
  orderDebit,
  orderRestore,
  readBalance,
  readEntries,
  readTaskBacklog,
  readUnused,
  restoreOutcome,
  verifyLedger,
} from '@svc/core/ledger/index.ts';
import { findOrg, type Org } from '@svc/core/orgs/index.ts';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { NODE_FLAGS } from '../support/entry.ts';
import { type Provisioned, provision, staffContext } from '../support/provision.ts';

const url = await createTestDatabase();
const there = withLedgerSchema(await createTestDatabase(), 'ledger_b');
const SHARDS = [{ name: 'b', url: there }];
const pool = createPool(url, { shards: SHARDS });
const ledger = pool.shards.at('b');
const onlooker = new pg.Client({ connectionString: there });
/** Holds a book's lock. A transaction would see one moment of what others do. */
const holder = new pg.Client({ connectionString: there });
let made: Provisioned;
let org: Org;

beforeAll(async () => {
  await migrateLedger(there);
  await Promise.all([onlooker.connect(), holder.connect()]);
  made = await provision({
    database_url: url,
    shards: SHARDS,
    shard: 'b',
    slug: 'b',
    live_micro_usd: 1_000,
  });
  org = (await findOrg(pool, 'b')) as Org;
});

afterAll(async () => {
  await Promise.all([onlooker.end(), holder.end()]);
  await pool.end();
});

const waiting = async () => (await readTaskBacklog(pool)).waiting;
const balance = async () => (await readBalance(ledger, org.live_book_id)).available_micro_usd as number;

/** Statements of ledger functions that wait for a lock, in the ledger's database. */
async function blocked(): Promise<number[]> {
  const { rows } = await onlooker.query<{ pid: number }>(
    `select pid from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%ledger_b.%'`,
  );
  return rows.map(({ pid }) => pid);
}

interface Movement {
  readonly what: 'credit' | 'debit' | 'restore';
  readonly ref_id: string;
  readonly amount: number;
}

function orderInProcess({ what, ref_id, amount }: Movement): ChildProcess {
  const entry = fileURLToPath(new URL('orderer.ts', import.meta.url));
  const key_no = String(made.keys[0]?.key_no);
  const args = [entry, url, `b=${there}`, 'b', what, ref_id, String(amount), key_no];
  return spawn(process.execPath, [...NODE_FLAGS, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Kills a process that has committed its orders, while the ledger makes it wait; `during` runs before it may go on. */
async function killBetween(
  movement: Movement,
  during: (pids: readonly number[]) => Promise<void>,
): Promise<void> {
  await holder.query('begin');
  await holder.query('select from ledger_b.book where book_id = $1 for update', [org.live_book_id]);
  const child = orderInProcess(movement);
  const exited = new Promise((resolve) => child.once('exit', resolve));
  try {
    await expect.poll(blocked, { timeout: 30_000 }).toHaveLength(1);
    // Ordered, and its statement is at the ledger.
    expect(await waiting()).toBe(2);
    child.kill('SIGKILL');
    await exited;
    await during(await blocked());
  } finally {
    child.kill('SIGKILL');
    await holder.query('rollback');
  }
}

/** The statement dies with its process; else the server would run it to its end. */
async function endStatements(pids: readonly number[]): Promise<void> {
  await onlooker.query('select pg_terminate_backend(pid) from unnest($1::int[]) pid', [pids]);
  await expect.poll(blocked).toEqual([]);
}

/** Runs the job as another process would, until no task is left. */
async function carryOut(): Promise<void> {
  const job = async () => {
    await pool.query({ name: 'test.due', text: 'update ledger_task set next_at = created_at' });
    await applyDueTasks(pool, silentLog);
    return waiting();
  };
  await expect.poll(job, { timeout: 30_000 }).toBe(0);
}

const cap = async () => {
  const { rows } = await onlooker.query<{ cap: string }>(
    'select cap from ledger_b.budget where kind = 1 and subject = $1',
    [made.keys[0]?.key_no],
  );
  return Number(rows[0]?.cap);
};

test('an organization of another database has its books, its play credit and its budgets there alone', async () => {
  expect(org.shard).toBe('b');
  expect(await waiting()).toBe(0);
  for (const environment of ['live', 'test'] as const) {
    const number = environment === 'live' ? org.live_book_id : org.sandbox_book_id;
    expect(await findBook(ledger, { org_id: org.id, environment })).toBe(number);
    expect(await findBook(pool.shards.at('main'), { org_id: org.id, environment })).toBeNull();
  }
  expect(await readBalance(ledger, org.sandbox_book_id)).toMatchObject({ available_micro_usd: 100_000_000 });
});

test('killed after the commit and before the ledger had it: the job carries it out', async () => {
  const before = await balance();
  await killBetween({ what: 'credit', ref_id: 'killed 300', amount: 300 }, endStatements);
  expect(await balance()).toBe(before);
  await carryOut();
  expect(await balance()).toBe(before + 300);
  expect(await cap()).toBe(300);
});

test('killed after the ledger had it and before that was noted: it is carried out again and moves nothing', async () => {
  const before = await balance();
  await killBetween({ what: 'credit', ref_id: 'killed 70', amount: 70 }, async () => {});
  await expect.poll(balance).toBe(before + 70);
  expect(await waiting()).toBe(2);
  await carryOut();
  expect(await balance()).toBe(before + 70);
  expect(await cap()).toBe(70);
  const entries = await readEntries(ledger, { book_id: org.live_book_id });
  expect(entries.filter(({ ref_id }) => ref_id === 'killed 70')).toHaveLength(1);
});

const outcomeOf = (kind: 'debit' | 'restore', ref_id: string) => {
  const reference = kind === 'debit' ? `gift gift ${ref_id}` : `restore gift gift ${ref_id}`;
  const args = { book_id: org.live_book_id, reference };
  const context = staffContext(pool);
  return kind === 'debit' ? debitOutcome(context, args) : restoreOutcome(context, args);
};

const entriesOf = async (ref_id: string) => {
  const entries = await readEntries(ledger, { book_id: org.live_book_id });
  return entries
    .filter((entry) => entry.ref_id === ref_id)
    .map(({ kind, amount_micro_usd }) => [kind, amount_micro_usd as number]);
};

test.each([
  ['before the ledger had it', 'a', endStatements],
  ['after the ledger had it and before that was noted', 'b', async () => {}],
])(
  'a debit, and the return of its credit, killed after the commit and %s: each moves once and says what it moved',
  async (_, ref_id, during) => {
    const before = await balance();
    await killBetween({ what: 'debit', ref_id, amount: 40 }, during);
    await expect.poll(blocked).toEqual([]);
    expect(await outcomeOf('debit', ref_id)).toBeNull();
    await carryOut();
    expect(await outcomeOf('debit', ref_id)).toMatchObject({ status: 'taken', taken_micro_usd: 40 });
    expect(await balance()).toBe(before - 40);
    await killBetween({ what: 'restore', ref_id, amount: 40 }, during);
    await expect.poll(blocked).toEqual([]);
    expect(await outcomeOf('restore', ref_id)).toBeNull();
    await carryOut();
    expect(await outcomeOf('restore', ref_id)).toMatchObject({ status: 'restored', amount_micro_usd: 40 });
    expect(await balance()).toBe(before);
    expect(await entriesOf(ref_id)).toEqual([
      ['gift_cancel', 40],
      ['gift', -40],
    ]);
  },
);

const gift = (ref_id: string, amount: number) =>
  ({
    book_id: org.live_book_id,
    kind: 'gift',
    amount_micro_usd: microUsd(amount),
    ref_type: 'gift',
    ref_id,
  }) as const;

test('a debit beyond the credit is refused for good, and its restoration gives nothing', async () => {
  const before = await balance();
  const context = staffContext(pool);
  await orderDebit(context, 'b', gift('too much', before + 1));
  expect(await outcomeOf('debit', 'too much')).toEqual({ status: 'refused' });
  const more = { kind: 'grant', granted: true, expires_at: null, ref_type: 'staff', ref_id: 'more' } as const;
  await orderCredit(context, 'b', { ...more, book_id: org.live_book_id, amount_micro_usd: microUsd(10) });
  expect(await orderDebit(context, 'b', gift('too much', before + 1))).toMatchObject({ replay: true });
  expect(await outcomeOf('debit', 'too much')).toEqual({ status: 'refused' });
  const book_id = org.live_book_id;
  await orderRestore(context, 'b', { book_id, debit_kind: 'gift', ref_type: 'gift', ref_id: 'too much' });
  expect(await outcomeOf('restore', 'too much')).toEqual({ status: 'nothing' });
  expect(await entriesOf('too much')).toEqual([]);
  expect(await balance()).toBe(before + 10);
});

test('of twenty debits of one reference at once one takes, and all read the same outcome', async () => {
  const before = await balance();
  const orders = await Promise.all(
    Array.from({ length: 20 }, () => orderDebit(staffContext(pool), 'b', gift('once', 3))),
  );
  expect(orders.filter(({ replay }) => !replay)).toHaveLength(1);
  await expect.poll(() => outcomeOf('debit', 'once')).toMatchObject({ status: 'taken', taken_micro_usd: 3 });
  expect(await balance()).toBe(before - 3);
});

test('credit that came back is found by a debit of the lot that it came from, and by no other', async () => {
  const context = staffContext(pool);
  const paid = { kind: 'topup', granted: false, expires_at: null, ref_type: 'topup' } as const;
  const credited = { ...paid, book_id: org.live_book_id, amount_micro_usd: microUsd(100) };
  const first = await orderCredit(context, 'b', { ...credited, ref_id: 'first' });
  const other = await orderCredit(context, 'b', { ...credited, ref_id: 'other' });
  const unused = ({ lot_id }: typeof first) => readUnused(ledger, { book_id: org.live_book_id, lot_id });
  const refund = (ref_id: string, amount: number) =>
    orderDebit(context, 'b', {
      ...gift(ref_id, amount),
      kind: 'refund',
      ref_type: 'refund',
      lot_id: first.lot_id,
    });
  const { reference } = await refund('declined', 70);
  expect(await unused(first)).toBe(30);
  await orderRestore(context, 'b', {
    book_id: org.live_book_id,
    debit_kind: 'refund',
    ref_type: 'refund',
    ref_id: 'declined',
  });
  expect(await unused(first)).toBe(100);
  expect(await debitOutcome(context, { book_id: org.live_book_id, reference })).toMatchObject({
    status: 'taken',
  });
  const { reference: all } = await refund('all', 100);
  expect(await debitOutcome(context, { book_id: org.live_book_id, reference: all })).toMatchObject({
    status: 'taken',
    taken_micro_usd: 100,
  });
  expect([await unused(first), await unused(other)]).toEqual([0, 100]);
  expect((await verifyLedger({ url: there })).findings).toEqual([]);
});

test('what a transaction ordered that rolls back is never carried out', async () => {
  const before = await balance();
  const credit = { book_id: org.live_book_id, kind: 'topup', granted: false, expires_at: null } as const;
  const ordering = staffContext(pool).transaction(async (context) => {
    const amount_micro_usd = microUsd(5);
    await orderCredit(context, 'b', {
      ...credit,
      amount_micro_usd,
      ref_type: 'topup',
      ref_id: 'rolled back',
    });
    throw new Error('no');
  });
  await expect(ordering).rejects.toThrow('no');
  expect(await waiting()).toBe(0);
  expect(await balance()).toBe(before);
});

test('a reference is ordered once: of twenty at once one credits, and all name its lot', async () => {
  const before = await balance();
  const terms = {
    kind: 'grant',
    granted: true,
    expires_at: null,
    ref_type: 'staff',
    ref_id: 'once',
  } as const;
  const one = { ...terms, book_id: org.live_book_id, amount_micro_usd: microUsd(11) };
  const orders = await Promise.all(
    Array.from({ length: 20 }, () => orderCredit(staffContext(pool), 'b', one)),
  );
  expect(orders.filter(({ replay }) => !replay)).toHaveLength(1);
  expect(new Set(orders.map(({ lot_id }) => lot_id)).size).toBe(1);
  await expect.poll(balance).toBe(before + 11);
  expect((await verifyLedger({ url: there })).findings).toEqual([]);
});
