// The audit log: who did what, written in the transaction of the change, chained by hash so that an entry taken
// out or altered shows.
import type { Pool } from '../../db/index.ts';
import { type Caller, type Context, canonicalJson, type Db, sha256 } from '../../kernel/index.ts';
import { addressPrefix } from '../sessions/network.ts';
import {
  type AuditRow,
  appendEntry,
  type ChainedRow,
  freeze,
  lockChain,
  readChains,
  readEntriesAfter,
} from './store.ts';

const AGENT_MAX = 256;
const PAGE = 1_000;

interface AuditEntry {
  /** Operation name, `keys.rotate`. */
  readonly action: string;
  /** The organization whose log it is in; null for what concerns none. */
  readonly org_id: string | null;
  readonly target?: { readonly type: string; readonly id: string; readonly display?: string };
  /** Changed fields alone, secrets as `"[redacted]"`. */
  readonly before?: Readonly<Record<string, unknown>>;
  readonly after?: Readonly<Record<string, unknown>>;
  readonly reason?: string;
  readonly outcome?: 'ok' | 'denied';
  /** The actor, where the caller is not signed in yet. */
  readonly actor?: Actor;
}

/** Who did something, as the audit log and webhooks name it. */
interface Actor {
  readonly type: AuditRow['actor_type'];
  readonly id: string | null;
  readonly display: string;
}

/** `caller` as an actor. */
export function actorOf(caller: Caller): Actor {
  switch (caller.kind) {
    case 'key':
      return { type: 'key', id: caller.key_id, display: caller.key_id };
    case 'session':
      return { type: 'user', id: caller.user_id, display: caller.email };
    case 'staff':
      return { type: 'staff', id: caller.staff_id, display: caller.name };
    case 'scim':
      return { type: 'scim', id: caller.token_id, display: caller.hint };
    case 'public':
      return { type: 'system', id: null, display: 'nobody' };
  }
}

/** The first link of a chain: bound to its organization and day, so that chains cannot be swapped. */
function firstLink(org_id: string, day: string): Buffer {
  return sha256(`audit ${org_id} ${day}`);
}

/** The hash of an entry behind `prev`: of the one before it, or of itself as it was before names were taken out. */
export function hashBehind(prev: Buffer, entry: Omit<AuditRow, 'id' | 'hash' | 'prev_hash'>): Buffer {
  const { at, ...rest } = entry;
  return sha256(Buffer.concat([prev, Buffer.from(canonicalJson({ ...rest, at: at.toISOString() }))]));
}

function hashOf({ prev_hash, ...entry }: Omit<AuditRow, 'id' | 'hash'>): Buffer {
  return hashBehind(prev_hash, entry);
}

/** Whether an entry is what was written, or what was left when names were taken out of it. */
function isWhole({ id: _, hash, redacted_hash, ...row }: ChainedRow): boolean {
  if (redacted_hash === null) return hashOf(row).equals(hash);
  const { prev_hash: _prev, ...rest } = row;
  return hashBehind(hash, rest).equals(redacted_hash);
}

/** `value` as it is read back from a JSON column, so that the hash covers exactly what is stored. */
function asStored(value: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> | null {
  return value === undefined ? null : JSON.parse(JSON.stringify(value));
}

/** The user agent of a request as stored: printable, at most 256 characters; null when absent. */
export function storedAgent(context: Context): string | null {
  const agent = context.requestHeader('user-agent');
  return agent === null ? null : [...agent].slice(0, AGENT_MAX).join('');
}

/** Appends an entry to the audit log, in the transaction of `context` or one of its own. */
export function writeAudit(context: Context, entry: AuditEntry): Promise<void> {
  return context.transaction(async (context) => {
    const at = context.now();
    const org_id = entry.org_id ?? '';
    const day = at.toISOString().slice(0, 10);
    const end = await lockChain(context.db, { org_id, day, first: firstLink(org_id, day) });
    const actor = entry.actor ?? actorOf(context.caller);
    const row = {
      org_id,
      day,
      chain_seq: end.chain_seq + 1,
      at,
      actor_type: actor.type,
      actor_id: actor.id,
      actor_display: actor.display,
      action: entry.action,
      target_type: entry.target?.type ?? null,
      target_id: entry.target?.id ?? null,
      target_display: entry.target?.display ?? null,
      before: asStored(entry.before),
      after: asStored(entry.after),
      reason: entry.reason ?? null,
      ip_prefix: addressPrefix(context.client_ip),
      user_agent: storedAgent(context),
      request_id: context.request_id,
      outcome: entry.outcome ?? 'ok',
      prev_hash: end.hash,
    };
    await appendEntry(context.db, { ...row, hash: hashOf(row) });
  });
}

/** Those of `fields` that differ, as `before` and `after` of an entry. */
export function changesOf<T extends object>(
  old: T,
  next: T,
  fields: readonly (keyof T & string)[],
): { before: Record<string, unknown>; after: Record<string, unknown> } {
  const stored = (value: unknown) => canonicalJson(JSON.parse(JSON.stringify([value ?? null])));
  const changed = fields.filter((field) => stored(old[field]) !== stored(next[field]));
  const pick = (from: T) => Object.fromEntries(changed.map((field) => [field, from[field]]));
  return { before: pick(old), after: pick(next) };
}

interface AuditFault {
  readonly org_id: string;
  readonly day: string;
  readonly chain_seq: number;
  readonly reason: 'missing' | 'altered' | 'end';
}

interface AuditCheck {
  readonly entries: number;
  /** Those out of which an erasure took names. */
  readonly redacted: number;
  readonly faults: AuditFault[];
}

/**
 * Recomputes every chain as of one moment: how many entries there are, and the places where one is missing, altered, or
 * cut off at the end. Entries that are written during the check are no faults. It reads in pages, so that a long log
 * needs no more memory than a short one.
 */
export function verifyAudit(pool: Pool): Promise<AuditCheck> {
  return pool.transaction(async (db) => {
    await freeze(db);
    return recompute(db);
  });
}

async function recompute(db: Db): Promise<AuditCheck> {
  const faults: AuditFault[] = [];
  const ends = new Map<string, { chain_seq: number; hash: Buffer }>();
  let entries = 0;
  let redacted = 0;
  for (let after = 0; ; ) {
    const rows = await readEntriesAfter(db, after, PAGE);
    for (const row of rows) {
      const { org_id, day, chain_seq, hash } = row;
      after = row.id;
      entries++;
      if (row.redacted_hash !== null) redacted++;
      const key = `${org_id} ${day}`;
      const end = ends.get(key) ?? { chain_seq: 0, hash: firstLink(org_id, day) };
      const follows = chain_seq === end.chain_seq + 1 && row.prev_hash.equals(end.hash);
      if (!follows) faults.push({ org_id, day, chain_seq, reason: 'missing' });
      else if (!isWhole(row)) faults.push({ org_id, day, chain_seq, reason: 'altered' });
      ends.set(key, { chain_seq, hash });
    }
    if (rows.length < PAGE) break;
  }
  for (const chain of await readChains(db)) {
    const { org_id, day, chain_seq } = chain;
    const end = ends.get(`${org_id} ${day}`);
    const cut =
      end === undefined ? chain_seq > 0 : end.chain_seq !== chain_seq || !end.hash.equals(chain.hash);
    if (cut) faults.push({ org_id, day, chain_seq, reason: 'end' });
  }
  return { entries, redacted, faults };
}
