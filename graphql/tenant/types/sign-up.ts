// What sign-up asks of the caller, and the waitlist.
import {
  joinWaitlistOperation,
  SignUpView,
  signUpStateOperation,
  WaitlistEntryView,
  waitlistStates,
} from '@svc/core/identity/index.ts';
import { builder, derive } from '../builder.ts';
import { mutation } from '../mutation.ts';

derive.enum('WaitlistStatus', waitlistStates);
const WaitlistEntry = derive.output('WaitlistEntry', WaitlistEntryView);
const SignUp = derive.output('SignUp', SignUpView);

builder.queryFields((t) => ({
  signup: t.field({
    type: SignUp,
    nullable: true,
    description:
      'Whether sign-up is by invitation, what the caller lacks for an organization, their waitlist entry.',
    extensions: { operation: signUpStateOperation.name },
    resolve: (_root, _args, { runner }) => runner.run(signUpStateOperation, {}),
  }),
}));

mutation({
  name: 'joinWaitlist',
  operation: joinWaitlistOperation,
  input: joinWaitlistOperation.input,
  description: 'Joins the waitlist for an organization; who is on it gets the entry again.',
  payload: (t) => ({
    entry: t.field({
      type: WaitlistEntry,
      resolve: ({ answer }: { readonly answer: unknown }) => answer,
    }),
  }),
});
