// The people of the organization: members, invitations, and the sessions that are in it.
import {
  endOrgSessionOperation,
  InvitationView,
  invitationStates,
  inviteOperation,
  listInvitationsOperation,
  listMembersOperation,
  listOrgSessionsOperation,
  MemberView,
  memberSources,
  memberStates,
  removeMemberOperation,
  resendInvitationOperation,
  revokeInvitationOperation,
  SessionView,
  signInMethods,
  updateMemberOperation,
} from '@svc/core/identity/index.ts';
import { builder, derive } from '../builder.ts';
import type { TenantContext } from '../context.ts';
import { mutation } from '../mutation.ts';

derive.enum('MemberStatus', memberStates);
derive.enum('MemberSource', memberSources);
derive.enum('InvitationStatus', invitationStates);
derive.enum('SignInMethod', signInMethods);

const Member = derive.output('Member', MemberView);
const Invitation = derive.output('Invitation', InvitationView);
const Session = derive.output('Session', SessionView);

/** The organization that the caller has entered; whoever has entered none is refused by the operation. */
function here({ runner: { caller } }: TenantContext): { id: string } {
  return { id: (caller.kind === 'key' || caller.kind === 'session' ? caller.org_id : null) ?? '' };
}

builder.queryFields((t) => ({
  members: t.field({
    type: [Member],
    nullable: true,
    description: 'People of the organization, longest first.',
    extensions: { operation: listMembersOperation.name },
    resolve: async (_root, _args, context) =>
      (await context.runner.run(listMembersOperation, here(context))).data,
  }),
  invitations: t.field({
    type: [Invitation],
    nullable: true,
    description: 'Invitations into the organization, newest first; for owners and admins.',
    extensions: { operation: listInvitationsOperation.name },
    resolve: async (_root, _args, context) =>
      (await context.runner.run(listInvitationsOperation, here(context))).data,
  }),
  sessions: t.field({
    type: [Session],
    nullable: true,
    description: 'Sessions of members that are in the organization, newest first; for owners and admins.',
    extensions: { operation: listOrgSessionsOperation.name },
    resolve: async (_root, _args, context) =>
      (await context.runner.run(listOrgSessionsOperation, here(context))).data,
  }),
}));

interface Payload {
  readonly answer: unknown;
}
type Fields = Parameters<Parameters<typeof mutation>[0]['payload']>[0];
const done = (t: Fields) => ({ ok: t.boolean({ resolve: () => true }) });
const ofInvitation = (t: Fields) => ({
  invitation: t.field({ type: Invitation, resolve: ({ answer }: Payload) => answer }),
});

mutation({
  name: 'updateMember',
  operation: updateMemberOperation,
  input: updateMemberOperation.input,
  description: 'Changes the role of a member; owners are made and changed by owners alone.',
  payload: (t) => ({ member: t.field({ type: Member, resolve: ({ answer }: Payload) => answer }) }),
});

mutation({
  name: 'removeMember',
  operation: removeMemberOperation,
  input: removeMemberOperation.input,
  description: 'Removes a member, or lets one leave.',
  payload: done,
});

mutation({
  name: 'inviteMember',
  operation: inviteOperation,
  input: inviteOperation.input,
  description: 'Invites a person by mail; the link in it is valid for 7 days.',
  payload: ofInvitation,
});

mutation({
  name: 'resendInvitation',
  operation: resendInvitationOperation,
  input: resendInvitationOperation.input,
  description: 'Mails an invitation again, with a new link.',
  payload: ofInvitation,
});

mutation({
  name: 'revokeInvitation',
  operation: revokeInvitationOperation,
  input: revokeInvitationOperation.input,
  description: 'Takes an invitation back.',
  payload: done,
});

mutation({
  name: 'endMemberSession',
  operation: endOrgSessionOperation,
  input: endOrgSessionOperation.input,
  description: "Ends a member's session that is in the organization.",
  payload: done,
});
