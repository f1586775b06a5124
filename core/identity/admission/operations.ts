// What sign-up asks of a caller, and the waitlist.
import { Type } from 'typebox';
import { type Context, type Id, lineOf, named, operation, ServiceError } from '../../kernel/index.ts';
import { ofPerson } from '../view.ts';
import { entryExample, SignUpView, viewEntry, WaitlistEntryView } from './schema.ts';
import { joinWaitlist, readSignUp } from './waitlist.ts';

const everybody = { kind: 'key', scopes: 'any', session: 'any' } as const;

/** Who asks: a person, or the person who made the key. Null for a key that nobody answers for. */
function personOf({ caller }: Context): Id<'user'> | null {
  if (caller.kind === 'session') return caller.user_id;
  return caller.kind === 'key' ? (caller.maker?.user_id ?? null) : null;
}

export const signUpStateOperation = operation({
  name: 'signup.get',
  method: 'GET',
  path: '/v1/signup',
  summary:
    'Show whether sign-up is by invitation, what the caller lacks for an organization, and their waitlist entry',
  audience: everybody,
  ...ofPerson,
  input: Type.Object({}),
  output: SignUpView,
  errors: [],
  example: { invite_only: true, needs_invite: true, waitlist: entryExample },
  async run(context) {
    const { waitlist, ...state } = await readSignUp(context, personOf(context));
    return { ...state, waitlist: waitlist === null ? null : viewEntry(waitlist) };
  },
});

export const joinWaitlistOperation = operation({
  name: 'signup.waitlist',
  method: 'POST',
  path: '/v1/signup/waitlist',
  summary: 'Join the waitlist for an organization; who is on it gets the entry again',
  audience: everybody,
  ...ofPerson,
  input: Type.Object({
    company: lineOf(120),
    use_case: Type.String({ minLength: 1, maxLength: 500, format: 'lines' }),
  }),
  output: named(
    'WaitlistJoined',
    Type.Object({
      ...WaitlistEntryView.properties,
      replay: Type.Boolean({ description: 'the entry was there before' }),
    }),
  ),
  errors: ['state_conflict', 'session_required', 'csrf_failed'],
  status: 201,
  isReplay: ({ replay }) => replay,
  request: { company: 'Acme', use_case: 'Support answers in nine languages.' },
  example: { ...entryExample, replay: false },
  async run(context, { company, use_case }) {
    const user_id = personOf(context);
    if (user_id === null) throw new ServiceError('session_required', 'Only a person can join the waitlist.');
    const { entry, is_new } = await joinWaitlist(context, { user_id, company, use_case });
    return { ...viewEntry(entry), replay: !is_new };
  },
});

export const admissionOperations = [signUpStateOperation, joinWaitlistOperation] as const;
