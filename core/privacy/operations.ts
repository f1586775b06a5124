// Changing the data policy of an organization (docs/sign-in.md#roles).
import { Type } from 'typebox';
import { changesOf, writeAudit } from '../identity/index.ts';
import {
  type Context,
  idOf,
  notFound,
  nullable,
  operation,
  orgCaller,
  type Role,
  refuseOtherVersion,
  ServiceError,
} from '../kernel/index.ts';
import { roleBehind } from '../keys/index.ts';
import {
  changeLowBalance,
  findOrgRecords,
  LOW_BALANCE,
  lockOrg,
  type OrgRecord,
  OrgView,
  orgExample,
  setDataPolicy,
  viewOrg,
} from '../orgs/index.ts';
import { billingChangeIn, billingMembers, changeBilling } from '../topups/index.ts';
import { DataPolicyPatch, mergeDataPolicy } from './data-policy.ts';
import { changeSettings, settingsChangeIn, settingsMembers } from './settings.ts';
import { subjectOperations } from './subjects/operations.ts';

/** By the role of the person, or of a key's maker now; a service key may do it. */
function refuseOthers(context: Context, { param, roles }: { param: string; roles: readonly Role[] }): void {
  const role = roleBehind(orgCaller(context));
  if (role === undefined || (role !== null && roles.includes(role))) return;
  const message = `Only ${roles.join(', ')} can change this, or a key that one of them made.`;
  throw new ServiceError('permission_denied', message, { param, details: { role } });
}

async function changePolicy(context: Context, patch: DataPolicyPatch | null): Promise<void> {
  const { org_id } = orgCaller(context);
  const org = await lockOrg(context.db, org_id);
  if (org === null) throw notFound();
  const next = { data_policy: mergeDataPolicy(org.data_policy, patch) };
  const changes = changesOf(org as typeof next, next, ['data_policy']);
  if (Object.keys(changes.after).length === 0) return;
  await setDataPolicy(context.db, { org_id, ...next, at: context.now() });
  const target = { type: 'org', id: org_id, display: org.slug };
  await writeAudit(context, { action: 'orgs.update', org_id, target, ...changes });
}

/**
 * Sets below which balance an organization is written to; null is the default. Call inside a transaction.
 * @throws ServiceError not_found.
 */
export async function changeMark(
  context: Context,
  org_id: OrgRecord['id'],
  asked: number | null,
): Promise<void> {
  const org = await lockOrg(context.db, org_id);
  const [before] = await findOrgRecords(context.db, [org_id]);
  if (org === null || before === undefined) throw notFound();
  const low_balance_micro = asked ?? LOW_BALANCE;
  const changes = changesOf(before, { ...before, low_balance_micro }, ['low_balance_micro']);
  if (Object.keys(changes.after).length === 0) return;
  await changeLowBalance(context, org, low_balance_micro);
  const target = { type: 'org', id: org.id, display: org.slug };
  await writeAudit(context, { action: 'orgs.update', org_id: org.id, target, ...changes });
}

/** Below which balance the organization is told, as it stands in a request; null is the default. */
export const lowBalanceMember = {
  low_balance_micro: Type.Optional(
    nullable(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: '`credits.low` and a mail below it; 0: never; null: 5 USD',
      }),
    ),
  ),
};

export const updateOrgOperation = operation({
  name: 'orgs.update',
  method: 'PATCH',
  path: '/v1/orgs/:id',
  summary:
    'Change an organization: name, slug, security, data policy, currency, address, tax status, or when it is told of a low balance',
  audience: {
    kind: 'key',
    scopes: ['manage:keys'],
    session: ['owner', 'admin', 'billing'],
    sandbox: false,
  },
  input: Type.Object({
    id: idOf('org'),
    data_policy: Type.Optional(nullable(DataPolicyPatch)),
    ...settingsMembers,
    ...billingMembers,
    ...lowBalanceMember,
  }),
  output: OrgView,
  errors: ['invalid_pattern', 'invalid_gstin', 'conflict', 'already_exists', 'state_conflict'],
  versioned: true,
  request: { data_policy: { zdr: true, regions: ['eu'], redact: { presets: ['email'] } } },
  example: orgExample,
  async run(context, { id, data_policy, low_balance_micro, ...others }) {
    const caller = orgCaller(context);
    if (id !== caller.org_id) throw notFound();
    return context.transaction(async (context) => {
      await lockOrg(context.db, id);
      const [before] = await findOrgRecords(context.db, [id]);
      if (before === undefined) throw notFound();
      refuseOtherVersion(context, before.updated_at);
      if (data_policy !== undefined) {
        refuseOthers(context, { param: 'data_policy', roles: ['owner', 'admin'] });
        await changePolicy(context, data_policy);
      }
      const settings = settingsChangeIn(others);
      if (settings !== null) {
        refuseOthers(context, { param: Object.keys(settings)[0] as string, roles: ['owner', 'admin'] });
        await changeSettings(context, id, settings);
      }
      if (low_balance_micro !== undefined) {
        refuseOthers(context, { param: 'low_balance_micro', roles: ['owner', 'admin', 'billing'] });
        await changeMark(context, id, low_balance_micro);
      }
      const change = billingChangeIn(others);
      if (change !== null) {
        const param = Object.keys(change)[0] as string;
        refuseOthers(context, { param, roles: ['owner', 'admin', 'billing'] });
        await changeBilling(context, id, change);
      }
      const [org] = await findOrgRecords(context.db, [id]);
      if (org === undefined) throw notFound();
      return viewOrg(org, caller.kind === 'session' ? caller.role : null, context.now());
    });
  },
});

export const privacyOperations = [updateOrgOperation, ...subjectOperations] as const;
