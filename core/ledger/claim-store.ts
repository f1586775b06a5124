// Idempotency claims after the hold (docs/idempotency.md#calls): claimed in the hold's transaction, ended by the
// settle's, freed by the release of an uncharged call. The answer is stored beside, sealed with a key that is not
// kept here.
import { type Db, type MicroUsd, nowMs, type RequestId } from '../kernel/index.ts';
import { ulidToUuid, uuidToUlid } from './batch/encode.ts';

const DAY_MS = 86_400_000;
const LOST_DAYS = 30;

export interface Claim {
  readonly request_id: RequestId;
  readonly fingerprint: Buffer;
  /** `running` until the settle commits. One that is `lost`, because its call's hold was swept, is nobody's. */
  readonly state: 'running' | 'done';
  readonly created_at: Date;
  readonly ended_at: Date | null;
  readonly cost_micro_usd: MicroUsd | null;
  /** Status of the first answer; null when no answer was stored. */
  readonly http_status: number | null;
  /** The sealed canonical answer; null: not stored (too large, ZDR, or the process died before). */
  readonly sealed_answer: Buffer | null;
}

/** The claim of a key, or null when it is free. Claims end 24 h after their call. */
export async function findClaim(db: Db, args: { scope: string; key_hash: Buffer }): Promise<Claim | null> {
  const { rows } = await db.query<Claim>({
    name: 'ledger.find_claim',
    text: `select request_id, fingerprint, state, created_at, ended_at, cost as cost_micro_usd, http_status,
                  sealed_answer
             from ledger.idempotency
            where scope = $1 and key_hash = $2
              and (state = 'running' or state = 'done' and ended_at >= $3::timestamptz - interval '24 hours')`,
    values: [args.scope, args.key_hash, new Date(nowMs())],
  });
  const row = rows[0];
  return row === undefined ? null : { ...row, request_id: uuidToUlid(row.request_id) as RequestId };
}

/**
 * Stores status and sealed answer of a claimed call, before or after its settle (they commute). False when the claim
 * is gone.
 */
export async function storeAnswer(
  db: Db,
  args: { request_id: RequestId; http_status: number; sealed_answer: Buffer | null },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'ledger.store_answer',
    text: 'update ledger.idempotency set http_status = $2, sealed_answer = $3 where request_id = $1',
    values: [ulidToUuid(args.request_id), args.http_status, args.sealed_answer],
  });
  return rowCount === 1;
}

/**
 * Ends a claim outside a settle (a settle with `claimed` does it by itself), with answer and cost. False when it is
 * gone or ended already.
 */
export async function finishClaim(
  db: Db,
  args: {
    request_id: RequestId;
    http_status: number;
    sealed_answer: Buffer | null;
    cost_micro_usd: MicroUsd;
  },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'ledger.finish_claim',
    text: `update ledger.idempotency
              set state = 'done', ended_at = $5, http_status = $2, sealed_answer = $3, cost = $4
            where request_id = $1 and state = 'running'`,
    values: [
      ulidToUuid(args.request_id),
      args.http_status,
      args.sealed_answer,
      args.cost_micro_usd,
      new Date(nowMs()),
    ],
  });
  return rowCount === 1;
}

/** Frees a running claim without a charge, so that the same key executes anew; `release` of the hold does it too. */
export async function freeClaim(db: Db, request_id: RequestId): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'ledger.free_claim',
    text: `delete from ledger.idempotency t where t.request_id = $1 and t.state = 'running'
              and not exists (select from ledger.meter m where m.request_id = t.request_id)`,
    values: [ulidToUuid(request_id)],
  });
  return rowCount === 1;
}

/**
 * Deletes all claims that ended more than 24 h ago, `limit` in one transaction; returns how many. A job. Lost ones stay for
 * thirty days: the journal of a machine that was away for so long may still bring the settle of their call.
 */
export async function purgeClaims(db: Db, limit = 5_000): Promise<number> {
  const at = nowMs();
  const done = await purge(db, { state: 'done', before: new Date(at - DAY_MS), limit });
  return done + (await purge(db, { state: 'lost', before: new Date(at - LOST_DAYS * DAY_MS), limit }));
}

async function purge(
  db: Db,
  { state, before, limit }: { state: 'done' | 'lost'; before: Date; limit: number },
): Promise<number> {
  let purged = 0;
  for (;;) {
    const { rowCount } = await db.query({
      name: `ledger.purge_claims_${state}`,
      text: `delete from ledger.idempotency where request_id in (
               select request_id from ledger.idempotency
                where state = '${state}' and ended_at < $1 limit $2)`,
      values: [before, limit],
    });
    purged += rowCount;
    if (rowCount < limit) return purged;
  }
}
