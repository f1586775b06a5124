// What a person says of themselves.
import { type Static, Type } from 'typebox';
import { type Context, idOf, lineOf, named, nullable, operation } from '../../kernel/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { EmailIn } from '../schema.ts';
import { anyone, ownPerson, refuseSsoSession } from '../sign-in/operations.ts';
import { refuseUnproved } from '../sign-in/proof.ts';
import { ofPerson, sessionCaller } from '../view.ts';
import { askEmailChange } from './change-email.ts';
import { findProfile, updateProfile } from './store.ts';

const ProfileView = named(
  'Profile',
  Type.Object({
    id: idOf('user'),
    email: Type.String(),
    name: Type.String(),
    locale: Type.String({ description: 'language tag of BCP 47' }),
    email_pending: nullable(
      Type.String({ description: 'counts once the link that was mailed to it is used' }),
    ),
  }),
);
type ProfileView = Static<typeof ProfileView>;

async function view(context: Context): Promise<ProfileView> {
  const id = sessionCaller(context).user_id;
  const profile = await findProfile(context.db, { id, at: context.now() });
  if (profile === null) throw new Error('a session without its person');
  return profile;
}

export const updateMeOperation = operation({
  name: 'auth.me.update',
  method: 'PATCH',
  path: '/v1/auth/me',
  summary:
    'Change name, language or e-mail address; the address needs a fresh proof of the person, and counts once its mailbox is proved',
  audience: anyone,
  ...ofPerson,
  input: Type.Object({
    name: Type.Optional(lineOf(120)),
    locale: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$',
        description: 'language tag of BCP 47, such as en-IN',
      }),
    ),
    email: Type.Optional(EmailIn),
  }),
  output: ProfileView,
  errors: [
    ...(['permission_denied', 'sso_required', 'reauthentication_required', 'too_many_attempts'] as const),
    'csrf_failed',
  ],
  request: { name: 'Asha Rao', email: 'asha@acme.example' },
  example: {
    ...{ id: 'usr_01KACZ3V8S6T5R4Q3P2N1M0K9J', email: 'asha@old.example', name: 'Asha Rao', locale: 'en' },
    email_pending: 'asha@acme.example',
  },
  async run(context, { name = null, locale = null, email }) {
    const person = await ownPerson(context);
    // First what may be refused, so that a refusal changes nothing.
    if (email !== undefined && email !== person.email) {
      refuseSsoSession(context);
      refuseUnproved(sessionCaller(context), context.now());
      await askEmailChange(context, person, email);
    }
    if (name !== null || locale !== null)
      await context.transaction(async (context) => {
        await updateProfile(context.db, { id: person.id, name, locale, at: context.now() });
        await writeAudit(context, {
          ...{ action: 'auth.me.update', org_id: null, target: { type: 'user', id: person.id } },
        });
      });
    return view(context);
  },
});
