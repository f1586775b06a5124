// Says something to customers for a time.
import { announce, announcementAudiences, announcementSeverities } from '@svc/core/support/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: {
    title: { type: 'text', doc: 'one line', length_max: 120, required: true },
    body: { type: 'text', doc: 'what there is to say', value: 'TEXT', length_max: 10_000, required: true },
    severity: { type: 'text', doc: 'info unless given', choices: announcementSeverities },
    audience: { type: 'text', doc: 'all unless given', choices: announcementAudiences },
    to: {
      type: 'text',
      doc: 'plans, countries or organizations of that audience, with commas',
      value: 'A,B',
    },
    starts: { type: 'text', doc: 'RFC 3339; now unless given', value: 'TIME' },
    ends: { type: 'text', doc: 'RFC 3339; until it is ended unless given', value: 'TIME' },
  },
  example:
    'svcctl announcements create --title "Maintenance on Sunday" --body "Calls go on." --severity warning',
  async run(input) {
    const [to, starts_at, ends_at] = [input.find('to'), input.find('starts'), input.find('ends')];
    const [severity, audience] = [input.find('severity'), input.find('audience')];
    return withDatabase(async (pool) => {
      const { id, title } = await announce(await staffContext(pool), {
        ...{ title: input.get('title'), body: input.get('body') },
        severity: announcementSeverities.find((one) => one === severity) ?? 'info',
        audience: announcementAudiences.find((one) => one === audience) ?? 'all',
        ...(to === null ? {} : { audience_values: to.split(',').map((one) => one.trim()) }),
        ...(starts_at === null ? {} : { starts_at }),
        ...(ends_at === null ? {} : { ends_at }),
      });
      return { json: { id, title }, text: `${id}  ${title}` };
    });
  },
};
