// SQL of the notices that keys will end.
import type { Db, Id } from '../kernel/index.ts';
import type { KeyRow } from './types.ts';

/** A key that ends soon, with what its notice says. */
export type EndingKey = Pick<
  KeyRow,
  'id' | 'org_id' | 'environment' | 'name' | 'project_id' | 'hint' | 'created_by'
> & { readonly expires_at: Date };

/**
 * Active keys that end after `after` and not later than `until`, were made to live longer than `days`, and have no
 * notice of that many days for this end; at most `limit`.
 */
export async function listEndingKeys(
  db: Db,
  args: { after: Date; until: Date; days: number; limit: number },
): Promise<EndingKey[]> {
  const { rows } = await db.query<EndingKey>({
    name: 'keys.list_ending',
    text: `
      select k.id, k.org_id, k.environment, k.name, k.project_id, k.hint, k.created_by, k.expires_at
        from api_key k
       where k.status = 'active' and k.expires_at > $1 and k.expires_at <= $2
         and k.created_at < k.expires_at - make_interval(days => $3)
         and not exists (select from key_notice n
                          where n.key_id = k.id and n.expires_at = k.expires_at and n.days = $3)
       order by k.expires_at, k.id limit $4`,
    values: [args.after, args.until, args.days, args.limit],
  });
  return rows;
}

/** Notes a notice; false when it was given before. */
export async function insertKeyNotice(
  db: Db,
  notice: { key_id: Id<'key'>; expires_at: Date; days: number; at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'keys.insert_notice',
    text: `
      insert into key_notice (key_id, expires_at, days, created_at) values ($1, $2, $3, $4)
      on conflict on constraint key_notice_once do nothing`,
    values: [notice.key_id, notice.expires_at, notice.days, notice.at],
  });
  return rowCount === 1;
}

/** Forgets the notices of ends before `before`; returns how many. */
export async function purgeKeyNotices(db: Db, before: Date): Promise<number> {
  const { rowCount } = await db.query({
    name: 'keys.purge_notices',
    text: 'delete from key_notice where expires_at < $1',
    values: [before],
  });
  return rowCount ?? 0;
}
