// Members of an organization, and invitations into it. The role is the caller's in the organization of the path.
import { Type } from 'typebox';
import { type Context, idOf, listOf, Nothing, oneOf, operation, orgCaller } from '../../kernel/index.ts';
import { getEmailKey } from '../../mail/index.ts';
import { findOrg, listMembers, type Member } from '../../orgs/index.ts';
import { EmailIn, MemberView, memberExample, memberRoles } from '../schema.ts';
import { anyone, ownPerson, refuseSsoSession } from '../sign-in/operations.ts';
import { findPeople, findPersonByEmail } from '../store.ts';
import type { Person } from '../types.ts';
import { ofPerson } from '../view.ts';
import { acceptInvitation, findOffer } from './accept.ts';
import { changeRole, removeMember } from './change.ts';
import { invite, resendInvitation, revokeInvitation } from './invite.ts';
import { AcceptedView, InvitationView, invitationExample, OfferView, viewInvitation } from './schema.ts';
import { listInvitations } from './store.ts';

const SHOWN_MAX = 500;
const everybody = { kind: 'session', roles: memberRoles } as const;
const admins = { kind: 'session', roles: ['owner', 'admin'] } as const;
const inOrg = { id: idOf('org') };
const RoleIn = oneOf(memberRoles, 'Role');
/** What stands in the link behind the number sign. */
const TokenIn = Type.String({ minLength: 1, maxLength: 128 });
const tokenExample = `svc-inv-${'A'.repeat(43)}`;

function viewMember(
  { org_id, user_id, role, grants, status, source, joined_at }: Member,
  person: Pick<Person, 'email' | 'name' | 'totp_secret' | 'last_seen_at'>,
): MemberView {
  return {
    ...{ org_id, user_id, email: person.email, name: person.name, role, grants: [...grants], status, source },
    two_factor: person.totp_secret !== null,
    last_seen_at: person.last_seen_at?.toISOString() ?? null,
    joined_at: joined_at.toISOString(),
  };
}

export const listMembersOperation = operation({
  name: 'members.list',
  method: 'GET',
  path: '/v1/orgs/:id/members',
  summary: 'List the members of an organization, longest first',
  audience: everybody,
  input: Type.Object(inOrg),
  output: listOf(MemberView),
  errors: [],
  example: { object: 'list', data: [memberExample] },
  async run(context) {
    const { org_id } = orgCaller(context);
    const members = await listMembers(context.db, org_id);
    const people = await findPeople(
      context.db,
      members.map(({ user_id }) => user_id),
    );
    const by_id = new Map(people.map((person) => [person.id, person]));
    const data = members.flatMap((member) => {
      const person = by_id.get(member.user_id);
      return person === undefined ? [] : [viewMember(member, person)];
    });
    return { object: 'list' as const, data };
  },
});

export const updateMemberOperation = operation({
  name: 'members.update',
  method: 'PATCH',
  path: '/v1/orgs/:id/members/:user_id',
  summary: 'Change the role of a member; owners are made and changed by owners alone',
  audience: admins,
  input: Type.Object({ ...inOrg, user_id: idOf('user'), role: RoleIn }),
  output: MemberView,
  errors: ['last_owner', 'csrf_failed'],
  request: { role: 'admin' },
  example: { ...memberExample, role: 'admin' },
  async run(context, { user_id, role }) {
    const { org_id } = orgCaller(context);
    const { member, person } = await changeRole(context, { org_id, user_id, role });
    return viewMember(member, person);
  },
});

export const removeMemberOperation = operation({
  name: 'members.remove',
  method: 'DELETE',
  path: '/v1/orgs/:id/members/:user_id',
  summary: 'Remove a member, or leave; sessions in the organization end',
  audience: everybody,
  input: Type.Object({ ...inOrg, user_id: idOf('user') }),
  output: Nothing,
  errors: ['last_owner', 'csrf_failed'],
  status: 204,
  example: {},
  async run(context, { user_id }) {
    await removeMember(context, { org_id: orgCaller(context).org_id, user_id });
    return {};
  },
});

export const listInvitationsOperation = operation({
  name: 'invitations.list',
  method: 'GET',
  path: '/v1/orgs/:id/invitations',
  summary: `List invitations, newest first, at most ${SHOWN_MAX}`,
  audience: admins,
  input: Type.Object(inOrg),
  output: listOf(InvitationView),
  errors: [],
  example: { object: 'list', data: [invitationExample] },
  async run(context) {
    const { org_id } = orgCaller(context);
    const rows = await listInvitations(context.db, { org_id, limit: SHOWN_MAX });
    return { object: 'list' as const, data: rows.map((row) => viewInvitation(row, context.now())) };
  },
});

export const inviteOperation = operation({
  name: 'invitations.create',
  method: 'POST',
  path: '/v1/orgs/:id/invitations',
  summary: 'Invite a person by mail; the link in it is valid for 7 days',
  audience: admins,
  input: Type.Object({ ...inOrg, email: EmailIn, role: RoleIn }),
  output: InvitationView,
  errors: ['already_exists', 'csrf_failed'],
  status: 201,
  idempotent: true,
  request: { email: 'ravi@acme.example', role: 'developer' },
  example: invitationExample,
  async run(context, { email, role }) {
    const { org_id } = orgCaller(context);
    return viewInvitation(await invite(context, { org_id, email, role }), context.now());
  },
});

export const resendInvitationOperation = operation({
  name: 'invitations.resend',
  method: 'POST',
  path: '/v1/orgs/:id/invitations/:invitation/resend',
  summary: 'Mail an invitation again, with a new link; the one before leads nowhere any more',
  audience: admins,
  input: Type.Object({ ...inOrg, invitation: idOf('invitation') }),
  output: InvitationView,
  errors: ['state_conflict', 'csrf_failed'],
  example: invitationExample,
  async run(context, { invitation }) {
    const { org_id } = orgCaller(context);
    return viewInvitation(await resendInvitation(context, { org_id, id: invitation }), context.now());
  },
});

export const revokeInvitationOperation = operation({
  name: 'invitations.revoke',
  method: 'DELETE',
  path: '/v1/orgs/:id/invitations/:invitation',
  summary: 'Take an invitation back',
  audience: admins,
  input: Type.Object({ ...inOrg, invitation: idOf('invitation') }),
  output: Nothing,
  errors: ['state_conflict', 'csrf_failed'],
  status: 204,
  example: {},
  async run(context, { invitation }) {
    await revokeInvitation(context, { org_id: orgCaller(context).org_id, id: invitation });
    return {};
  },
});

/** @throws ServiceError not_found when the organization is gone. */
async function viewOffer(context: Context, token: string) {
  const offer = await findOffer(context, token);
  const org = await findOrg(context.db, offer.org_id);
  const person = await findPersonByEmail(context.db, getEmailKey(offer.email));
  return {
    org: { id: offer.org_id, name: org?.name ?? '' },
    ...{ email: offer.email, role: offer.role, has_account: person !== null },
    expires_at: offer.expires_at.toISOString(),
  };
}

const lookUpInvitationOperation = operation({
  name: 'invitations.lookup',
  method: 'POST',
  path: '/v1/invitations/lookup',
  summary: 'What the link of an invitation offers; nothing is changed',
  audience: { kind: 'public' },
  input: Type.Object({ token: TokenIn }),
  output: OfferView,
  errors: ['token_invalid', 'token_expired', 'too_many_attempts', 'csrf_failed'],
  request: { token: tokenExample },
  example: {
    org: { id: invitationExample.org_id, name: 'Acme' },
    ...{ email: invitationExample.email, role: 'developer', has_account: false },
    expires_at: invitationExample.expires_at,
  },
  run: (context, { token }) => viewOffer(context, token),
});

const acceptInvitationOperation = operation({
  name: 'invitations.accept',
  method: 'POST',
  path: '/v1/invitations/accept',
  summary: 'Accept an invitation as the person whom it is for',
  audience: anyone,
  ...ofPerson,
  input: Type.Object({ token: TokenIn }),
  output: AcceptedView,
  errors: ['token_invalid', 'token_expired', 'org_inactive', 'too_many_attempts', 'csrf_failed'],
  request: { token: tokenExample },
  example: { org: { id: invitationExample.org_id, slug: 'acme', name: 'Acme' }, role: 'developer' },
  async run(context, { token }) {
    refuseSsoSession(context);
    const { org, role } = await acceptInvitation(context, await ownPerson(context), token);
    return { org: { id: org.id, slug: org.slug, name: org.name }, role };
  },
});

export const memberOperations = [
  listMembersOperation,
  updateMemberOperation,
  removeMemberOperation,
  listInvitationsOperation,
  inviteOperation,
  resendInvitationOperation,
  revokeInvitationOperation,
  lookUpInvitationOperation,
  acceptInvitationOperation,
] as const;
