// What subscribers of webhooks hear about keys (docs/webhooks.md#events).
import { actorOf } from '../identity/index.ts';
import type { Context } from '../kernel/index.ts';
import { writeEvent } from '../ledger/index.ts';
import type { KeyRow } from './types.ts';

/** Writes the event `topic` about `key`, in the transaction of its change. */
export function writeKeyEvent(
  context: Context,
  topic: 'key.created' | 'key.rotated' | 'key.revoked' | 'key.expiring',
  key: KeyRow,
): Promise<void> {
  const payload = {
    key_id: key.id,
    name: key.name,
    project_id: key.project_id,
    hint: key.hint,
    expires_at: key.expires_at?.toISOString() ?? null,
    ...(topic === 'key.rotated' ? { rotated_from: key.rotated_from } : {}),
    actor: actorOf(context.caller),
  };
  return writeEvent(context.db, { org_id: key.org_id, topic, payload, at: context.now() });
}
