// Changes the status of an organisation, which only staff decide.
import { now } from '@svc/core/kernel/index.ts';
import { type OrgStatus, setOrgStatus } from '@svc/core/orgs/index.ts';
import type { Command } from '../command.ts';
import { staffContext } from '../context.ts';
import { withDatabase } from '../installation.ts';
import { getOrg } from '../lookup.ts';

export const command: Command = {
  flags: {
    org: { type: 'text', doc: 'id or slug', value: 'ORG', required: true },
    status: {
      type: 'text',
      doc: 'suspended and closed refuse every key',
      choices: ['active', 'suspended', 'closed'],
      required: true,
    },
  },
  async run(input) {
    const status = input.get('status') as OrgStatus;
    return withDatabase(async (pool) => {
      const org = await getOrg(await staffContext(pool), input.get('org'));
      await setOrgStatus(pool, { org_id: org.id, status, at: now() });
      return { json: { id: org.id, slug: org.slug, status }, text: `${org.slug} is ${status}` };
    });
  },
};
