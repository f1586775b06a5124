// SQL of an organization's data policy.
import type { Db, Id } from '../kernel/index.ts';
import type { OrgDataPolicy, PepperRow } from './types.ts';

/** A data policy and when logging was last switched off. */
export interface StoredDataPolicy {
  readonly data_policy: OrgDataPolicy;
  readonly logging_off_at: Date | null;
}

/** The data policy of an organization; null when there is none. */
export async function findDataPolicy(db: Db, org_id: Id<'org'>): Promise<StoredDataPolicy | null> {
  const { rows } = await db.query<StoredDataPolicy>({
    name: 'orgs.find_data_policy',
    text: 'select data_policy, logging_off_at from org where id = $1',
    values: [org_id],
  });
  return rows[0] ?? null;
}

/**
 * Replaces the data policy of an organization (held by `lockOrg`); where it switches logging off, notes when. Keys
 * follow within a second (trigger `org_announces`).
 */
export async function setDataPolicy(
  db: Db,
  args: { org_id: Id<'org'>; data_policy: OrgDataPolicy; at: Date },
): Promise<void> {
  await db.query({
    name: 'orgs.set_data_policy',
    text: `
      update org
         set data_policy = $2, updated_at = $3,
             logging_off_at = case when data_policy ->> 'logging' = 'on' and $2::jsonb ->> 'logging' = 'off'
                                   then $3::timestamptz else logging_off_at end
       where id = $1`,
    values: [args.org_id, JSON.stringify(args.data_policy), args.at],
  });
}

/** The key of the hashes of an organization's end users, as it is stored; null when there is no such organization. */
export async function findPepperRow(db: Db, org_id: Id<'org'>): Promise<PepperRow | null> {
  const { rows } = await db.query<PepperRow>({
    name: 'orgs.find_pepper',
    text: 'select pepper, pepper_sealed from org where id = $1',
    values: [org_id],
  });
  return rows[0] ?? null;
}

/** The first bytes of some pepper that is sealed, which name its key; null while none is. */
export async function findPepperHeader(db: Db): Promise<Buffer | null> {
  const { rows } = await db.query<{ header: Buffer }>({
    name: 'orgs.find_pepper_header',
    text: 'select substring(pepper_sealed for 8) as header from org where pepper_sealed is not null limit 1',
  });
  return rows[0]?.header ?? null;
}
