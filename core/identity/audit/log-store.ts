// SQL of the audit log as operators of an installation read it: the entries of all organizations.
import type { Db } from '../../kernel/index.ts';
import type { AuditRow } from './store.ts';

/** Which entries are wanted; what is null fits all. */
export interface LogFilter {
  /** Empty: the entries that concern no organization. */
  readonly org_id: string | null;
  readonly actor: string | null;
  /** The whole name, or how it begins. */
  readonly action: string | null;
  readonly target: string | null;
  readonly outcome: AuditRow['outcome'] | null;
  readonly since: Date | null;
  readonly until: Date | null;
}

/** Entries that fit, newest first, with numbers strictly below `before` and above `after`. */
export async function readLog(
  db: Db,
  args: {
    readonly filter: LogFilter;
    readonly before: number | null;
    readonly after: number | null;
    readonly limit: number;
  },
): Promise<AuditRow[]> {
  const { org_id, actor, action, target, outcome, since, until } = args.filter;
  const { rows } = await db.query<AuditRow>({
    name: 'identity.read_log',
    text: `
      select id, org_id, day::text as day, chain_seq, at, actor_type, actor_id, actor_display, action, target_type,
             target_id, target_display, before, after, reason, ip_prefix, user_agent, request_id, outcome, prev_hash,
             hash
        from audit_entry
       where ($1::text is null or org_id = $1) and ($2::text is null or actor_id = $2)
         and ($3::text is null or starts_with(action, $3)) and ($4::text is null or target_id = $4)
         and ($5::text is null or outcome = $5) and ($6::timestamptz is null or at >= $6)
         and ($7::timestamptz is null or at < $7) and ($8::bigint is null or id < $8)
         and ($9::bigint is null or id > $9)
       order by id desc limit $10`,
    values: [org_id, actor, action, target, outcome, since, until, args.before, args.after, args.limit],
  });
  return rows;
}
