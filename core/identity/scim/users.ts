// Users: the members of the organization, provisioned by its directory.
import { type Context, canonicalJson, type Id, isId } from '../../kernel/index.ts';
import { writeEvent } from '../../ledger/index.ts';
import { emailKey } from '../../mail/index.ts';
import {
  countMembers,
  findMember,
  findMembers,
  listMemberPart,
  listMembers,
  putMember,
} from '../../orgs/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { lockMember } from '../members/change.ts';
import { dropMember, type Locked, restoreMember, suspendMember } from '../members/depart.ts';
import { lockOwnOrg } from '../members/invite.ts';
import { memberKeysOf } from '../members/member-keys.ts';
import { domainOf } from '../sso/domain-name.ts';
import { findDomainOwner } from '../sso/domain-store.ts';
import { findPersonByEmail } from '../store.ts';
import { takePerson } from '../take-person.ts';
import { directoryOf } from './directory.ts';
import { refuseOtherTag } from './etag.ts';
import { missing, taken, wrong } from './fault.ts';
import { fits, parseFilter, wantedText } from './filter.ts';
import type { Slice } from './list.ts';
import { patched, readOperations } from './patch.ts';
import { applyRoles, firstRole } from './roles.ts';
import { userSchema } from './schemas.ts';
import { findIdByUserName, findIdsByExternalId, putScimUser } from './store.ts';
import { fieldsOf, readRecords, tagOfUser, type UserRecord } from './user-record.ts';
import { type Fields, readResource } from './values.ts';

/** The name as it is compared. @throws ScimFault invalidValue unless it is an address of a domain that is proved. */
async function ownName(context: Context, org_id: Id<'org'>, user_name: unknown): Promise<string> {
  const key = typeof user_name === 'string' ? emailKey(user_name) : null;
  if (key === null) throw wrong('invalidValue', 'userName is not an e-mail address.');
  if ((await findDomainOwner(context.db, domainOf(key))) !== org_id)
    throw wrong('invalidValue', 'userName is not an address of a domain that the organization has proved.');
  return key;
}

/** @throws ScimFault uniqueness when the name is that of a member other than `own_id`. */
async function refuseTaken(
  context: Context,
  org_id: Id<'org'>,
  key: string,
  own_id: string | null,
): Promise<void> {
  const named = await findIdByUserName(context.db, { org_id, user_name_key: key });
  const person = await findPersonByEmail(context.db, key);
  const user_id = person?.id ?? null;
  const member =
    user_id === null || user_id === own_id ? null : await findMember(context.db, { org_id, user_id });
  if ((named !== null && named !== own_id) || member !== null)
    throw taken('There is a user with this userName.');
}

function store(context: Context, org_id: Id<'org'>, user_id: Id<'user'>, fields: Fields): Promise<void> {
  const { userName, externalId, active: _, ...attributes } = fields;
  const user_name = userName as string;
  return putScimUser(context.db, {
    ...{ org_id, user_id, user_name, user_name_key: emailKey(user_name) ?? user_name.toLowerCase() },
    ...{ external_id: (externalId as string | undefined) ?? null, attributes, at: context.now() },
  });
}

async function recordOf(context: Context, org_id: Id<'org'>, user_id: Id<'user'>): Promise<UserRecord> {
  const member = await findMember(context.db, { org_id, user_id });
  const [record] = member === null ? [] : await readRecords(context, org_id, [member]);
  if (record === undefined) throw missing();
  return record;
}

/** The name that is shown of somebody new. */
function nameOf({ displayName, name }: Fields): string {
  const { formatted, givenName, familyName } = (name ?? {}) as Record<string, string | undefined>;
  const parts = [givenName, familyName].filter((part) => part !== undefined).join(' ');
  return ((displayName as string | undefined) ?? formatted ?? parts).slice(0, 120);
}

/**
 * Makes a user a member of the organization, and the person too where the address is new.
 * @throws ScimFault invalidValue, uniqueness.
 */
export async function createUser(context: Context, body: unknown): Promise<UserRecord> {
  const { org_id } = directoryOf(context);
  const fields = readResource(userSchema, body);
  const email = fields['userName'] as string;
  const email_key = await ownName(context, org_id, email);
  return context.transaction(async (context) => {
    const role = await firstRole(context, org_id, fields);
    const known = await findPersonByEmail(context.db, email_key);
    const person = await takePerson(context, known, { email, email_key, name: nameOf(fields) });
    await memberKeysOf(context).lock(context, { org_id, user_id: person.id });
    await lockOwnOrg(context, org_id);
    await refuseTaken(context, org_id, email_key, null);
    const user_id = person.id;
    const at = context.now();
    await putMember(context.db, { org_id, user_id, role, source: 'scim', at });
    await memberKeysOf(context).came(context, { org_id, user_id });
    await store(context, org_id, user_id, fields);
    const payload = { user_id, email: person.email, role, source: 'scim' };
    await writeEvent(context.db, { org_id, topic: 'member.added', payload, at });
    await writeAudit(context, {
      ...{ action: 'members.add', org_id, after: { role, source: 'scim' } },
      target: { type: 'user', id: user_id, display: person.email },
    });
    const record = await recordOf(context, org_id, user_id);
    if (fields['active'] !== false) return record;
    await suspendMember(context, { member: record.member, person });
    return recordOf(context, org_id, user_id);
  });
}

/** The name that the member has from now on. @throws ScimFault mutability, invalidValue, uniqueness. */
async function checkName(context: Context, { member }: Locked, before: Fields, after: Fields): Promise<void> {
  const { org_id, user_id, role } = member;
  const same = emailKey(String(before['userName'])) === emailKey(String(after['userName']));
  if (!same && role === 'owner') throw wrong('mutability', 'The userName of an owner cannot be changed.');
  const key = same ? emailKey(String(after['userName'])) : await ownName(context, org_id, after['userName']);
  if (key !== null) await refuseTaken(context, org_id, key, user_id);
}

/** Writes what differs, of a member who is locked. */
async function write(context: Context, locked: Locked, before: Fields, after: Fields): Promise<void> {
  const { org_id, user_id } = locked.member;
  const text = (value: unknown) => canonicalJson(JSON.parse(JSON.stringify([value ?? null])));
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter((name) => text(before[name]) !== text(after[name]));
  if (changed.length === 0) return;
  await checkName(context, locked, before, after);
  await store(context, org_id, user_id, after);
  // What it is changed to is personal: the names say enough.
  const rest = changed.filter((name) => name !== 'active');
  if (rest.length > 0)
    await writeAudit(context, {
      ...{ action: 'members.update', org_id, after: { directory: rest } },
      target: { type: 'user', id: user_id, display: locked.person.email },
    });
  if (changed.includes('roles')) await applyRoles(context, org_id, [user_id]);
  if (!changed.includes('active')) return;
  if (after['active'] === true) await restoreMember(context, locked);
  else await suspendMember(context, locked);
}

/** Applies `change` to what the directory says of a member. @throws ScimFault 404, 412 and those of `change`. */
function changeUser(context: Context, id: string, change: (before: Fields) => Fields): Promise<UserRecord> {
  const { org_id } = directoryOf(context);
  return context.transaction(async (context) => {
    const locked = await lockMember(context, { org_id, user_id: id });
    const record = await recordOf(context, org_id, locked.member.user_id);
    refuseOtherTag(context, await tagOfUser(context, record));
    const before = fieldsOf(record);
    const after = change(before);
    await write(context, locked, before, after);
    return recordOf(context, org_id, locked.member.user_id);
  });
}

/** Puts `body` in the place of what was said of a user; one that does not say whether they are active changes nothing there. */
export function replaceUser(context: Context, id: string, body: unknown): Promise<UserRecord> {
  const fields = readResource(userSchema, body);
  return changeUser(context, id, ({ active }) => ({ active, ...fields }));
}

/** Changes what is said of a user, wholly or not at all. */
export function patchUser(context: Context, id: string, body: unknown): Promise<UserRecord> {
  const operations = readOperations(body);
  return changeUser(context, id, (before) => patched(userSchema, before, id, operations));
}

/** Takes a user out of the organization. @throws ScimFault 404, 412, ServiceError last_owner. */
export function deleteUser(context: Context, id: string): Promise<void> {
  const { org_id } = directoryOf(context);
  return context.transaction(async (context) => {
    const locked = await lockMember(context, { org_id, user_id: id });
    const record = await recordOf(context, org_id, locked.member.user_id);
    refuseOtherTag(context, await tagOfUser(context, record));
    await dropMember(context, locked, { topic: 'member.deprovisioned', leaves: false });
  });
}

/** One user. @throws ScimFault 404. */
export async function getUser(context: Context, id: string): Promise<UserRecord> {
  if (!isId('user', id)) throw missing();
  return recordOf(context, directoryOf(context).org_id, id);
}

/** Members among whom are all that a filter can find. */
async function candidates(context: Context, org_id: Id<'org'>, terms: ReturnType<typeof parseFilter>) {
  const { db } = context;
  const id = wantedText(terms, 'id');
  if (id !== null) return findMembers(db, { org_id, user_ids: [id] });
  const external_id = wantedText(terms, 'externalId');
  if (external_id !== null)
    return findMembers(db, { org_id, user_ids: await findIdsByExternalId(db, { org_id, external_id }) });
  const name = wantedText(terms, 'userName');
  if (name === null) return listMembers(db, org_id);
  const key = emailKey(name);
  if (key === null) return [];
  const person = await findPersonByEmail(db, key);
  const named = await findIdByUserName(db, { org_id, user_name_key: key });
  return findMembers(db, {
    org_id,
    user_ids: [...(person === null ? [] : [person.id]), ...(named === null ? [] : [named])],
  });
}

/** A part of the users that a filter finds, by id. @throws ScimFault invalidFilter. */
export async function listUsers(
  context: Context,
  { filter, offset, limit }: Slice,
): Promise<{ total: number; records: UserRecord[] }> {
  const { org_id } = directoryOf(context);
  if (filter === null) {
    const total = await countMembers(context.db, org_id);
    const members = limit === 0 ? [] : await listMemberPart(context.db, { org_id, offset, limit });
    return { total, records: await readRecords(context, org_id, members) };
  }
  const terms = parseFilter(userSchema, filter);
  const all = await readRecords(context, org_id, await candidates(context, org_id, terms));
  const found = all.filter((record) => fits(terms, { ...fieldsOf(record), id: record.member.user_id }));
  found.sort((a, b) => (a.member.user_id < b.member.user_id ? -1 : 1));
  return { total: found.length, records: found.slice(offset, offset + limit) };
}
