// Erases an end user of an organization, as it can do itself over the API.
import { requestErasure } from '@svc/core/privacy/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';
import { getOrg } from '../../lookup.ts';

export const command: Command = {
  flags: {
    org: { type: 'text', doc: 'id or slug', value: 'ORG', required: true },
    user: {
      ...{ type: 'text', doc: "the organization's own id of the end user", value: 'ID' },
      ...{ length_max: 1_024, required: true },
    },
  },
  example: 'svcctl privacy erase --org acme --user user-42',
  async run(input) {
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const { id: org_id } = await getOrg(context, input.get('org'));
      const { id, status } = await requestErasure(context, { org_id, user_id: input.get('user') });
      return {
        json: { id, status },
        text: `${id} was asked for; svcctl privacy list shows when it is completed`,
      };
    });
  },
};
