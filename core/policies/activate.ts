// Which version rules a scope: activation, deactivation, rollback. Each runs under the organization's policy lock, so
// that ownership, the running activation and its successor are decided on one state.
import { type Context, type Id, isId, notFound, orgCaller, ServiceError } from '../kernel/index.ts';
import { writeEvent } from '../ledger/index.ts';
import { findProject } from '../orgs/index.ts';
import { actorOf, ownerAfter, type Writer, writerOf } from './ownership.ts';
import {
  type ActivationRow,
  endActivation,
  findActivation,
  findActive,
  findEarlier,
  findPolicy,
  findVersion,
  insertActivation,
  lockPolicies,
  type PolicyRow,
  setManager,
  type VersionRow,
} from './store.ts';

export interface ScopeInput {
  readonly project_id?: string | null;
}

/** The policy `name`, for a write. @throws ServiceError not_found. */
export async function getPolicy(context: Context, name: string): Promise<PolicyRow> {
  const policy = await findPolicy(context.db, orgCaller(context).org_id, name);
  if (policy === null || policy.deleted_at !== null) throw notFound();
  return policy;
}

/**
 * The scope of a write. Whoever acts in the test environment rules test projects alone: everything else routes
 * live calls too. @throws ServiceError not_found, sandbox_key_not_allowed.
 */
async function scopeOf(context: Context, input: ScopeInput | undefined): Promise<Id<'project'> | null> {
  const { org_id, environment } = orgCaller(context);
  const id = input?.project_id ?? null;
  const project = id !== null && isId('project', id) ? await findProject(context.db, { org_id, id }) : null;
  if (id !== null && project === null) throw notFound();
  if (environment === 'test' && project?.environment !== 'test') {
    const message =
      'In the test environment a policy can only be active for a test project. Name one, or use a live key.';
    throw new ServiceError('sandbox_key_not_allowed', message, { param: 'scope' });
  }
  return project?.id ?? null;
}

async function getVersion(context: Context, name: string, version: number): Promise<VersionRow> {
  const row = await findVersion(context.db, { org_id: orgCaller(context).org_id, name, version });
  if (row === null) throw notFound();
  return row;
}

/** Ends the write: whose the policy is now, and this process routes by the new state at once. */
async function conclude(context: Context, name: string, owner: string | null): Promise<void> {
  const { org_id } = orgCaller(context);
  await setManager(context.db, { org_id, name, managed_by: owner });
  context.afterCommit(() => context.services.policies?.forget(org_id));
}

/** A scope that another policy rules can only be given away by whoever rules that one. */
async function displace(context: Context, active: ActivationRow | null, name: string, writer: Writer) {
  if (active === null || active.name === name) return;
  const { org_id } = orgCaller(context);
  const displaced = await findPolicy(context.db, org_id, active.name);
  if (displaced?.managed_by == null) return;
  ownerAfter(context, displaced, writer);
  if (writer.take_over) {
    await setManager(context.db, { org_id, name: displaced.name, managed_by: null });
  }
}

async function start(
  context: Context,
  to: { project_id: Id<'project'> | null; name: string; version: number; previous_no: number | null },
  reason: 'activated' | 'rolled_back',
): Promise<void> {
  const { org_id } = orgCaller(context);
  const at = context.now();
  await endActivation(context.db, { org_id, project_id: to.project_id, at });
  const row = { ...to, activated_at: at, activated_by: actorOf(context) };
  await insertActivation(context.db, org_id, row);
  const { name, version, project_id } = to;
  const payload = { name, version, scope: { project_id }, state: 'active', reason };
  await writeEvent(context.db, { org_id, topic: 'policy.activated', payload, at });
}

/**
 * Makes a version rule a scope; the same version again changes nothing.
 * @throws ServiceError not_found, sandbox_key_not_allowed, managed_elsewhere.
 */
export function activate(
  context: Context,
  input: { name: string; version: number; scope?: ScopeInput | undefined },
): Promise<VersionRow> {
  return context.transaction(async (context) => {
    const { org_id } = orgCaller(context);
    const writer = await writerOf(context);
    await lockPolicies(context.db, org_id);
    const project_id = await scopeOf(context, input.scope);
    const policy = await getPolicy(context, input.name);
    const version = await getVersion(context, input.name, input.version);
    const owner = ownerAfter(context, policy, writer);
    const active = await findActive(context.db, org_id, project_id);
    await displace(context, active, input.name, writer);
    if (active?.name !== input.name || active.version !== input.version) {
      const previous_no = active?.activation_no ?? null;
      const to = { project_id, name: input.name, version: input.version, previous_no };
      await start(context, to, 'activated');
    }
    await conclude(context, input.name, owner);
    return version;
  });
}

/**
 * Ends the rule of `name` in a scope, where the policy of the organization or the default rules again; nothing changes
 * where it does not rule. Returns the version that ruled, else the newest.
 * @throws ServiceError not_found, sandbox_key_not_allowed, managed_elsewhere.
 */
export function deactivate(
  context: Context,
  input: { name: string; scope?: ScopeInput | undefined },
): Promise<VersionRow> {
  return context.transaction(async (context) => {
    const { org_id } = orgCaller(context);
    const writer = await writerOf(context);
    await lockPolicies(context.db, org_id);
    const project_id = await scopeOf(context, input.scope);
    const policy = await getPolicy(context, input.name);
    const owner = ownerAfter(context, policy, writer);
    const active = await findActive(context.db, org_id, project_id);
    const ruled = active?.name === input.name ? active : null;
    if (ruled !== null) await endActivation(context.db, { org_id, project_id, at: context.now() });
    await conclude(context, input.name, owner);
    return getVersion(context, input.name, ruled?.version ?? policy.newest);
  });
}

/**
 * Activates what ruled the scope before the present version of `name`, or `version` of it, which must have ruled the
 * scope once. Going back again goes further back.
 * @throws ServiceError not_found, sandbox_key_not_allowed, managed_elsewhere; state_conflict where there is nothing to go back to.
 */
export function rollback(
  context: Context,
  input: { name: string; version?: number | undefined; scope?: ScopeInput | undefined },
): Promise<VersionRow> {
  return context.transaction(async (context) => {
    const { org_id } = orgCaller(context);
    const writer = await writerOf(context);
    await lockPolicies(context.db, org_id);
    const project_id = await scopeOf(context, input.scope);
    const policy = await getPolicy(context, input.name);
    if (input.version !== undefined) await getVersion(context, input.name, input.version);
    const owner = ownerAfter(context, policy, writer);
    const active = await findActive(context.db, org_id, project_id);
    if (active?.name !== input.name) {
      throw new ServiceError('state_conflict', 'The policy is not active for this scope.', {
        details: { state: 'draft' },
      });
    }
    const target = await targetOf(context, active, project_id, input.version);
    if (target === null) {
      throw new ServiceError(
        'state_conflict',
        'No other version was active for this scope before; deactivate the policy instead.',
        {
          details: { state: 'active' },
        },
      );
    }
    if (target.name !== input.name) {
      // Another policy comes back: it must be this writer's too.
      ownerAfter(context, await findPolicy(context.db, org_id, target.name), writer);
    }
    const { name, version, previous_no } = target;
    await start(context, { project_id, name, version, previous_no }, 'rolled_back');
    await conclude(context, input.name, owner);
    return getVersion(context, name, version);
  });
}

async function targetOf(
  context: Context,
  active: ActivationRow,
  project_id: Id<'project'> | null,
  version: number | undefined,
): Promise<ActivationRow | null> {
  const { org_id } = orgCaller(context);
  if (version !== undefined) {
    return findEarlier(context.db, { org_id, project_id, name: active.name, version });
  }
  if (active.previous_no === null) return null;
  return findActivation(context.db, org_id, active.previous_no);
}
