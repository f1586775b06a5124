// The waitlist and invite codes in the staff schema.
import {
  codeStates,
  createInviteCodeOperation,
  InviteCodeView,
  inviteFromWaitlistOperation,
  listInviteCodesOperation,
  listWaitlistOperation,
  revokeInviteCodeOperation,
  WaitingView,
  waitlistStates,
} from '@svc/core/identity/index.ts';
import { pageField } from './page-field.ts';
import type { Parts } from './parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, this part of the schema does not
type Any = any;

/** Adds both lists, and the acts on them. */
export function addAdmission({ builder, derive, connectionType, mutation }: Parts): void {
  derive.enum('WaitlistStatus', waitlistStates);
  derive.enum('InviteCodeStatus', codeStates);
  const Waiting = connectionType('WaitlistEntry', derive.output('WaitlistEntry', WaitingView));
  const InviteCode = derive.output('InviteCode', InviteCodeView);
  const InviteCodes = connectionType('InviteCode', InviteCode);
  builder.queryFields((t: Any) => ({
    waitlist: pageField(t, {
      type: Waiting,
      operation: listWaitlistOperation,
      description: 'People who wait until they may make an organization, oldest first.',
    }),
    inviteCodes: pageField(t, {
      type: InviteCodes,
      operation: listInviteCodesOperation,
      description: 'Invite codes, newest first; a code itself is shown once, when it is made.',
    }),
  }));
  mutation({
    name: 'inviteFromWaitlist',
    operation: inviteFromWaitlistOperation,
    description: 'Lets a person of the waitlist make an organization; a mail tells them.',
    payload: (t: Any) => ({
      id: t.exposeID('id'),
      email: t.exposeString('email'),
      status: t.exposeString('status'),
    }),
  });
  mutation({
    name: 'createInviteCode',
    operation: createInviteCodeOperation,
    description: 'Makes an invite code; each use lets one organization be made.',
    payload: (t: Any) => ({
      code: t.exposeString('code', { description: 'Shown in this answer alone.' }),
      inviteCode: t.field({ type: InviteCode, resolve: (answer: unknown) => answer }),
    }),
  });
  mutation({
    name: 'revokeInviteCode',
    operation: revokeInviteCodeOperation,
    description: 'Revokes an invite code; organizations that were made with it stay.',
    payload: (t: Any) => ({
      inviteCode: t.field({ type: InviteCode, resolve: (answer: unknown) => answer }),
    }),
  });
}
