// The stored content of a call, for callers who may read it (docs/sign-in.md#roles). Each reading is an entry in the
// audit log.
import { writeAudit } from '../identity/index.ts';
import { type Context, orgCaller, type Role } from '../kernel/index.ts';
import { roleBehind } from '../keys/index.ts';
import { findPayloadStates, type Payload, type PayloadState, readPayload } from '../payloads/index.ts';
import type { StoredRow } from './types.ts';

const readers: readonly Role[] = ['owner', 'admin', 'developer'];

/** By the role of a person; for a key, by the present role of its maker; a service key may. */
function maySee(context: Context): boolean {
  const role = roleBehind(orgCaller(context));
  return role === undefined || (role !== null && readers.includes(role));
}

/** The state of the content of `row`, with the content itself where it is available and the caller may read it. */
export async function readContent(
  context: Context,
  row: StoredRow,
): Promise<{ state: PayloadState; payload: Payload | null }> {
  const { org_id, request_id } = row;
  const state = (await findPayloadStates(context, org_id, [row])).get(request_id) ?? 'none';
  if (state !== 'available' || !maySee(context)) return { state, payload: null };
  const payload = await readPayload(context, { org_id, request_id });
  if (payload === null) return { state: 'erased', payload };
  await writeAudit(context, {
    action: 'requests.get',
    org_id,
    target: { type: 'request', id: request_id },
  });
  return { state, payload };
}
