// What other concepts may ask of stored policies.
import { type Context, notFound, orgCaller } from '../../kernel/index.ts';
import { findPolicy, findVersion, listActive } from '../store.ts';

/**
 * The text of `version` of `name`; absent: its active version, else its newest.
 * @throws ServiceError not_found.
 */
export async function findPolicyText(
  context: Context,
  name: string,
  version: number | undefined,
): Promise<{ version: number; yaml: string }> {
  const { org_id } = orgCaller(context);
  const policy = await findPolicy(context.db, org_id, name);
  if (policy === null || policy.deleted_at !== null) throw notFound();
  const active = version === undefined ? await listActive(context.db, org_id, name) : [];
  const wanted = version ?? active[0]?.version ?? policy.newest;
  const row = await findVersion(context.db, { org_id, name, version: wanted });
  if (row === null) throw notFound();
  return { version: wanted, yaml: row.yaml };
}
