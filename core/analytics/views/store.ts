// SQL of saved views.
import type { Db, Id } from '../../kernel/index.ts';

export interface UsageViewRow {
  readonly id: Id<'usage_view'>;
  readonly created_by: Id<'user'>;
  /** Null: everybody of the organization sees it. */
  readonly private_to: Id<'user'> | null;
  readonly name: string;
  readonly query: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}
type Of = { readonly org_id: Id<'org'>; readonly user_id: Id<'user'> };

const COLUMNS = 'id, created_by, private_to, name, query, created_at, updated_at';

/** What a member sees, by name. */
export async function listUsageViews(db: Db, of: Of): Promise<UsageViewRow[]> {
  const { rows } = await db.query<UsageViewRow>({
    name: 'analytics.list_usage_views',
    text: `
      select ${COLUMNS} from usage_view
       where org_id = $1 and (private_to is null or private_to = $2)
       order by name, id`,
    values: [of.org_id, of.user_id],
  });
  return rows;
}

/** How many a member has made, shared ones too. */
export async function countUsageViews(db: Db, of: Of): Promise<number> {
  const { rows } = await db.query<{ views: number }>({
    name: 'analytics.count_usage_views',
    text: 'select count(*)::int as views from usage_view where org_id = $1 and created_by = $2',
    values: [of.org_id, of.user_id],
  });
  return rows[0]?.views ?? 0;
}

/** Null: its maker has one of this name. */
export async function insertUsageView(
  db: Db,
  { org_id, ...row }: UsageViewRow & { readonly org_id: Id<'org'> },
): Promise<UsageViewRow | null> {
  const { rows } = await db.query<UsageViewRow>({
    name: 'analytics.insert_usage_view',
    text: `
      insert into usage_view (org_id, ${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8)
      on conflict on constraint usage_view_name_is_unique do nothing
      returning ${COLUMNS}`,
    values: [
      ...[org_id, row.id, row.created_by, row.private_to, row.name, row.query],
      ...[row.created_at, row.updated_at],
    ],
  });
  return rows[0] ?? null;
}

/** A view that the member sees, locked until the transaction ends; null when there is none. */
export async function lockUsageView(db: Db, of: Of & { readonly id: string }): Promise<UsageViewRow | null> {
  const { rows } = await db.query<UsageViewRow>({
    name: 'analytics.lock_usage_view',
    text: `
      select ${COLUMNS} from usage_view
       where org_id = $1 and id = $3 and (private_to is null or private_to = $2) for update`,
    values: [of.org_id, of.user_id, of.id],
  });
  return rows[0] ?? null;
}

/** Null: its maker has another one of this name. */
export async function updateUsageView(
  db: Db,
  { org_id, ...row }: UsageViewRow & { readonly org_id: Id<'org'> },
): Promise<UsageViewRow | null> {
  const { rows } = await db.query<UsageViewRow>({
    name: 'analytics.update_usage_view',
    text: `
      update usage_view v set private_to = $3, name = $4, query = $5, updated_at = $6
       where org_id = $1 and id = $2
         and not exists (select from usage_view o
                          where o.org_id = $1 and o.created_by = v.created_by and o.name = $4 and o.id <> $2)
      returning ${COLUMNS}`,
    values: [org_id, row.id, row.private_to, row.name, row.query, row.updated_at],
  });
  return rows[0] ?? null;
}

/** The caller has found and locked it. */
export async function deleteUsageView(db: Db, of: { org_id: Id<'org'>; id: string }): Promise<void> {
  await db.query({
    name: 'analytics.delete_usage_view',
    text: 'delete from usage_view where org_id = $1 and id = $2',
    values: [of.org_id, of.id],
  });
}
