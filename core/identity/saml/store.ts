// SQL of SAML: assertions that were used, and keys that sign requests.
import type { Db, Id } from '../../kernel/index.ts';

/** Notes that an assertion is used; false when it was before. The key is the lock: of many at once one gets true. */
export async function useAssertion(
  db: Db,
  args: { org_id: Id<'org'>; hash: Buffer; expires_at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'identity.use_sso_assertion',
    text: `
      insert into sso_assertion (org_id, hash, expires_at) values ($1, $2, $3) on conflict do nothing`,
    values: [args.org_id, args.hash, args.expires_at],
  });
  return rowCount === 1;
}

/** Deletes assertions that are refused for their age by now; returns how many. */
export async function purgeAssertions(db: Db, at: Date): Promise<number> {
  const { rowCount } = await db.query({
    name: 'identity.purge_sso_assertions',
    text: 'delete from sso_assertion where expires_at <= $1',
    values: [at],
  });
  return rowCount;
}

interface SigningKey {
  readonly private_key: Buffer;
  readonly certificate: string;
}

/** The key that signs requests of an organization; null before it has one. */
export async function findSigningKey(db: Db, org_id: Id<'org'>): Promise<SigningKey | null> {
  const { rows } = await db.query<SigningKey>({
    name: 'identity.find_sso_signing_key',
    text: 'select private_key, certificate from sso_signing_key where org_id = $1',
    values: [org_id],
  });
  return rows[0] ?? null;
}

/** Gives an organization its key; one that it has stays. */
export async function insertSigningKey(
  db: Db,
  args: { org_id: Id<'org'>; private_key: Buffer; certificate: string; at: Date },
): Promise<void> {
  await db.query({
    name: 'identity.insert_sso_signing_key',
    text: `
      insert into sso_signing_key (org_id, private_key, certificate, created_at) values ($1, $2, $3, $4)
      on conflict do nothing`,
    values: [args.org_id, args.private_key, args.certificate, args.at],
  });
}
