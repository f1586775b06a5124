// Creates a member of staff. This is the only time that password, second factor and token are shown.
import { createStaff } from '@svc/core/identity/index.ts';
import { type StaffRole, staffRoles } from '@svc/core/kernel/index.ts';
import { type Command, UsageError } from '../command.ts';
import { staffContext } from '../context.ts';
import { rootKey, withDatabase } from '../installation.ts';

function parseRoles(text: string | null): readonly StaffRole[] {
  if (text === null) return ['super'];
  const given = text.split(',').map((one) => one.trim());
  const unknown = given.find((one) => !(staffRoles as readonly string[]).includes(one));
  if (unknown !== undefined)
    throw new UsageError(`--roles takes ${staffRoles.join(', ')}; got ${JSON.stringify(unknown)}`);
  return given as StaffRole[];
}

export const command: Command = {
  flags: {
    email: { type: 'text', doc: 'address to sign in with', required: true },
    roles: {
      type: 'text',
      doc: `with commas between, of ${staffRoles.join(' ')}; default: super`,
      value: 'A,B',
    },
  },
  example: 'svcctl staff create --email ops@svc.example --roles finance,support',
  async run(input) {
    const roles = parseRoles(input.find('roles'));
    const root_key = rootKey();
    const json = await withDatabase(async (pool) =>
      createStaff(await staffContext(pool), root_key, { email: input.get('email'), roles }),
    );
    const text = [
      `staff        ${json.id}   ${json.email}`,
      `password     ${json.password}   (shown once)`,
      `totp secret  ${json.totp_secret}   (for an authenticator, shown once)`,
      `token        ${json.token}   (a bearer for the staff listener, 12 hours)`,
    ].join('\n');
    return { json, text };
  },
};
