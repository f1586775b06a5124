// Making a person who was invited. The link came to the address, so the address is proved by having it.
import { type Context, ServiceError } from '../../kernel/index.ts';
import { getEmailKey } from '../../mail/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { findOffer, takeIn } from '../members/accept.ts';
import { hashPassword, refuseWeakPassword } from '../sign-in/password.ts';
import { insertPerson } from '../store.ts';

/**
 * Makes a person with the address of an invitation and takes them into its organization, in one transaction.
 * @throws ServiceError token_invalid, token_expired, weak_password, permission_denied (another address),
 * already_exists, too_many_attempts.
 */
export async function registerInvited(
  context: Context,
  input: { email: string; password: string; name: string; token: string },
): Promise<void> {
  const { email, password, name, token } = input;
  const email_key = getEmailKey(email);
  refuseWeakPassword(password, { email, param: 'password' });
  // Before a hash is computed: whoever has no invitation costs nothing.
  await findOffer(context, token);
  const password_hash = await hashPassword(password);
  await context.transaction(async (context) => {
    const id = context.newId('user');
    const at = context.now();
    if (
      !(await insertPerson(context.db, { id, email, email_key, name, password_hash, at, is_admitted: true }))
    ) {
      const message = 'There is an account with this address. Sign in to accept the invitation.';
      throw new ServiceError('already_exists', message, { param: 'email' });
    }
    const { org } = await takeIn(context, { id, email }, token);
    await writeAudit(context, {
      ...{ action: 'auth.register', org_id: org.id, target: { type: 'user', id, display: email } },
      actor: { type: 'user', id, display: email },
    });
  });
}
