// Groups of a directory. A change of one never reads its members to write them back: it adds and takes away, so that of
// many changes at once none undoes another.
import { type Context, type Id, isId } from '../../kernel/index.ts';
import { findMembers } from '../../orgs/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { lockOwnOrg } from '../members/invite.ts';
import { lockPeople } from '../store.ts';
import { directoryOf, scimUrl } from './directory.ts';
import { refuseOtherTag } from './etag.ts';
import { missing, taken, wrong } from './fault.ts';
import { type Comparison, fits, parseFilter } from './filter.ts';
import { type MemberChange, patchedGroup, readMemberIds } from './group-patch.ts';
import {
  addGroupMembers,
  deleteGroup as deleteGroupRow,
  findGroup,
  insertGroup,
  listGroupMembers,
  listGroups as listGroupRows,
  removeGroupMembers,
  type ScimGroup,
  updateGroup,
} from './group-store.ts';
import type { Slice } from './list.ts';
import { readOperations } from './patch.ts';
import { applyRoles } from './roles.ts';
import { GROUP, groupSchema } from './schemas.ts';
import { inTurn } from './turns.ts';
import { type Fields, memberOf, readResource } from './values.ts';

const GROUPS_MAX = 5_000;

interface GroupRecord {
  readonly group: ScimGroup;
  /** Null: not asked for. */
  readonly members: readonly string[] | null;
}

const fieldsOf = ({ display_name, external_id }: ScimGroup): Fields => ({
  displayName: display_name,
  ...(external_id === null ? {} : { externalId: external_id }),
});

/** The tag of a group. */
function tagOfGroup({ version }: Pick<ScimGroup, 'version'>): string {
  return `W/"${version}"`;
}

/** A group as the resource that a directory reads. */
export async function viewGroup(
  context: Context,
  { group, members }: GroupRecord,
): Promise<Record<string, unknown>> {
  const url = await scimUrl(context);
  const shown =
    members === null
      ? {}
      : { members: members.map((id) => ({ value: id, $ref: `${url}/Users/${id}`, type: 'User' })) };
  return {
    ...{ schemas: [GROUP], id: group.id, ...fieldsOf(group), ...shown },
    meta: {
      ...{ resourceType: 'Group', created: group.created_at.toISOString() },
      ...{ lastModified: group.updated_at.toISOString(), location: `${url}/Groups/${group.id}` },
      version: tagOfGroup(group),
    },
  };
}

async function membersOf(context: Context, org_id: Id<'org'>, groups: readonly ScimGroup[]) {
  const rows = await listGroupMembers(context.db, { org_id, group_ids: groups.map(({ id }) => id) });
  return Map.groupBy(rows, ({ group_id }) => group_id);
}

async function recordOf(
  context: Context,
  org_id: Id<'org'>,
  id: string,
  with_members: boolean,
): Promise<GroupRecord> {
  const group = isId('group', id) ? await findGroup(context.db, { org_id, id }) : null;
  if (group === null) throw missing();
  if (!with_members) return { group, members: null };
  const members = (await membersOf(context, org_id, [group])).get(group.id) ?? [];
  return { group, members: members.map(({ user_id }) => user_id) };
}

/** @throws ScimFault invalidValue when one of them is no user of the organization. */
async function refuseStrangers(context: Context, org_id: Id<'org'>, ids: readonly string[]): Promise<void> {
  const known = new Set(
    (await findMembers(context.db, { org_id, user_ids: ids })).map(({ user_id }) => user_id as string),
  );
  const stranger = ids.find((id) => !known.has(id));
  if (stranger === undefined) return;
  const shown = isId('user', stranger) ? stranger : 'one of them';
  throw wrong('invalidValue', `Not all members are users of this organization: ${shown}.`);
}

/** Writes a change of members of a group; nothing else of it is locked yet. Returns how many came, went and got a role. */
async function writeMembers(
  context: Context,
  place: { org_id: Id<'org'>; group_id: Id<'group'> },
  { change, renamed }: { change: MemberChange; renamed: boolean },
): Promise<{ added: number; removed: number; roles: number }> {
  const { org_id, group_id } = place;
  const { db } = context;
  const rows =
    change.from_none || renamed ? await listGroupMembers(db, { org_id, group_ids: [group_id] }) : [];
  const present = rows.map(({ user_id }) => user_id as string);
  const going = change.from_none ? present.filter((id) => !change.add.has(id)) : [...change.remove];
  const there = new Set(present);
  const coming = [...change.add].filter((id) => !there.has(id));
  const touched = [...new Set([...going, ...coming, ...(renamed ? present : [])])];
  await lockPeople(db, touched);
  await lockOwnOrg(context, org_id);
  await refuseStrangers(context, org_id, coming);
  const removed = await removeGroupMembers(db, { org_id, group_id, user_ids: going });
  const added = await addGroupMembers(db, { org_id, group_id, user_ids: coming });
  return { added, removed, roles: await applyRoles(context, org_id, touched) };
}

function audit(
  context: Context,
  action: string,
  group: Pick<ScimGroup, 'id' | 'display_name'>,
  after: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { org_id } = directoryOf(context);
  const target = { type: 'group', id: group.id, display: group.display_name };
  return writeAudit(context, { action, org_id, target, after });
}

const nameTaken = () => taken('There is a group with this displayName.');

/** Makes a group. @throws ScimFault invalidValue, uniqueness. */
export function createGroup(context: Context, body: unknown): Promise<GroupRecord> {
  const { org_id } = directoryOf(context);
  const fields = readResource(groupSchema, body, ['members']);
  const add = new Set(givenMembers(body));
  return inTurn(context, org_id, async (context) => {
    const { db } = context;
    if ((await listGroupRows(db, org_id)).length >= GROUPS_MAX)
      throw wrong('invalidValue', `An organization has at most ${GROUPS_MAX} groups.`);
    const id = context.newId('group');
    const display_name = fields['displayName'] as string;
    const external_id = (fields['externalId'] as string | undefined) ?? null;
    if (!(await insertGroup(db, { org_id, id, display_name, external_id, at: context.now() })))
      throw nameTaken();
    const change = { from_none: false, add, remove: new Set<string>() };
    const done = await writeMembers(context, { org_id, group_id: id }, { change, renamed: false });
    await audit(context, 'groups.create', { id, display_name }, done);
    return recordOf(context, org_id, id, true);
  });
}

function givenMembers(body: unknown): readonly string[] {
  const given = memberOf(body as Record<string, unknown>, 'members');
  return given === undefined || given === null ? [] : readMemberIds(given);
}

interface GroupChange {
  readonly fields: Fields;
  readonly members: MemberChange;
}

async function changeGroup(
  context: Context,
  id: string,
  { change, with_members }: { change: (before: Fields) => GroupChange; with_members: boolean },
): Promise<GroupRecord> {
  const { org_id } = directoryOf(context);
  return inTurn(context, org_id, async (context) => {
    const { db } = context;
    const { group } = await recordOf(context, org_id, id, false);
    refuseOtherTag(context, tagOfGroup(group));
    const { fields, members } = change(fieldsOf(group));
    const display_name = fields['displayName'] as string;
    const external_id = (fields['externalId'] as string | undefined) ?? null;
    const renamed = display_name !== group.display_name;
    const facts = { org_id, id: group.id, display_name, external_id, at: context.now() };
    // Before the roles are looked at: they go by the names of groups.
    if (renamed && !(await updateGroup(db, facts))) throw nameTaken();
    const done = await writeMembers(context, { org_id, group_id: group.id }, { change: members, renamed });
    const moved = done.added + done.removed > 0;
    if (!renamed && (moved || external_id !== group.external_id)) await updateGroup(db, facts);
    if (renamed || moved || external_id !== group.external_id)
      await audit(context, 'groups.update', facts, { ...(renamed ? { display_name } : {}), ...done });
    return recordOf(context, org_id, id, with_members);
  });
}

/** Puts `body` in the place of a group; members that it does not name go. */
export function replaceGroup(
  context: Context,
  id: string,
  body: unknown,
  with_members: boolean,
): Promise<GroupRecord> {
  const fields = readResource(groupSchema, body, ['members']);
  const members = { from_none: true, add: new Set(givenMembers(body)), remove: new Set<string>() };
  return changeGroup(context, id, { change: () => ({ fields, members }), with_members });
}

/** Changes a group, wholly or not at all. */
export function patchGroup(
  context: Context,
  id: string,
  body: unknown,
  with_members: boolean,
): Promise<GroupRecord> {
  const operations = readOperations(body);
  return changeGroup(context, id, { change: (before) => patchedGroup(before, id, operations), with_members });
}

/** Deletes a group; who was in it gets the role that is left. @throws ScimFault 404, 412. */
export function deleteGroup(context: Context, id: string): Promise<void> {
  const { org_id } = directoryOf(context);
  return inTurn(context, org_id, async (context) => {
    const { group } = await recordOf(context, org_id, id, false);
    refuseOtherTag(context, tagOfGroup(group));
    const change = { from_none: true, add: new Set<string>(), remove: new Set<string>() };
    const done = await writeMembers(context, { org_id, group_id: group.id }, { change, renamed: false });
    await deleteGroupRow(context.db, { org_id, id: group.id });
    await audit(context, 'groups.delete', group, done);
  });
}

/** One group. @throws ScimFault 404. */
export function getGroup(context: Context, id: string, with_members: boolean): Promise<GroupRecord> {
  return recordOf(context, directoryOf(context).org_id, id, with_members);
}

const isOnMembers = (terms: readonly Comparison[]) =>
  terms.some(({ path }) => path.attribute.name === 'members');

/** A part of the groups that a filter finds, by id. @throws ScimFault invalidFilter. */
export async function listGroups(
  context: Context,
  { filter, offset, limit }: Slice,
  with_members: boolean,
): Promise<{ total: number; records: GroupRecord[] }> {
  const { org_id } = directoryOf(context);
  const terms = filter === null ? [] : parseFilter(groupSchema, filter);
  const all = await listGroupRows(context.db, org_id);
  const inside = isOnMembers(terms) ? await membersOf(context, org_id, all) : null;
  const found = all.filter((group) => {
    const members = (inside?.get(group.id) ?? []).map(({ user_id }) => ({ value: user_id }));
    return fits(terms, { ...fieldsOf(group), id: group.id, members });
  });
  const part = found.slice(offset, offset + limit);
  const members = with_members ? await membersOf(context, org_id, part) : null;
  const records = part.map((group) => ({
    group,
    members: members === null ? null : (members.get(group.id) ?? []).map(({ user_id }) => user_id),
  }));
  return { total: found.length, records };
}
