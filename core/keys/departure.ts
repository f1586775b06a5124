// What becomes of the keys that a person made when the membership is suspended or ends, and when it is taken up again
// (docs/organizations/members.md#keys-of-who-leaves). Service keys are bound to nobody and stay.
import { type MemberKeys, writeAudit } from '../identity/index.ts';
import type { Context, Id } from '../kernel/index.ts';
import { findMembership, findOrg } from '../orgs/index.ts';
import { blockKeysOf, lockKeysOf, transferKeysOf, unblockKeysOf } from './departure-store.ts';

interface Place {
  readonly org_id: Id<'org'>;
  readonly user_id: Id<'user'>;
}

/** Who gets the keys; null when that person is no owner or admin (any more): then the keys are blocked. */
async function heirOf(
  context: Context,
  org_id: Id<'org'>,
  named: string | undefined,
): Promise<Id<'user'> | null> {
  if (named === undefined) return null;
  const user_id = named as Id<'user'>;
  const role = (await findMembership(context.db, { org_id, user_id }))?.role;
  return role === 'owner' || role === 'admin' ? user_id : null;
}

async function left(context: Context, { org_id, user_id }: Place): Promise<void> {
  const { on_deprovision_keys: how = 'block', transfer_keys_to } =
    (await findOrg(context.db, org_id))?.settings.security ?? {};
  if (how === 'keep') return;
  const at = context.now();
  const heir = how === 'transfer' ? await heirOf(context, org_id, transfer_keys_to) : null;
  const to = heir === user_id ? null : heir;
  const keys =
    to === null
      ? await blockKeysOf(context.db, { org_id, user_id, at })
      : await transferKeysOf(context.db, { org_id, user_id, to, at });
  if (keys === 0) return;
  const after = to === null ? { keys } : { keys, transferred_to: to };
  const target = { type: 'user', id: user_id };
  await writeAudit(context, { action: to === null ? 'keys.block' : 'keys.transfer', org_id, target, after });
}

async function came(context: Context, { org_id, user_id }: Place): Promise<void> {
  const keys = await unblockKeysOf(context.db, { org_id, user_id, at: context.now() });
  if (keys === 0) return;
  const target = { type: 'user', id: user_id };
  await writeAudit(context, { action: 'keys.unblock', org_id, target, after: { keys } });
}

/** What members' comings and goings do to their keys. */
export const memberKeys: MemberKeys = {
  lock: (context, place) => lockKeysOf(context.db, place),
  left,
  came,
};
