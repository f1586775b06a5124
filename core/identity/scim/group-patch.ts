// What a PATCH of a group does to its members: who comes, who goes, or who alone is left. Pure. The members themselves are
// never read for it, so that of many PATCHes at once none undoes another.
import { isObject } from '../../kernel/index.ts';
import { wrong } from './fault.ts';
import { parsePath, withoutSchema } from './filter.ts';
import { type Operation, patched, withPaths } from './patch.ts';
import { groupSchema } from './schemas.ts';
import { type Fields, memberOf } from './values.ts';

/** Who is added to and taken from those who are there; with `from_none`, nobody else stays. */
export interface MemberChange {
  readonly from_none: boolean;
  readonly add: ReadonlySet<string>;
  readonly remove: ReadonlySet<string>;
}

const MEMBERS_MAX = 20_000;

/** The ids of users in a list of members, or in one member. @throws ScimFault invalidValue for another shape. */
export function readMemberIds(given: unknown): readonly string[] {
  const list = Array.isArray(given) ? given : [given];
  if (list.length > MEMBERS_MAX) throw wrong('invalidValue', `A group has at most ${MEMBERS_MAX} members.`);
  return list.map((one) => {
    const id = isObject(one) ? memberOf(one, 'value') : undefined;
    const type = isObject(one) ? (memberOf(one, 'type') ?? 'User') : 'User';
    if (typeof id !== 'string' || id === '') throw wrong('invalidValue', 'A member has no value.');
    if (typeof type !== 'string' || type.toLowerCase() !== 'user')
      throw wrong('invalidValue', 'Members are users; groups in groups are not kept.');
    return id;
  });
}

/** The ids of one operation on `members`. */
function idsOf({ op, path, value }: Operation & { readonly path: string }): readonly string[] | 'all' {
  const target = parsePath(groupSchema.attributes, withoutSchema(groupSchema, path));
  if (target?.part != null) throw wrong('invalidPath', 'Members are added and taken away whole.');
  if (target?.where != null) {
    const [only, ...more] = target.where;
    if (
      op !== 'remove' ||
      more.length > 0 ||
      only?.path.attribute.name !== 'value' ||
      typeof only.value !== 'string'
    )
      throw wrong('invalidPath', 'One member is named by `members[value eq "…"]`, to take it away.');
    return [only.value];
  }
  // Only a removal that names nobody at all takes everybody away: an empty list is nobody.
  if (value === undefined && op === 'remove') return 'all';
  return readMemberIds(value);
}

function isOnMembers(path: string): boolean {
  return /^members(?:$|[^\w-])/i.test(withoutSchema(groupSchema, path));
}

/**
 * The attributes of a group after `operations`, and the change of its members.
 * @throws ScimFault for a shape or path that is not understood; then nothing of it is done.
 */
export function patchedGroup(
  fields: Fields,
  own_id: string,
  operations: readonly Operation[],
): { fields: Fields; members: MemberChange } {
  const each = operations.flatMap((one) => withPaths(one, own_id));
  const next = patched(
    groupSchema,
    fields,
    own_id,
    each.filter(({ path }) => !isOnMembers(path)),
  );
  let from_none = false;
  const add = new Set<string>();
  const remove = new Set<string>();
  for (const operation of each.filter(({ path }) => isOnMembers(path))) {
    const ids = idsOf(operation);
    if (operation.op === 'replace' || ids === 'all') {
      from_none = true;
      add.clear();
      remove.clear();
    }
    for (const id of ids === 'all' ? [] : ids) {
      (operation.op === 'remove' ? add : remove).delete(id);
      (operation.op === 'remove' ? remove : add).add(id);
    }
  }
  return { fields: next, members: { from_none, add, remove } };
}
