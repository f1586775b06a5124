// Makes a person a member of an organization. For a new person, this is the only time that the password is shown.
import { createPerson } from '@svc/core/identity/index.ts';
import type { Role } from '@svc/core/kernel/index.ts';
import type { Command } from '../command.ts';
import { staffContext } from '../context.ts';
import { withDatabase } from '../installation.ts';
import { getOrg } from '../lookup.ts';

export const command: Command = {
  flags: {
    email: { type: 'text', doc: 'address to sign in with', required: true },
    org: { type: 'text', doc: 'id or slug', value: 'ORG', required: true },
    role: {
      type: 'text',
      doc: 'what they may do there',
      choices: ['owner', 'admin', 'developer', 'billing', 'viewer'],
      required: true,
    },
    name: { type: 'text', doc: 'name that people see' },
  },
  example: 'svcctl user create --email asha@acme.example --org acme --role owner',
  async run(input) {
    const json = await withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const { id: org_id } = await getOrg(context, input.get('org'));
      const name = input.find('name');
      return createPerson(context, {
        email: input.get('email'),
        org_id,
        role: input.get('role') as Role,
        ...(name === null ? {} : { name }),
      });
    });
    const secret = json.password === null ? '(unchanged)' : `${json.password}   (shown once)`;
    return { json, text: `user      ${json.id}\nemail     ${json.email}\npassword  ${secret}` };
  },
};
