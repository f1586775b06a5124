// Shows a ticket and what was written about it.
import { readThread } from '@svc/core/support/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: { ticket: { type: 'text', doc: 'id of a ticket', value: 'TICKET', required: true } },
  example: 'svcctl tickets show --ticket tkt_01KACZ3V8S6T5R4Q3P2N1M0K9G',
  async run(input) {
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const { ticket, messages } = await readThread(context, { id: input.get('ticket'), org_id: null });
      const { id, org_id, kind, status, subject, body } = ticket;
      const asked = typeof body['text'] === 'string' ? body['text'] : JSON.stringify(body);
      const written = messages.map(
        ({ author_name, created_at, text }) => `\n${created_at.toISOString()}  ${author_name}\n${text}`,
      );
      const head = `${id}  ${org_id}  ${kind}  ${status}\n${subject}\n\n${asked}`;
      return { json: { ...ticket, messages }, text: [head, ...written].join('\n') };
    });
  },
};
