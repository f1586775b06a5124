// Members as a directory sees them: who they are here, and what it has said of them.
import type { Context, Id } from '../../kernel/index.ts';
import type { Member } from '../../orgs/index.ts';
import { findPeople } from '../store.ts';
import type { Person } from '../types.ts';
import { scimUrl } from './directory.ts';
import { tagOf } from './etag.ts';
import { listGroupsOf } from './group-store.ts';
import { USER } from './schemas.ts';
import { findScimUsers, type ScimUser } from './store.ts';
import type { Fields } from './values.ts';

export interface UserRecord {
  readonly member: Member;
  readonly person: Pick<Person, 'id' | 'email' | 'name'>;
  /** Null: the directory has said nothing of this member. */
  readonly said: ScimUser | null;
  readonly groups: readonly { readonly id: string; readonly name: string }[];
}

/** The records of `members`, who are of one organization, in the same order. */
export async function readRecords(
  context: Context,
  org_id: Id<'org'>,
  members: readonly Member[],
): Promise<UserRecord[]> {
  const { db } = context;
  const user_ids = members.map(({ user_id }) => user_id);
  const people = new Map((await findPeople(db, user_ids)).map((person) => [person.id, person]));
  const said = new Map((await findScimUsers(db, { org_id, user_ids })).map((row) => [row.user_id, row]));
  const groups = Map.groupBy(await listGroupsOf(db, { org_id, user_ids }), ({ user_id }) => user_id);
  return members.flatMap((member) => {
    const { user_id } = member;
    const person = people.get(user_id);
    if (person === undefined) return [];
    const own = (groups.get(user_id) ?? []).map(({ group_id, display_name }) => ({
      id: group_id,
      name: display_name,
    }));
    return [{ member, person, said: said.get(user_id) ?? null, groups: own }];
  });
}

/** What a directory can write of a member, as it is now. */
export function fieldsOf({ member, person, said }: UserRecord): Fields {
  const active = member.status === 'active';
  if (said === null) {
    return {
      ...{ userName: person.email, active },
      ...(person.name === '' ? {} : { displayName: person.name }),
      emails: [{ value: person.email, type: 'work', primary: true }],
    };
  }
  const { user_name, external_id, attributes } = said;
  return {
    ...{ ...attributes, userName: user_name, active },
    ...(external_id === null ? {} : { externalId: external_id }),
  };
}

/** A member as the resource that a directory reads. */
export async function viewUser(context: Context, record: UserRecord): Promise<Record<string, unknown>> {
  const { member, said, groups } = record;
  const url = await scimUrl(context);
  const shown = {
    schemas: [USER],
    id: member.user_id,
    ...fieldsOf(record),
    ...(groups.length === 0
      ? {}
      : {
          groups: groups.map(({ id, name }) => ({
            ...{ value: id, $ref: `${url}/Groups/${id}`, display: name, type: 'direct' },
          })),
        }),
  };
  const location = `${url}/Users/${member.user_id}`;
  const created = member.joined_at.toISOString();
  const lastModified = (said?.updated_at ?? member.joined_at).toISOString();
  const meta = { resourceType: 'User', created, lastModified, location, version: tagOf(shown) };
  return { ...shown, meta };
}

/** The tag of a member's resource. */
export async function tagOfUser(context: Context, record: UserRecord): Promise<string> {
  return ((await viewUser(context, record))['meta'] as { version: string }).version;
}
