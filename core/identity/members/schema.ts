// Wire shapes of invitations and of changes to members.
import { type Static, Type } from 'typebox';
import { idOf, named, oneOf, Time } from '../../kernel/index.ts';
import { memberRoles } from '../schema.ts';
import type { Invitation } from './store.ts';

export const invitationStates = ['pending', 'accepted', 'revoked', 'expired'] as const;

export const InvitationView = named(
  'Invitation',
  Type.Object({
    id: idOf('invitation'),
    org_id: idOf('org'),
    email: Type.String(),
    role: oneOf(memberRoles, 'Role'),
    status: oneOf(invitationStates, 'InvitationStatus'),
    invited_by: idOf('user'),
    expires_at: Time,
    created_at: Time,
  }),
);
export type InvitationView = Static<typeof InvitationView>;

/** What whoever holds the link of an invitation sees. */
export const OfferView = named(
  'InvitationOffer',
  Type.Object({
    org: Type.Object({ id: idOf('org'), name: Type.String() }),
    email: Type.String({ description: 'whom the invitation is for' }),
    role: oneOf(memberRoles, 'Role'),
    has_account: Type.Boolean({ description: 'sign in as this address; otherwise register with the token' }),
    expires_at: Time,
  }),
);

export const AcceptedView = named(
  'InvitationAccepted',
  Type.Object({
    org: Type.Object({ id: idOf('org'), slug: Type.String(), name: Type.String() }),
    role: oneOf(memberRoles, 'Role'),
  }),
);

/** An invitation on the wire at `at`. */
export function viewInvitation(invitation: Invitation, at: Date): InvitationView {
  const { id, org_id, email, role, status, invited_by, expires_at, created_at } = invitation;
  const has_lapsed = status === 'pending' && expires_at.getTime() <= at.getTime();
  return {
    ...{ id, org_id, email, role, status: has_lapsed ? 'expired' : status, invited_by },
    expires_at: expires_at.toISOString(),
    created_at: created_at.toISOString(),
  };
}

export const invitationExample: InvitationView = {
  id: 'ivt_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  email: 'ravi@acme.example',
  role: 'developer',
  status: 'pending',
  invited_by: 'usr_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  expires_at: '2026-11-28T10:00:00.000Z',
  created_at: '2026-11-21T10:00:00.000Z',
};
