// Ends a batch of codes: none of them is taken any more.
import { endBatch } from '@svc/core/redeem/index.ts';
import { type Command, SLUG } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: { name: { ...SLUG, doc: 'name of the batch', value: 'NAME', required: true } },
  example: 'svcctl redeem close --name devcon-2026',
  async run(input) {
    return withDatabase(async (pool) => {
      const { name, closed_at } = await endBatch(await staffContext(pool), input.get('name'));
      return { json: { name, closed_at }, text: `${name} ended` };
    });
  },
};
