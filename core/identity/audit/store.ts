// SQL of the audit log: append only, one hash chain per organization and UTC day.
import type { Db } from '../../kernel/index.ts';

export interface AuditRow {
  readonly id: number;
  readonly org_id: string;
  readonly day: string;
  readonly chain_seq: number;
  readonly at: Date;
  readonly actor_type: 'user' | 'key' | 'staff' | 'scim' | 'system' | 'operator';
  readonly actor_id: string | null;
  readonly actor_display: string;
  readonly action: string;
  readonly target_type: string | null;
  readonly target_id: string | null;
  readonly target_display: string | null;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly reason: string | null;
  readonly ip_prefix: string | null;
  readonly user_agent: string | null;
  readonly request_id: string | null;
  readonly outcome: 'ok' | 'denied';
  readonly prev_hash: Buffer;
  readonly hash: Buffer;
}

const COLUMNS = `
  id, org_id, day::text as day, chain_seq, at, actor_type, actor_id, actor_display, action, target_type, target_id,
  target_display, before, after, reason, ip_prefix, user_agent, request_id, outcome, prev_hash, hash`;

/** Locks the end of a chain until the transaction ends; creates it with `first` when the day has none yet. */
export async function lockChain(
  db: Db,
  chain: { org_id: string; day: string; first: Buffer },
): Promise<{ chain_seq: number; hash: Buffer }> {
  const { rows } = await db.query<{ chain_seq: number; hash: Buffer }>({
    name: 'identity.lock_chain',
    text: `
      insert into audit_chain (org_id, day, chain_seq, hash) values ($1, $2, 0, $3)
      on conflict (org_id, day) do update set chain_seq = audit_chain.chain_seq
      returning chain_seq, hash`,
    values: [chain.org_id, chain.day, chain.first],
  });
  return rows[0] as { chain_seq: number; hash: Buffer };
}

/** Appends an entry and moves the end of its chain to it. */
export async function appendEntry(db: Db, entry: Omit<AuditRow, 'id'>): Promise<void> {
  await db.query({
    name: 'identity.append_audit_entry',
    text: `
      with chain as (
        update audit_chain set chain_seq = $3, hash = $20 where org_id = $1 and day = $2)
      insert into audit_entry (org_id, day, chain_seq, at, actor_type, actor_id, actor_display, action, target_type,
                               target_id, target_display, before, after, reason, ip_prefix, user_agent, request_id,
                               outcome, prev_hash, hash)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)`,
    values: [
      entry.org_id,
      entry.day,
      entry.chain_seq,
      entry.at,
      entry.actor_type,
      entry.actor_id,
      entry.actor_display,
      entry.action,
      entry.target_type,
      entry.target_id,
      entry.target_display,
      entry.before === null ? null : JSON.stringify(entry.before),
      entry.after === null ? null : JSON.stringify(entry.after),
      entry.reason,
      entry.ip_prefix,
      entry.user_agent,
      entry.request_id,
      entry.outcome,
      entry.prev_hash,
      entry.hash,
    ],
  });
}

/** Makes all reads of the open transaction see one moment; must be its first statement. */
export async function freeze(db: Db): Promise<void> {
  await db.query({
    name: 'identity.freeze_audit',
    text: 'set transaction isolation level repeatable read read only',
  });
}

/** Entries in the order of their chains, after `after_id`. */
export async function readEntriesAfter(db: Db, after_id: number, limit: number): Promise<AuditRow[]> {
  const { rows } = await db.query<AuditRow>({
    name: 'identity.read_audit_entries',
    text: `select ${COLUMNS} from audit_entry where id > $1 order by id limit $2`,
    values: [after_id, limit],
  });
  return rows;
}

/** The ends of all chains. */
export async function readChains(
  db: Db,
): Promise<{ org_id: string; day: string; chain_seq: number; hash: Buffer }[]> {
  const { rows } = await db.query<{ org_id: string; day: string; chain_seq: number; hash: Buffer }>({
    name: 'identity.read_audit_chains',
    text: 'select org_id, day::text as day, chain_seq, hash from audit_chain order by org_id, day',
  });
  return rows;
}
