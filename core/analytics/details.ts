// Details of many calls for one answer.
import { type Context, isRequestId, orgCaller } from '../kernel/index.ts';
import { findPayloadStates } from '../payloads/index.ts';
import { readerOf } from './engine/postgres.ts';
import type { RowDetail } from './schema.ts';
import type { StoredAttempt } from './types.ts';
import { viewDetail } from './view.ts';

/**
 * The details of `ids` that the caller of `context` may see, by id, in three statements, five where content was logged;
 * what is missing, of the wrong shape or another organization's is not in the map. The caller of this function must
 * have checked the audience as `requests.get` does.
 */
export async function readDetails(
  context: Context,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RowDetail>> {
  const caller = orgCaller(context);
  const environment = caller.kind === 'key' && caller.environment === 'test' ? 'test' : null;
  const reader = readerOf(context);
  const rows = await reader.findRows({
    org_id: caller.org_id,
    environment,
    request_ids: [...new Set(ids)].filter(isRequestId),
  });
  const of_call = new Map<string, StoredAttempt[]>();
  if (rows.length > 0) {
    for (const { request_id, ...attempt } of await reader.listAttemptsOf(rows.map((row) => row.request_id))) {
      const before = of_call.get(request_id);
      if (before === undefined) of_call.set(request_id, [attempt]);
      else before.push(attempt);
    }
  }
  const request_ids = rows.map((row) => row.request_id);
  const copies =
    rows.length === 0 ? null : await reader.listCopies({ org_id: caller.org_id, environment, request_ids });
  const states = await findPayloadStates(context, caller.org_id, rows);
  return new Map(
    rows.map((row) => [
      row.request_id as string,
      viewDetail(
        row,
        of_call.get(row.request_id) ?? [],
        copies?.get(row.request_id) ?? [],
        states.get(row.request_id),
      ),
    ]),
  );
}
