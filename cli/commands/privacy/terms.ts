// Shows or changes how long erasures of organizations are announced.
import { changeErasureTerms, readErasureTerms } from '@svc/core/org-erasure/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: {
    'notice-days': {
      ...{ type: 'integer', min: 7, max: 90, value: 'DAYS' },
      doc: 'between asking for the erasure of an organization and its beginning',
    },
  },
  example: 'svcctl privacy terms --notice-days 45',
  async run(input) {
    const wanted = input.integer('notice-days');
    return withDatabase(async (pool) => {
      const { notice_days } =
        wanted === null
          ? await readErasureTerms(pool)
          : await changeErasureTerms(await staffContext(pool), { notice_days: wanted });
      return { json: { notice_days }, text: `erasures of organizations are announced ${notice_days} days` };
    });
  },
};
