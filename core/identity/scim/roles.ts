// Which role a directory gives: that of the groups, else the one that is asked for. Owners are made by people alone.
import type { Context, Id, Role } from '../../kernel/index.ts';
import { findMembers, setMemberRoles } from '../../orgs/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { managesMembers } from '../members/rights.ts';
import { revokeInvitationsOf } from '../members/store.ts';
import { findConnection } from '../sso/connection-store.ts';
import { mappedRoles } from '../sso/roles.ts';
import type { Connection, MappedRole } from '../sso/types.ts';
import { wrong } from './fault.ts';
import { listGroupsOf } from './group-store.ts';
import { findScimUsers } from './store.ts';
import type { Element, Fields } from './values.ts';

type RoleMap = Pick<Connection, 'role_map' | 'default_role'>;

/** The role that `roles` of a user asks for; null when it asks for none. @throws ScimFault invalidValue for another one. */
function askedRole(fields: Fields): MappedRole | null {
  const given = ((fields['roles'] ?? []) as readonly Element[]).map((one) =>
    String(one['value']).toLowerCase(),
  );
  const unknown = given.find((one) => !(mappedRoles as readonly string[]).includes(one));
  if (unknown !== undefined) throw wrong('invalidValue', `A role is one of ${mappedRoles.join(', ')}.`);
  return mappedRoles.find((role) => given.includes(role)) ?? null;
}

/**
 * The role of someone in `groups` who is asked to have `asked`: the highest of the groups', else what is asked for, else the
 * default where groups give roles. Null: nothing is said, and a member keeps the role they have.
 */
function directoryRole(
  connection: RoleMap | null,
  groups: readonly string[],
  asked: MappedRole | null,
): MappedRole | null {
  const role_map = connection?.role_map ?? {};
  const given = new Set(groups.flatMap((group) => (Object.hasOwn(role_map, group) ? role_map[group] : [])));
  const mapped = mappedRoles.find((role) => given.has(role)) ?? asked;
  return mapped ?? (Object.keys(role_map).length === 0 ? null : (connection?.default_role ?? null));
}

/** Entries of the audit log name so many people at most: a group may give a role to thousands at once. */
const NAMED_MAX = 100;

interface Change {
  readonly from: Role;
  readonly to: Role;
  readonly user_ids: readonly Id<'user'>[];
}

/** Gives members, who are locked, another role. */
async function giveRole(context: Context, org_id: Id<'org'>, { from, to, user_ids }: Change): Promise<void> {
  const at = context.now();
  await setMemberRoles(context.db, { org_id, user_ids, role: to, at });
  if (!managesMembers(to))
    for (const user_id of managesMembers(from) ? user_ids : [])
      await revokeInvitationsOf(context.db, { org_id, user_id, at });
  for (let i = 0; i < user_ids.length; i += NAMED_MAX) {
    const some = user_ids.slice(i, i + NAMED_MAX);
    const [only, ...more] = some;
    await writeAudit(context, {
      ...{ action: 'members.update', org_id, before: { role: from }, reason: 'the directory' },
      after: { role: to, ...(more.length === 0 ? {} : { user_ids: some }) },
      ...(only === undefined || more.length > 0 ? {} : { target: { type: 'user', id: only } }),
    });
  }
}

/** The members who get another role, by the role they have and the one they get; owners keep theirs. */
async function changesOf(
  context: Context,
  org_id: Id<'org'>,
  user_ids: readonly string[],
): Promise<Change[]> {
  const { db } = context;
  const connection = await findConnection(db, org_id);
  const groups = Map.groupBy(await listGroupsOf(db, { org_id, user_ids }), ({ user_id }) => user_id);
  const said = new Map((await findScimUsers(db, { org_id, user_ids })).map((row) => [row.user_id, row]));
  const changes = (await findMembers(db, { org_id, user_ids })).flatMap(({ user_id, role: from }) => {
    const names = (groups.get(user_id) ?? []).map(({ display_name }) => display_name);
    const to = directoryRole(connection, names, askedRole(said.get(user_id)?.attributes ?? {}));
    return to === null || to === from || from === 'owner' ? [] : [{ from, to, user_id }];
  });
  const alike = Map.groupBy(changes, ({ from, to }) => `${from} ${to}`);
  return [...alike.values()].map((same) => {
    const { from, to } = same[0] as { from: Role; to: Role };
    return { from, to, user_ids: same.map(({ user_id }) => user_id) };
  });
}

/**
 * Gives these people, whose rows are locked as the organization's is, the roles that the directory gives them now; returns
 * how many got another one. @throws ScimFault invalidValue.
 */
export async function applyRoles(
  context: Context,
  org_id: Id<'org'>,
  user_ids: readonly string[],
): Promise<number> {
  if (user_ids.length === 0) return 0;
  const changes = await changesOf(context, org_id, user_ids);
  for (const change of changes) await giveRole(context, org_id, change);
  return changes.reduce((sum, { user_ids }) => sum + user_ids.length, 0);
}

/** The role of somebody who comes by the directory and is in no group yet. */
export async function firstRole(context: Context, org_id: Id<'org'>, fields: Fields): Promise<MappedRole> {
  const connection = await findConnection(context.db, org_id);
  return directoryRole(connection, [], askedRole(fields)) ?? connection?.default_role ?? 'developer';
}
