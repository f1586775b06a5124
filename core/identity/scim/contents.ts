// What a directory has written, as it would read it itself: for whoever takes the organization elsewhere.
import type { Context, Id } from '../../kernel/index.ts';
import { listMemberPart } from '../../orgs/index.ts';
import { listGroupMembers, listGroups } from './group-store.ts';
import { viewGroup } from './groups.ts';
import { readRecords, viewUser } from './user-record.ts';

const PAGE = 200;

async function* userPages(context: Context, org_id: Id<'org'>): AsyncGenerator<readonly object[]> {
  for (let offset = 0; ; offset += PAGE) {
    const members = await listMemberPart(context.db, { org_id, offset, limit: PAGE });
    const records = await readRecords(context, org_id, members);
    // Of the others it has said nothing.
    yield await Promise.all(
      records.filter(({ said }) => said !== null).map((record) => viewUser(context, record)),
    );
    if (members.length < PAGE) return;
  }
}

async function* groupPages(context: Context, org_id: Id<'org'>): AsyncGenerator<readonly object[]> {
  for (const group of await listGroups(context.db, org_id)) {
    const members = await listGroupMembers(context.db, { org_id, group_ids: [group.id] });
    yield [await viewGroup(context, { group, members: members.map(({ user_id }) => user_id) })];
  }
}

/** Users or groups of the directory of an organization as SCIM resources, a page at a time. */
export function listDirectory(
  context: Context,
  org_id: Id<'org'>,
  kind: 'users' | 'groups',
): AsyncIterable<readonly object[]> {
  return kind === 'users' ? userPages(context, org_id) : groupPages(context, org_id);
}
