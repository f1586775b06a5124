// SQL of API keys.
import type { Db, Environment, Id } from '../kernel/index.ts';
import type { KeyRow } from './types.ts';

const COLUMNS = `
  id, key_no, chain_no, org_id, project_id, environment, name, hint, scopes, status, rpm, tpm, concurrency,
  budget_daily_micro, budget_hard, alerts, svc_version, data_policy, created_by, managed_by, rotated_from,
  created_at, updated_at, last_used_at, expires_at, revoked_at, blocked_at`;

/** The key with this hash, whatever its status; null when there is none. The one look-up without an org. */
export async function findKeyByHash(db: Db, hash: Buffer): Promise<KeyRow | null> {
  const { rows } = await db.query<KeyRow>({
    name: 'keys.find_by_hash',
    text: `select ${COLUMNS} from api_key where hash = $1`,
    values: [hash],
  });
  return rows[0] ?? null;
}

/** One key of an organization; `environment` null sees both. Null when missing or out of sight. */
export async function findKey(
  db: Db,
  args: { org_id: Id<'org'>; environment: Environment | null; id: string },
): Promise<KeyRow | null> {
  const { rows } = await db.query<KeyRow>({
    name: 'keys.find',
    text: `
      select ${COLUMNS} from api_key
       where org_id = $1 and id = $2 and ($3::text is null or environment = $3)`,
    values: [args.org_id, args.id, args.environment],
  });
  return rows[0] ?? null;
}

/** The person who made a key of the organization; null for one that `svcctl` made for nobody in particular. */
export async function findKeyMaker(
  db: Db,
  args: { org_id: Id<'org'>; key_id: Id<'key'> },
): Promise<Id<'user'> | null> {
  const { rows } = await db.query<{ created_by: Id<'user'> | null }>({
    name: 'keys.find_maker',
    text: 'select created_by from api_key where org_id = $1 and id = $2',
    values: [args.org_id, args.key_id],
  });
  return rows[0]?.created_by ?? null;
}

/** Those of `ids` that are keys of the organization, in no order; `environment` null sees both. */
export async function findKeys(
  db: Db,
  args: { org_id: Id<'org'>; environment: Environment | null; ids: readonly string[] },
): Promise<KeyRow[]> {
  const { rows } = await db.query<KeyRow>({
    name: 'keys.find_all',
    text: `
      select ${COLUMNS} from api_key
       where org_id = $1 and id = any ($2) and ($3::text is null or environment = $3)`,
    values: [args.org_id, args.ids, args.environment],
  });
  return rows;
}

/** The keys with these ids, of whatever organizations; for lists of staff. */
export async function findKeysOfAll(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, KeyRow>> {
  const { rows } = await db.query<KeyRow>({
    name: 'keys.find_of_all',
    text: `select ${COLUMNS} from api_key where id = any ($1)`,
    values: [ids],
  });
  return new Map(rows.map((key) => [key.id, key]));
}

/** As `findKey`, and holds the row until the transaction ends. */
export async function lockKey(
  db: Db,
  args: { org_id: Id<'org'>; environment: Environment | null; id: string },
): Promise<KeyRow | null> {
  const { rows } = await db.query<KeyRow>({
    name: 'keys.lock',
    text: `
      select ${COLUMNS} from api_key
       where org_id = $1 and id = $2 and ($3::text is null or environment = $3) for no key update`,
    values: [args.org_id, args.id, args.environment],
  });
  return rows[0] ?? null;
}

/** A page of keys, newest first, strictly after `after`; `status` as it is at `now`. */
export async function listKeys(
  db: Db,
  args: {
    org_id: Id<'org'>;
    environment: Environment | null;
    project_id: string | null;
    status: string | null;
    /** Of one Kubernetes object only. */
    managed_by?: string | null;
    now: Date;
    after: { at: number; id: string } | null;
    limit: number;
  },
): Promise<KeyRow[]> {
  const { rows } = await db.query<KeyRow>({
    name: 'keys.list',
    text: `
      select ${COLUMNS} from api_key
       where org_id = $1
         and ($2::text is null or environment = $2)
         and ($3::text is null or project_id = $3)
         and ($4::text is null or $4 = case
               when status = 'revoked' then 'revoked'
               when expires_at <= $5 then 'expired'
               when blocked_at is not null then 'blocked'
               else status end)
         and ($6::timestamptz is null or (created_at, id) < ($6, $7))
         and ($9::text is null or managed_by = $9)
       order by created_at desc, id desc
       limit $8`,
    values: [
      args.org_id,
      args.environment,
      args.project_id,
      args.status,
      args.now,
      args.after === null ? null : new Date(args.after.at),
      args.after?.id ?? null,
      args.limit,
      args.managed_by ?? null,
    ],
  });
  return rows;
}

/** Keys that count against the plan: active and not past their end. */
export async function countKeys(db: Db, args: { org_id: Id<'org'>; now: Date }): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'keys.count',
    text: `
      select count(*)::int as n from api_key
       where org_id = $1 and status = 'active' and (expires_at is null or expires_at > $2)`,
    values: [args.org_id, args.now],
  });
  return rows[0]?.n ?? 0;
}

/** Keys of an organization that were created after `since`, ended ones too and successors not, and when the first of them was. */
export async function countMade(
  db: Db,
  args: { org_id: Id<'org'>; since: Date },
): Promise<{ keys: number; first_at: Date | null }> {
  const { rows } = await db.query<{ keys: number; first_at: Date | null }>({
    name: 'keys.count_made',
    text: `
      select count(*)::int as keys, min(created_at) as first_at from api_key
       where org_id = $1 and created_at > $2 and rotated_from is null`,
    values: [args.org_id, args.since],
  });
  return rows[0] ?? { keys: 0, first_at: null };
}

export type NewKey = Omit<
  KeyRow,
  | 'key_no'
  | 'chain_no'
  | 'status'
  | 'created_at'
  | 'updated_at'
  | 'last_used_at'
  | 'revoked_at'
  | 'blocked_at'
> & {
  readonly hash: Buffer;
  /** Chain of the predecessor; null starts a chain. */
  readonly chain_no: number | null;
  readonly at: Date;
};

/** Inserts an active key and returns it. */
export async function insertKey(db: Db, key: NewKey): Promise<KeyRow> {
  const { rows } = await db.query<KeyRow>({
    name: 'keys.insert',
    text: `
      insert into api_key (key_no, chain_no, id, org_id, project_id, environment, name, hash, hint, scopes, rpm,
                           tpm, concurrency, budget_daily_micro, budget_hard, alerts, svc_version, data_policy,
                           created_by, managed_by, rotated_from, expires_at, created_at, updated_at)
      select n, coalesce($1, n), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
             $19, $20, $21, $22, $22
        from (select nextval('api_key_no')::int as n) as next
      returning ${COLUMNS}`,
    values: [
      key.chain_no,
      key.id,
      key.org_id,
      key.project_id,
      key.environment,
      key.name,
      key.hash,
      key.hint,
      key.scopes,
      key.rpm,
      key.tpm,
      key.concurrency,
      key.budget_daily_micro,
      key.budget_hard,
      key.alerts,
      key.svc_version,
      key.data_policy === null ? null : JSON.stringify(key.data_policy),
      key.created_by,
      key.managed_by,
      key.rotated_from,
      key.expires_at,
      key.at,
    ],
  });
  return rows[0] as KeyRow;
}

/** Writes the settings of `key` (a row read under lock and changed) and returns it. */
export async function updateKey(db: Db, key: KeyRow, at: Date): Promise<KeyRow> {
  const { rows } = await db.query<KeyRow>({
    name: 'keys.update',
    text: `
      update api_key
         set name = $3, scopes = $4, rpm = $5, tpm = $6, concurrency = $7, budget_daily_micro = $8,
             budget_hard = $9, alerts = $10, svc_version = $11, data_policy = $12, expires_at = $13,
             updated_at = $14
       where org_id = $1 and id = $2
      returning ${COLUMNS}`,
    values: [
      key.org_id,
      key.id,
      key.name,
      key.scopes,
      key.rpm,
      key.tpm,
      key.concurrency,
      key.budget_daily_micro,
      key.budget_hard,
      key.alerts,
      key.svc_version,
      key.data_policy === null ? null : JSON.stringify(key.data_policy),
      key.expires_at,
      at,
    ],
  });
  return rows[0] as KeyRow;
}

/** Gives the usable keys of a rotation chain one budget: they share its windows. */
export async function setChainBudget(
  db: Db,
  args: {
    org_id: Id<'org'>;
    chain_no: number;
    daily_micro: number | null;
    hard: boolean;
    alerts: readonly number[];
    at: Date;
  },
): Promise<void> {
  await db.query({
    name: 'keys.set_chain_budget',
    text: `
      update api_key set budget_daily_micro = $3, budget_hard = $4, alerts = $5, updated_at = $6
       where org_id = $1 and chain_no = $2 and status <> 'revoked'`,
    values: [args.org_id, args.chain_no, args.daily_micro, args.hard, args.alerts, args.at],
  });
}

/** Revokes a key at `at`; a key revoked before keeps its `revoked_at`. */
export async function revokeKey(
  db: Db,
  args: { org_id: Id<'org'>; id: Id<'key'>; at: Date },
): Promise<KeyRow> {
  const { rows } = await db.query<KeyRow>({
    name: 'keys.revoke',
    text: `
      update api_key
         set status = 'revoked', revoked_at = coalesce(revoked_at, $3),
             updated_at = case when status = 'revoked' then updated_at else $3 end
       where org_id = $1 and id = $2
      returning ${COLUMNS}`,
    values: [args.org_id, args.id, args.at],
  });
  return rows[0] as KeyRow;
}

/** Leaves an active key usable until `ends_at`, as rotating. */
export async function beginGrace(
  db: Db,
  args: { org_id: Id<'org'>; id: Id<'key'>; ends_at: Date; at: Date },
): Promise<void> {
  await db.query({
    name: 'keys.begin_grace',
    text: `
      update api_key set status = 'rotating', expires_at = $3, updated_at = $4
       where org_id = $1 and id = $2 and status = 'active'`,
    values: [args.org_id, args.id, args.ends_at, args.at],
  });
}

/** Notes when keys were last used; never moves a time backwards. The columns named wake no trigger. */
export async function touchKeys(db: Db, used: readonly { id: Id<'key'>; at: Date }[]): Promise<void> {
  await db.query({
    name: 'keys.touch',
    text: `
      update api_key set last_used_at = used.at
        from unnest($1::text[], $2::timestamptz[]) as used (id, at)
       where api_key.id = used.id and (last_used_at is null or last_used_at < used.at)`,
    values: [used.map((use) => use.id), used.map((use) => use.at)],
  });
}

/** Whose call a hold was, by the numbers the ledger keeps; null when the rows are gone. */
export async function findSubjectOwner(
  db: Db,
  subject: { key_no: number },
): Promise<{
  org_id: Id<'org'>;
  project_id: Id<'project'>;
  key_id: Id<'key'>;
  environment: Environment;
} | null> {
  const { rows } = await db.query<{
    org_id: Id<'org'>;
    project_id: Id<'project'>;
    key_id: Id<'key'>;
    environment: Environment;
  }>({
    name: 'keys.find_subject_owner',
    // The newest key of the rotation chain, since all its keys have the same number in the ledger.
    text: `
      select org_id, project_id, id as key_id, environment
        from api_key where chain_no = $1
       order by created_at desc, id desc limit 1`,
    values: [subject.key_no],
  });
  return rows[0] ?? null;
}

/** A number of the ledger that keys of a project count under: one per rotation chain. */
interface Chain {
  readonly project_id: Id<'project'>;
  readonly environment: Environment;
  readonly chain_no: number;
}

/** The chains of `project_ids`, ended ones too: what they spent counts. */
export async function listChains(
  db: Db,
  args: { org_id: Id<'org'>; project_ids: readonly string[] },
): Promise<Chain[]> {
  const { rows } = await db.query<Chain>({
    name: 'keys.list_chains',
    text: `
      select distinct project_id, environment, chain_no from api_key where org_id = $1 and project_id = any ($2)`,
    values: [args.org_id, args.project_ids],
  });
  return rows;
}

/** Whether a project has keys that work at `now`. */
export async function hasWorkingKeys(
  db: Db,
  args: { org_id: Id<'org'>; project_id: Id<'project'>; now: Date },
): Promise<boolean> {
  const { rows } = await db.query<{ has: boolean }>({
    name: 'keys.has_working',
    text: `
      select exists (select from api_key
                      where org_id = $1 and project_id = $2 and status <> 'revoked'
                        and (expires_at is null or expires_at > $3)) as has`,
    values: [args.org_id, args.project_id, args.now],
  });
  return rows[0]?.has === true;
}
