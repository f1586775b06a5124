// New policies and new versions: judged, numbered without a gap, stored for ever.
import { type Context, orgCaller, ServiceError, sha256Hex } from '../kernel/index.ts';
import type { Verdict } from './language/validate.ts';
import { actorOf, ownerAfter, writerOf } from './ownership.ts';
import { judgePolicy } from './shadow/allowance.ts';
import {
  countPolicies,
  findPolicy,
  insertVersion,
  lockPolicies,
  nextVersion,
  type VersionRow,
} from './store.ts';

/** A bound on what one organization can make every listing carry. */
const POLICIES_MAX = 1_000;

/** @throws ServiceError invalid_policy with every fault. */
export function refuseInvalid(verdict: Verdict): asserts verdict is Verdict & { valid: true } {
  if (verdict.valid) return;
  const [first] = verdict.faults;
  const { path, line, column, message } = first as NonNullable<typeof first>;
  throw new ServiceError('invalid_policy', `${path}: ${message} (line ${line}, column ${column}).`, {
    param: 'yaml',
    details: { path, line, column, faults: verdict.faults },
  });
}

/**
 * Stores `yaml` as the next version of `name`; `fresh` makes the policy, which must not exist, else it must.
 * @throws ServiceError invalid_policy, already_exists, plan_limit_reached, not_found, managed_elsewhere.
 */
export async function writeVersion(
  context: Context,
  input: { name: string; yaml: string; fresh: boolean },
  missing: () => ServiceError,
): Promise<VersionRow> {
  const verdict = await judgePolicy(context, input.yaml, input.name);
  return context.transaction(async (context) => {
    const { org_id } = orgCaller(context);
    const { name, yaml } = input;
    const writer = await writerOf(context);
    await lockPolicies(context.db, org_id);
    const found = await findPolicy(context.db, org_id, name);
    const policy = found?.deleted_at === null ? found : null;
    const managed_by = ownerAfter(context, policy, writer);
    // Last of the refusals about the caller: who may not write learns nothing of the text.
    refuseInvalid(verdict);
    if (!input.fresh && policy === null) throw missing();
    if (input.fresh) {
      if (policy !== null) {
        throw new ServiceError('already_exists', `There is already a policy ${name}; add a version to it.`, {
          param: 'name',
        });
      }
      if ((await countPolicies(context.db, org_id)) >= POLICIES_MAX) {
        throw new ServiceError('plan_limit_reached', `An organization has at most ${POLICIES_MAX} policies.`);
      }
    }
    const at = context.now();
    const version: VersionRow = {
      ...{ name, yaml, managed_by, created_by: actorOf(context), created_at: at },
      version: await nextVersion(context.db, { org_id, name, managed_by, at }),
      content_hash: sha256Hex(yaml),
      notices: verdict.notices,
    };
    await insertVersion(context.db, org_id, version);
    return version;
  });
}
