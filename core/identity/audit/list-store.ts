// SQL of the audit log as an organization reads it.
import type { Db } from '../../kernel/index.ts';
import type { AuditRow } from './store.ts';

/** Entries of an organization that fit, newest first, strictly before `before_id`; a filter that is null fits all. */
export async function listEntries(
  db: Db,
  args: {
    org_id: string;
    actor: string | null;
    /** The whole name, or how it begins. */
    action: string | null;
    target: string | null;
    since: Date | null;
    until: Date | null;
    before_id: number | null;
    limit: number;
  },
): Promise<AuditRow[]> {
  const { rows } = await db.query<AuditRow>({
    name: 'identity.list_entries',
    text: `
      select id, org_id, day::text as day, chain_seq, at, actor_type, actor_id, actor_display, action, target_type,
             target_id, target_display, before, after, reason, ip_prefix, user_agent, request_id, outcome, prev_hash,
             hash
        from audit_entry
       where org_id = $1 and ($2::text is null or actor_id = $2) and ($3::text is null or starts_with(action, $3))
         and ($4::text is null or target_id = $4) and ($5::timestamptz is null or at >= $5)
         and ($6::timestamptz is null or at < $6) and ($7::bigint is null or id < $7)
       order by id desc limit $8`,
    values: [
      ...[args.org_id, args.actor, args.action, args.target, args.since, args.until],
      ...[args.before_id, args.limit],
    ],
  });
  return rows;
}
