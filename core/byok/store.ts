// SQL of provider keys.
import type { Db, Id } from '../kernel/index.ts';
import type { ByokRow } from './types.ts';

const COLUMNS = `
  id, org_id, provider_id, label, hint, status, fallback_to_pool, created_at, updated_at, last_used_at, validated_at`;

/** The keys of an organization, oldest first. */
export async function listByokKeys(db: Db, org_id: Id<'org'>): Promise<ByokRow[]> {
  const { rows } = await db.query<ByokRow>({
    name: 'byok.list',
    text: `select ${COLUMNS} from byok_key where org_id = $1 order by created_at, id`,
    values: [org_id],
  });
  return rows;
}

/** One key of an organization; null when it is missing or another's. */
export async function findByokKey(db: Db, args: { org_id: Id<'org'>; id: string }): Promise<ByokRow | null> {
  const { rows } = await db.query<ByokRow>({
    name: 'byok.find',
    text: `select ${COLUMNS} from byok_key where org_id = $1 and id = $2`,
    values: [args.org_id, args.id],
  });
  return rows[0] ?? null;
}

/** As `findByokKey`, and holds the row until the transaction ends. */
export async function lockByokKey(db: Db, args: { org_id: Id<'org'>; id: string }): Promise<ByokRow | null> {
  const { rows } = await db.query<ByokRow>({
    name: 'byok.lock',
    text: `select ${COLUMNS} from byok_key where org_id = $1 and id = $2 for no key update`,
    values: [args.org_id, args.id],
  });
  return rows[0] ?? null;
}

/** The sealed secret of a key of the organization; null when it is missing or another's. */
export async function readSealedKey(db: Db, args: { org_id: Id<'org'>; id: string }): Promise<Buffer | null> {
  const { rows } = await db.query<{ secret_sealed: Buffer }>({
    name: 'byok.read_sealed',
    text: 'select secret_sealed from byok_key where org_id = $1 and id = $2',
    values: [args.org_id, args.id],
  });
  return rows[0]?.secret_sealed ?? null;
}

/** Inserts a key and returns it; null where the organization has one of that provider and label. */
export async function insertByokKey(
  db: Db,
  key: Pick<ByokRow, 'id' | 'org_id' | 'provider_id' | 'label' | 'hint' | 'fallback_to_pool'> & {
    readonly secret_sealed: Buffer;
    readonly created_by: string;
    readonly at: Date;
  },
): Promise<ByokRow | null> {
  const { rows } = await db.query<ByokRow>({
    name: 'byok.insert',
    text: `
      insert into byok_key (id, org_id, provider_id, label, secret_sealed, hint, fallback_to_pool, created_by,
                            created_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
      on conflict on constraint byok_label_is_unique do nothing
      returning ${COLUMNS}`,
    values: [
      ...[key.id, key.org_id, key.provider_id, key.label, key.secret_sealed, key.hint, key.fallback_to_pool],
      ...[key.created_by, key.at],
    ],
  });
  return rows[0] ?? null;
}

/** Whether another key of the organization at the provider has `label`. */
export async function isLabelTaken(
  db: Db,
  key: Pick<ByokRow, 'id' | 'org_id' | 'provider_id' | 'label'>,
): Promise<boolean> {
  const { rows } = await db.query({
    name: 'byok.find_label',
    text: 'select 1 from byok_key where org_id = $1 and provider_id = $2 and label = $3 and id <> $4',
    values: [key.org_id, key.provider_id, key.label, key.id],
  });
  return rows.length > 0;
}

/** Writes label and fallback of `key` (a row read under lock and changed) and returns it. */
export async function updateByokKey(db: Db, key: ByokRow, at: Date): Promise<ByokRow> {
  const { rows } = await db.query<ByokRow>({
    name: 'byok.update',
    text: `
      update byok_key set label = $3, fallback_to_pool = $4, updated_at = $5
       where org_id = $1 and id = $2
      returning ${COLUMNS}`,
    values: [key.org_id, key.id, key.label, key.fallback_to_pool, at],
  });
  return rows[0] as ByokRow;
}

/** Replaces the secret. Nothing of the old one is kept, and the new one counts as not yet validated. */
export async function replaceSecret(
  db: Db,
  key: Pick<ByokRow, 'org_id' | 'id' | 'hint'> & { readonly secret_sealed: Buffer; readonly at: Date },
): Promise<ByokRow> {
  const { rows } = await db.query<ByokRow>({
    name: 'byok.replace_secret',
    text: `
      update byok_key
         set secret_sealed = $3, hint = $4, status = 'active', validated_at = null, updated_at = $5
       where org_id = $1 and id = $2
      returning ${COLUMNS}`,
    values: [key.org_id, key.id, key.secret_sealed, key.hint, key.at],
  });
  return rows[0] as ByokRow;
}

/** Deletes a key with its secret. */
export async function deleteByokKey(db: Db, args: { org_id: Id<'org'>; id: string }): Promise<void> {
  await db.query({
    name: 'byok.delete',
    text: 'delete from byok_key where org_id = $1 and id = $2',
    values: [args.org_id, args.id],
  });
}

/**
 * Notes what the provider said of the secret that was sealed as `secret_sealed`; null where that is no longer the
 * secret of the key, or the key is gone. `validated_at` null leaves the time of the last good answer.
 */
export async function noteProbe(
  db: Db,
  args: Pick<ByokRow, 'org_id' | 'id' | 'status' | 'validated_at'> & { readonly secret_sealed: Buffer },
): Promise<ByokRow | null> {
  const { rows } = await db.query<ByokRow>({
    name: 'byok.note_probe',
    text: `
      update byok_key set status = $4, validated_at = coalesce($5, validated_at)
       where org_id = $1 and id = $2 and secret_sealed = $3
      returning ${COLUMNS}`,
    values: [args.org_id, args.id, args.secret_sealed, args.status, args.validated_at],
  });
  return rows[0] ?? null;
}
