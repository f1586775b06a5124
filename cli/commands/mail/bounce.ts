// Takes a report that a mail could not be delivered, as a mail server gives it to a program.
import { buffer } from 'node:stream/consumers';
import { readBounce, takeBounce } from '@svc/core/mail/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  example: 'svcctl mail bounce < report.eml',
  async run() {
    const report = await readBounce(await buffer(process.stdin));
    if (report === null)
      return { json: { taken: false }, text: 'no report about a mail of this service: nothing follows' };
    return withDatabase(async (pool) => {
      // The clock of the installation, which may have been moved.
      await staffContext(pool);
      const taken = await takeBounce(pool, report);
      const text = taken
        ? `${report.mail_id} bounced; its address gets no more mail`
        : `${report.mail_id}: a delay, or not a mail that was sent: nothing follows`;
      return { json: { taken, mail_id: report.mail_id, answer: report.answer }, text };
    });
  },
};
