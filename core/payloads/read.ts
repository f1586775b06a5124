// What may be read of stored content, and when it counts as gone: at once when its time is up or logging is off,
// whether or not the job that deletes it has run.
import { type Context, type Id, ulidMs } from '../kernel/index.ts';
import { findDataPolicy } from '../orgs/index.ts';
import { voidBefore } from './retention.ts';
import { openPayload } from './sealing.ts';
import { findSealed, listStored } from './store.ts';
import type { Payload, PayloadState } from './types.ts';

/** A call this young may have content on its way. */
const PENDING_MS = 60_000;

interface Logged {
  readonly request_id: string;
  readonly logged: boolean;
}

/** What became of the content of `rows`, which are calls of `org_id`; by id. Two statements, none where nothing was logged. */
export async function findPayloadStates(
  context: Context,
  org_id: Id<'org'>,
  rows: readonly Logged[],
): Promise<ReadonlyMap<string, PayloadState>> {
  const logged = rows.filter((row) => row.logged).map(({ request_id }) => request_id);
  const states = new Map<string, PayloadState>(rows.map(({ request_id }) => [request_id, 'none']));
  if (logged.length === 0) return states;
  const policy = await findDataPolicy(context.db, org_id);
  const stored = new Set(await listStored(context.db, { org_id, request_ids: logged }));
  const now_ms = context.now().getTime();
  const gone = policy === null ? null : voidBefore(policy, now_ms);
  for (const id of logged) {
    const at_ms = ulidMs(id);
    if (gone === null || at_ms < gone.erased_ms) states.set(id, 'erased');
    else if (at_ms < gone.expired_ms) states.set(id, 'expired');
    else if (stored.has(id)) states.set(id, 'available');
    else states.set(id, now_ms - at_ms < PENDING_MS ? 'pending' : 'erased');
  }
  return states;
}

/** The content of a call whose state is `available`; null when it cannot be opened (the key ring was changed). */
export async function readPayload(
  context: Context,
  call: { org_id: Id<'org'>; request_id: string },
): Promise<Payload | null> {
  const sealed = await findSealed(context.db, call);
  if (sealed === null) return null;
  try {
    return await openPayload(context.services.root_key, call.request_id, sealed);
  } catch {
    context.log.warn({ request_id: call.request_id }, 'stored content cannot be opened with this key ring');
    return null;
  }
}
