// SQL of the keys of people who leave and come back.
import type { Db, Id } from '../kernel/index.ts';

interface Place {
  readonly org_id: Id<'org'>;
  readonly user_id: Id<'user'>;
}

/** Holds the keys that a person made until the transaction ends, before the organization is locked: as their other writers do. */
export async function lockKeysOf(db: Db, { org_id, user_id }: Place): Promise<void> {
  await db.query({
    name: 'keys.lock_keys_of',
    text: `
      select id from api_key
       where org_id = $1 and created_by = $2 and status <> 'revoked' order by id for no key update`,
    values: [org_id, user_id],
  });
}

/** Blocks the keys that a person made; returns how many. */
export async function blockKeysOf(db: Db, { org_id, user_id, at }: Place & { at: Date }): Promise<number> {
  const { rowCount } = await db.query({
    name: 'keys.block_keys_of',
    text: `
      update api_key set blocked_at = $3, updated_at = $3
       where org_id = $1 and created_by = $2 and status <> 'revoked' and blocked_at is null`,
    values: [org_id, user_id, at],
  });
  return rowCount;
}

/** Lets the blocked keys of a person work again; returns how many. */
export async function unblockKeysOf(db: Db, { org_id, user_id, at }: Place & { at: Date }): Promise<number> {
  const { rowCount } = await db.query({
    name: 'keys.unblock_keys_of',
    text: `
      update api_key set blocked_at = null, updated_at = $3
       where org_id = $1 and created_by = $2 and status <> 'revoked' and blocked_at is not null`,
    values: [org_id, user_id, at],
  });
  return rowCount;
}

/** Binds the keys that a person made to another one; returns how many. */
export async function transferKeysOf(
  db: Db,
  { org_id, user_id, to, at }: Place & { to: Id<'user'>; at: Date },
): Promise<number> {
  const { rowCount } = await db.query({
    name: 'keys.transfer_keys_of',
    text: `
      update api_key set created_by = $3, updated_at = $4
       where org_id = $1 and created_by = $2 and status <> 'revoked'`,
    values: [org_id, user_id, to, at],
  });
  return rowCount;
}

/** Revokes every key of an organization, which is locked after its keys; returns how many. */
export async function revokeAllKeys(
  db: Db,
  { org_id, at }: { org_id: Id<'org'>; at: Date },
): Promise<number> {
  const { rowCount } = await db.query({
    name: 'keys.revoke_all',
    text: `
      update api_key set status = 'revoked', revoked_at = $2, updated_at = $2
       where org_id = $1 and status <> 'revoked'`,
    values: [org_id, at],
  });
  return rowCount;
}

/** Holds every key of an organization until the transaction ends, before the organization is locked. */
export async function lockAllKeys(db: Db, org_id: Id<'org'>): Promise<void> {
  await db.query({
    name: 'keys.lock_all',
    text: `select id from api_key where org_id = $1 and status <> 'revoked' order by id for no key update`,
    values: [org_id],
  });
}
