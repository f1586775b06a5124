// SQL of the keys that calls use: what an organization has, and when a key was used last.
import type { Db, Id } from '../kernel/index.ts';
import type { ByokRow } from './types.ts';

export type SealedKey = Pick<ByokRow, 'id' | 'provider_id' | 'hint' | 'fallback_to_pool'> & {
  readonly secret_sealed: Buffer;
};

/** The keys of an organization as stored, oldest first. */
export async function readSealedKeys(db: Db, org_id: Id<'org'>): Promise<SealedKey[]> {
  const { rows } = await db.query<SealedKey>({
    name: 'byok.read_sealed_keys',
    text: `
      select id, provider_id, hint, fallback_to_pool, secret_sealed
        from byok_key where org_id = $1 order by created_at, id`,
    values: [org_id],
  });
  return rows;
}

/** Notes when keys were used last; a time never goes back. */
export async function touchByokKeys(
  db: Db,
  used: readonly { readonly id: Id<'byok'>; readonly at: Date }[],
): Promise<void> {
  await db.query({
    name: 'byok.touch',
    text: `
      update byok_key as key set last_used_at = used.at
        from unnest($1::text[], $2::timestamptz[]) as used (id, at)
       where key.id = used.id and (key.last_used_at is null or key.last_used_at < used.at)`,
    values: [used.map(({ id }) => id), used.map(({ at }) => at)],
  });
}
