// SQL of the audit log as staff read it: what staff did to an organization.
import type { Db } from '../../kernel/index.ts';
import type { AuditRow } from './store.ts';

export type ActRow = Pick<
  AuditRow,
  'id' | 'at' | 'actor_display' | 'action' | 'target_type' | 'target_display' | 'after' | 'reason' | 'outcome'
>;

/**
 * Entries by staff in the log of `org_id`, newest first, strictly before `before`. Without `looks` only what changed
 * something or was given a reason.
 */
export async function listActs(
  db: Db,
  args: { org_id: string; looks: boolean; before: number | null; limit: number },
): Promise<ActRow[]> {
  const { rows } = await db.query<ActRow>({
    name: 'identity.list_acts',
    text: `
      select id, at, actor_display, action, target_type, target_display, after, reason, outcome from audit_entry
       where org_id = $1 and actor_type in ('staff', 'operator') and ($2 or after is not null or reason is not null)
         and ($3::bigint is null or id < $3)
       order by id desc limit $4`,
    values: [args.org_id, args.looks, args.before, args.limit],
  });
  return rows;
}
