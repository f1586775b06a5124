// Many keys for one answer.
import { type Context, type Environment, orgCaller } from '../kernel/index.ts';
import { statusAt } from './grants/grant.ts';
import type { KeyView } from './schema.ts';
import { findKeys, listKeys } from './store.ts';
import type { KeyRow, KeyStatus } from './types.ts';
import { sightOf, viewKeys } from './view.ts';

/**
 * The keys of `ids` that the caller of `context` may see, by id, in two statements; what is missing or another
 * organization's is not in the map. The caller of this function must have checked the audience as `keys.get` does.
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

/** Beyond the keys that any plan allows; ended ones do not count against it. */
const KEYS_MAX = 1_000;

/** The keys of the caller's organization that can be used now, newest first, with their status. */
export async function keysInUse(
  context: Context,
  environment: Environment,
): Promise<{ key: KeyRow; status: KeyStatus }[]> {
  const { org_id } = orgCaller(context);
  const all = { project_id: null, after: null, limit: KEYS_MAX };
  const found: { key: KeyRow; status: KeyStatus }[] = [];
  for (const status of ['active', 'rotating'] as const) {
    const rows = await listKeys(context.db, { org_id, environment, status, now: context.now(), ...all });
    for (const key of rows) found.push({ key, status: statusAt(key, context.now()) });
  }
  return found.sort((a, b) => b.key.created_at.getTime() - a.key.created_at.getTime());
}
