// Shows erasures and exports of an organization's end users.
import { listRequests, viewRequest } from '@svc/core/privacy/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';
import { getOrg } from '../../lookup.ts';

const MOST = 200;

export const command: Command = {
  flags: { org: { type: 'text', doc: 'id or slug', value: 'ORG', required: true } },
  example: 'svcctl privacy list --org acme',
  async run(input) {
    return withDatabase(async (pool) => {
      const { id: org_id } = await getOrg(await staffContext(pool), input.get('org'));
      const data = (await listRequests(pool, { org_id, after: null, limit: MOST })).map(viewRequest);
      const lines = data.map(({ id, kind, status, records, created_at }) =>
        [id, created_at, kind, status, `${records} records`].join('  '),
      );
      return { json: { data }, text: lines.length === 0 ? 'There are none.' : lines.join('\n') };
    });
  },
};
