// Takes out of the logs of others what names people who were erased. Who did what to whom stays as ids, which lead to nobody any
// more; the hash of an entry stays too, so that its chain goes on, and another one covers what is left (docs/sign-in.md#audit-log).
import type { Context } from '../../kernel/index.ts';
import { hashBehind } from './audit.ts';
import { type ChainedRow, type Named, readNaming, redactEntries } from './store.ts';

const PAGE = 500;
const GONE = { target_display: null, before: null, after: null, reason: null } as const;
const GONE_ACTOR = { actor_display: 'erased', ip_prefix: null, user_agent: null } as const;

function redactionOf(row: ChainedRow, { ids, words }: Named) {
  const { id, hash, prev_hash: _prev, redacted_hash: _before, ...rest } = row;
  const display = rest.actor_display.toLowerCase();
  const is_actor =
    (rest.actor_id !== null && ids.includes(rest.actor_id)) || words.some((word) => display.includes(word));
  const left = { ...rest, ...GONE, ...(is_actor ? GONE_ACTOR : {}) };
  return { id, is_actor, hash: hashBehind(hash, left) };
}

/** Redacts all entries of other logs that name one of `named`, and returns how many there were. */
export async function redactAudit({ db }: Context, named: Named): Promise<number> {
  let redacted = 0;
  for (let after_id = 0; ; ) {
    const rows = await readNaming(db, named, { after_id, limit: PAGE });
    const entries = rows.map((row) => redactionOf(row, named));
    if (entries.length > 0) redacted += await redactEntries(db, { org_id: named.org_id, entries });
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return redacted;
    after_id = last.id;
  }
}
