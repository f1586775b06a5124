// Ends an announcement now.
import { endAnnouncement } from '@svc/core/support/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: { announcement: { type: 'text', doc: 'its id', value: 'ID', required: true } },
  example: 'svcctl announcements end --announcement ann_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  async run(input) {
    return withDatabase(async (pool) => {
      const { id, title } = await endAnnouncement(await staffContext(pool), input.get('announcement'));
      return { json: { id }, text: `${title} is shown no more` };
    });
  },
};
