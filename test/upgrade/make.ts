// `make upgrade-dump`: writes release.sql, a small database as this release leaves it. Made once per release and kept;
// before the first release it is made anew whenever a migration changes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@svc/cli/tools/postgres.ts';
import { createPool, migrate, type Pool } from '@svc/core/db/index.ts';
import { microUsd, newRequestId, nowMs } from '@svc/core/kernel/index.ts';
import { credit, debit, expireLots, type LedgerHandle, type Subject } from '@svc/core/ledger/index.ts';
import { holdOf, openTestLedger, settleOf, UNITS } from '@svc/core/ledger/testing/testing.ts';
import { withClient } from '../support/books.ts';
import { type Provisioned, provision } from '../support/provision.ts';
import { dumpRows } from './dump.ts';

/** Credits of every kind of lot, one of which has ended, and a debit beyond what was there. */
async function moveCredit(pool: Pool, book_id: number): Promise<void> {
  const terms = { book_id, ref_type: 'staff', expires_at: null } as const;
  const amount_micro_usd = microUsd(5_000);
  await credit(pool, { ...terms, kind: 'topup', amount_micro_usd, granted: false, ref_id: 'paid' });
  const expires_at = new Date(nowMs() - 1_000);
  await credit(pool, {
    ...terms,
    kind: 'gift_redeem',
    amount_micro_usd,
    granted: true,
    ref_id: 'ended',
    expires_at,
  });
  await expireLots(pool);
}

/** Calls settled as held, above their hold, for nothing, with other units, under a claim, late; one that stands. */
async function makeCalls(ledger: LedgerHandle, subject: Subject): Promise<void> {
  const call = async (amount: number, cost: number, more: object = {}) => {
    const hold = holdOf(subject, amount);
    await ledger.hold(hold);
    await ledger.settle({ ...settleOf(subject, hold.request_id, cost), ...more });
  };
  await Promise.all([call(100, 70), call(100, 130), call(100, 0)]);
  await call(100, 50, { units: { ...UNITS, other: { search_units: 2, requests: 3 } } });
  const claimed = holdOf(subject, 40);
  const idempotency = { scope: 'upgrade', key_hash: Buffer.alloc(32, 1), fingerprint: Buffer.alloc(32, 2) };
  await ledger.hold({ ...claimed, idempotency });
  await ledger.settle({ ...settleOf(subject, claimed.request_id, 40), claimed: true });
  await ledger.settle(settleOf(subject, newRequestId(), 9));
  await ledger.hold(holdOf(subject, 25));
}

/** Spends the sandbox book wholly: what it could not pay is written off. */
async function overspend(pool: Pool, ledger: LedgerHandle, made: Provisioned): Promise<void> {
  const { rows } = await pool.query<Subject>({
    name: 'upgrade.sandbox_subject',
    text: `select book_id, max(subject) filter (where kind = 1) as key_no,
                  max(subject) filter (where kind = 2) as project_no
             from ledger.budget where book_id = $1 group by 1`,
    values: [made.sandbox_book_id],
  });
  const subject = rows[0]!;
  const hold = holdOf(subject, 10);
  await ledger.hold(hold);
  await ledger.settle(settleOf(subject, hold.request_id, 2_000_000_000));
  await credit(pool, {
    book_id: subject.book_id,
    kind: 'topup',
    amount_micro_usd: microUsd(500),
    granted: false,
    expires_at: null,
    ref_type: 'staff',
    ref_id: 'disputed',
  });
  await debit(pool, {
    book_id: subject.book_id,
    kind: 'chargeback',
    amount_micro_usd: microUsd(800),
    short: 'write_off',
    ref_type: 'staff',
    ref_id: 'dispute',
  });
}

async function fill(url: string, journal: string): Promise<void> {
  const made = await provision({
    database_url: url,
    slug: 'upgrade',
    live_micro_usd: 10_000,
    keys: [{ name: 'live', daily_budget_micro: 400, hard: false }],
    project_monthly_micro: 50_000,
  });
  const pool = createPool(url);
  // A short lease: its hold is found lapsed however young the server is that the dump is restored on.
  const ledger = await openTestLedger(url, journal, { lease_seconds: 1 });
  try {
    await moveCredit(pool, made.live_book_id);
    const { rows } = await pool.query<{ no: number }>({
      name: 'upgrade.project',
      text: 'select live_no as no from project where org_id = $1',
      values: [made.org_id],
    });
    const subject = {
      book_id: made.live_book_id,
      key_no: made.keys[0]!.key_no,
      project_no: rows[0]!.no,
    };
    await makeCalls(ledger, subject);
    await overspend(pool, ledger, made);
  } finally {
    await ledger.close();
    await pool.end();
  }
}

const dir = mkdtempSync(join(tmpdir(), 'svc-upgrade-'));
const server = await startPostgres({ dir, settings: { fsync: 'off' } });
try {
  const url = server.urlOf('postgres');
  await migrate(url);
  await fill(url, join(dir, 'journal'));
  writeFileSync(new URL('release.sql', import.meta.url), await withClient(url, dumpRows));
} finally {
  await server.stop();
  rmSync(dir, { recursive: true });
}
