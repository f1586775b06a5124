// Many keys for one answer.
import { type Context, orgCaller } from '../kernel/index.ts';
import type { KeyView } from './schema.ts';
import { findKeys } from './store.ts';
import { sightOf, viewKeys } from './view.ts';

/**
 * The keys of `ids` that the caller of `context` may see, by id, in two statements; what is missing or another
 * organisation's is not in the map. The caller of this function has admitted as `keys.get` does.
 */
export async function readKeys(
  context: Context,
  ids: readonly string[],
): Promise<ReadonlyMap<string, KeyView>> {
  const caller = orgCaller(context);
  const args = { org_id: caller.org_id, environment: sightOf(caller), ids: [...new Set(ids)] };
  const views = await viewKeys(context, await findKeys(context.db, args));
  return new Map(views.map((view) => [view.id, view]));
}
