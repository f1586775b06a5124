// Process leases, the holds that stand under them, and the sweeper of those whose process is gone. Leases are the
// one place where the database's clock counts.
import type { Db, MicroUsd, RequestId } from '../../kernel/index.ts';
import { uuidToUlid } from '../batch/encode.ts';
import type { Subject } from '../types.ts';

interface Swept extends Subject {
  readonly request_id: RequestId;
  readonly amount_micro_usd: MicroUsd;
}

/**
 * Releases at most `limit` holds whose process lease has lapsed, and returns them so that the caller can write their
 * `gateway_lost` rows. After a start of PostgreSQL, a fail-over, or half a minute without a sweep it waits one lease time first.
 */
export async function sweepOnce(db: Db, limit = 1_000): Promise<Swept[]> {
  const { rows } = await db.query<Omit<Swept, 'request_id'> & { request_id: string }>({
    name: 'ledger.sweep',
    text: `select request_id, book_id, key_no, project_no, amount as amount_micro_usd from ledger.sweep($1)`,
    values: [limit],
    alone: true,
  });
  return rows.map((row) => ({ ...row, request_id: uuidToUlid(row.request_id) as RequestId }));
}

/**
 * Takes a lease for a process, which knows `places` of the ledger; returns its number. The database's clock counts.
 */
export async function acquireLease(
  db: Db,
  args: { process: string; seconds: number; places: readonly string[] },
): Promise<number> {
  const { rows } = await db.query<{ lease_id: number }>({
    name: 'ledger.acquire_lease',
    text: 'select ledger.take_lease($1, $2, $3) as lease_id',
    values: [args.process, args.seconds, args.places],
    alone: true,
  });
  return rows[0]!.lease_id;
}

/** Renews a lease for its length; false when it is gone. */
export async function renewLease(db: Db, lease_id: number): Promise<boolean> {
  const { rows } = await db.query<{ renewed: boolean }>({
    name: 'ledger.renew_lease',
    text: 'select ledger.renew_lease($1) as renewed',
    values: [lease_id],
    alone: true,
  });
  return rows[0]!.renewed;
}

/** Ends a lease now, so that what it still holds is swept at once. */
export async function endLease(db: Db, lease_id: number): Promise<void> {
  await db.query({
    name: 'ledger.end_lease',
    text: 'select ledger.end_lease($1)',
    values: [lease_id],
    alone: true,
  });
}

/** The holds that stand under a lease. */
export async function readLeaseHolds(
  db: Db,
  lease_id: number,
): Promise<(Subject & { request_id: RequestId })[]> {
  const { rows } = await db.query<Subject & { request_id: string }>({
    name: 'ledger.lease_holds',
    text: 'select hold_id as request_id, book_id, key_no, project_no from ledger.hold where lease_id = $1',
    values: [lease_id],
  });
  return rows.map((row) => ({ ...row, request_id: uuidToUlid(row.request_id) as RequestId }));
}
