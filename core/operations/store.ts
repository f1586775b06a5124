// SQL of stored answers to management POSTs with an Idempotency-Key (docs/idempotency.md#everything-else).
import type { Db, Environment } from '../kernel/index.ts';

export interface AnswerKey {
  readonly org_id: string;
  readonly environment: Environment;
  readonly path: string;
  readonly key_hash: Buffer;
}

export interface StoredAnswer {
  readonly fingerprint: Buffer;
  readonly started_at: Date;
  /** null while the first call runs. */
  readonly status: number | null;
  readonly body: Buffer | null;
}

/**
 * Claims a key for a first call at `at`; null when it was free, lapsed, or its first call was given up, else what
 * stands there. One statement decides: of concurrent calls exactly one gets null.
 */
export async function claimAnswer(
  db: Db,
  key: AnswerKey,
  args: { fingerprint: Buffer; at: Date; expires_at: Date; abandoned_before: Date },
): Promise<StoredAnswer | null> {
  const identity = [key.org_id, key.environment, key.path, key.key_hash];
  const { rowCount } = await db.query({
    name: 'operations.claim_answer',
    text: `
      insert into idempotency (org_id, environment, path, key_hash, fingerprint, started_at, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (org_id, environment, path, key_hash) do update
         set fingerprint = $5, started_at = $6, expires_at = $7, status = null, body = null
       where idempotency.expires_at <= $6 or (idempotency.status is null and idempotency.started_at < $8)`,
    values: [...identity, args.fingerprint, args.at, args.expires_at, args.abandoned_before],
  });
  if (rowCount === 1) return null;
  const { rows } = await db.query<StoredAnswer>({
    name: 'operations.find_answer',
    text: `
      select fingerprint, started_at, status, body from idempotency
       where org_id = $1 and environment = $2 and path = $3 and key_hash = $4`,
    values: identity,
  });
  return rows[0] ?? null;
}

/** Stores the answer of the first call; false when the claim is no longer this call's. */
export async function storeAnswer(
  db: Db,
  key: AnswerKey,
  args: { started_at: Date; status: number; body: Buffer },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'operations.store_answer',
    text: `
      update idempotency set status = $6, body = $7
       where org_id = $1 and environment = $2 and path = $3 and key_hash = $4 and started_at = $5
         and status is null`,
    values: [key.org_id, key.environment, key.path, key.key_hash, args.started_at, args.status, args.body],
  });
  return rowCount === 1;
}

/** Frees a claim whose call ended in a way that is not kept. */
export async function freeAnswer(db: Db, key: AnswerKey, started_at: Date): Promise<void> {
  await db.query({
    name: 'operations.free_answer',
    text: `
      delete from idempotency
       where org_id = $1 and environment = $2 and path = $3 and key_hash = $4 and started_at = $5
         and status is null`,
    values: [key.org_id, key.environment, key.path, key.key_hash, started_at],
  });
}

/** Deletes answers past their 24 hours; returns how many. An hourly job. */
export async function purgeAnswers(db: Db, at: Date): Promise<number> {
  const { rowCount } = await db.query({
    name: 'operations.purge_answers',
    text: 'delete from idempotency where expires_at <= $1',
    values: [at],
  });
  return rowCount;
}
