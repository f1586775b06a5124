// Which root keys histories need: workers note the one that they seal under, and one of them counts the open workflows that
// began while a former one was in use. `svcctl keyring remove` reads it.
import type { Pool } from '@svc/core/db/index.ts';
import { machineMs, type RootKeyRing, rootKeys } from '@svc/core/kernel/index.ts';
import { notePayloadKey, notePayloadsOpen, readPayloadKey } from '@svc/core/workflow-starts/index.ts';
import type { Client } from '@temporalio/client';

/** So long after its last note a key is no longer one that anybody seals under: files of a ring follow within two minutes. */
const SETTLED_MS = 150_000;
const idOf = ({ id }: { id: Buffer }) => id.toString('hex');

/** Notes that this process seals under the current key of `root_key`. */
export async function noteKey(db: Pool, root_key: RootKeyRing): Promise<void> {
  await notePayloadKey(db, { key_id: idOf(rootKeys(root_key)[0]), at: new Date(machineMs()) });
}

/** Counts, for each key that nobody seals under any more, the open workflows that may have payloads under it. */
export async function countUnderFormer(db: Pool, client: Client, root_key: RootKeyRing): Promise<void> {
  for (const key_id of rootKeys(root_key).map(idOf)) {
    const known = await readPayloadKey(db, key_id);
    if (known === null) continue;
    const until_ms = Date.parse(known.sealed_at) + SETTLED_MS;
    if (machineMs() < until_ms) continue;
    const until = new Date(until_ms).toISOString();
    const { count } = await client.workflow.count(`ExecutionStatus = 'Running' AND StartTime <= '${until}'`);
    const { sealed_at } = known;
    await notePayloadsOpen(db, { key_id, sealed_at, open: count, at: new Date(machineMs()) });
  }
}
