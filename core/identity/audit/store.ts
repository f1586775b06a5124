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

/** An entry as its chain is checked. */
export interface ChainedRow extends AuditRow {
  /** Over what is left of an entry whose names were taken out (redact.ts); null while it is whole. */
  readonly redacted_hash: Buffer | null;
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
export async function readEntriesAfter(db: Db, after_id: number, limit: number): Promise<ChainedRow[]> {
  const { rows } = await db.query<ChainedRow>({
    name: 'identity.read_audit_entries',
    text: `select ${COLUMNS}, redacted_hash from audit_entry where id > $1 order by id limit $2`,
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

/** Whose names are taken out: ids of people and organizations, and words in lower case that name them. */
export interface Named {
  /** The organization under erasure, whose own log is left out: it goes as a whole. */
  readonly org_id: string;
  readonly ids: readonly string[];
  readonly words: readonly string[];
}

/**
 * Entries of other logs that name one of `named`, after `after_id`, in the order of their ids; those of before too. It reads all logs:
 * 100,000 entries against 50 words take a second, as long as `offset 0` has the text of an entry made once and not for each word.
 */
export async function readNaming(
  db: Db,
  { org_id, ids, words }: Named,
  page: { after_id: number; limit: number },
): Promise<ChainedRow[]> {
  const { rows } = await db.query<ChainedRow>({
    name: 'identity.read_audit_naming',
    text: `
      select ${COLUMNS}, redacted_hash
        from audit_entry, lateral (
               select lower(concat_ws(' ', actor_display, target_display, before::text, after::text, reason)) as said
               offset 0) as entry
       where id > $4 and org_id <> $1
         and (actor_id = any ($2) or target_id = any ($2)
              or exists (select from unnest($3::text[]) as word where strpos(said, word) > 0))
       order by id limit $5`,
    values: [org_id, ids, words, page.after_id, page.limit],
  });
  return rows;
}

/** Takes names out of entries; the function of the database refuses what is not under erasure. */
export async function redactEntries(
  db: Db,
  args: { org_id: string; entries: readonly { id: number; is_actor: boolean; hash: Buffer }[] },
): Promise<number> {
  const { rows } = await db.query<{ redacted: number }>({
    name: 'identity.redact_audit_entries',
    text: 'select redact_audit_entries($1, $2, $3, $4)::int as redacted',
    values: [
      args.org_id,
      args.entries.map(({ id }) => id),
      args.entries.map(({ is_actor }) => is_actor),
      args.entries.map(({ hash }) => hash),
    ],
  });
  return rows[0]?.redacted ?? 0;
}

/** Deletes chains of days before `before`, at most `chains` of them, and returns how many entries; the database keeps what is young. */
export async function dropAuditDays(db: Db, args: { before: string; chains: number }): Promise<number> {
  const { rows } = await db.query<{ dropped: number }>({
    name: 'identity.drop_audit_days',
    text: 'select drop_audit_days($1, $2)::int as dropped',
    values: [args.before, args.chains],
  });
  return rows[0]?.dropped ?? 0;
}
