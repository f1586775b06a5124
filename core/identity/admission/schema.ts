// Shapes of sign-up's state, of the waitlist and of invite codes.
import { type Static, Type } from 'typebox';
import { idOf, named, nullable, oneOf, Time } from '../../kernel/index.ts';
import { type CodeFault, faultOf } from './invite-code.ts';
import type { InviteCode, WaitingEntry, WaitlistEntry } from './store.ts';

/** As it is typed: `INV` and four groups of four; case, spaces and hyphens do not matter. */
export const InviteCodeIn = Type.String({ minLength: 1, maxLength: 64 });

export const waitlistStates = ['waiting', 'invited'] as const;
export const codeStates = ['usable', 'used_up', 'expired', 'revoked'] as const;

export const WaitlistEntryView = named(
  'WaitlistEntry',
  Type.Object({
    id: idOf('waitlist_entry'),
    company: Type.String(),
    use_case: Type.String(),
    status: oneOf(waitlistStates, 'WaitlistStatus'),
    created_at: Time,
  }),
);

export const SignUpView = named(
  'SignUp',
  Type.Object({
    invite_only: Type.Boolean({ description: 'sign-up is not open' }),
    needs_invite: Type.Boolean({
      description:
        'the caller makes an organization only with an invite code, or once invited from the waitlist',
    }),
    waitlist: nullable(WaitlistEntryView),
  }),
);

/** An entry as staff see it. */
export const WaitingView = Type.Object({
  ...WaitlistEntryView.properties,
  email: Type.String(),
  name: Type.String(),
  reviewed_by: nullable(Type.String()),
});

/** A code as staff see it after it was made. */
export const InviteCodeView = Type.Object({
  id: idOf('invite_code'),
  hint: Type.String({ description: 'its last four characters' }),
  note: Type.String(),
  max_uses: Type.Integer(),
  uses: Type.Integer(),
  status: oneOf(codeStates, 'InviteCodeStatus'),
  expires_at: Time,
  created_by: Type.String(),
  created_at: Time,
});

/** An entry as its person sees it. */
export function viewEntry({
  id,
  company,
  use_case,
  status,
  created_at,
}: WaitlistEntry): Static<typeof WaitlistEntryView> {
  return { id, company, use_case, status, created_at: created_at.toISOString() };
}

/** An entry as staff see it. */
export function viewWaiting(entry: WaitingEntry): Static<typeof WaitingView> {
  const { email, name, reviewed_by } = entry;
  return { ...viewEntry(entry), email, name, reviewed_by };
}

/** A code as staff see it at `at`. */
export function viewCode(code: InviteCode, at: Date): Static<typeof InviteCodeView> {
  const { id, hint, note, max_uses, uses, created_by } = code;
  const fault = faultOf(code, at) as Exclude<CodeFault, 'unknown'> | null;
  return {
    ...{ id, hint, note, max_uses, uses, status: fault ?? 'usable', created_by },
    expires_at: code.expires_at.toISOString(),
    created_at: code.created_at.toISOString(),
  };
}

export const entryExample: Static<typeof WaitlistEntryView> = {
  ...{
    id: 'wle_01KACZ3V8S6T5R4Q3P2N1M0K9J',
    company: 'Acme',
    use_case: 'Support answers in nine languages.',
  },
  ...{ status: 'waiting', created_at: '2026-11-21T10:00:00.000Z' },
};
export const waitingExample: Static<typeof WaitingView> = {
  ...{ ...entryExample, email: 'asha@acme.example', name: 'Asha Rao', reviewed_by: null },
};
export const codeExample: Static<typeof InviteCodeView> = {
  ...{
    id: 'ivc_01KACZ3V8S6T5R4Q3P2N1M0K9J',
    hint: '...7Q2M',
    note: 'conference in Pune',
    max_uses: 50,
    uses: 3,
  },
  ...{ status: 'usable', expires_at: '2026-12-21T10:00:00.000Z', created_by: 'ops@svc.example' },
  created_at: '2026-11-21T10:00:00.000Z',
};
