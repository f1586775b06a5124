// Lists the addresses that mail does not reach.
import { listRefused } from '@svc/core/mail/index.ts';
import type { Command } from '../../command.ts';
import { withDatabase } from '../../installation.ts';

const LIMIT = 1_000;

export const command: Command = {
  example: 'svcctl mail refused',
  run: () =>
    withDatabase(async (pool) => {
      const addresses = (await listRefused(pool, LIMIT)).map(
        ({ recipient_key, cause, answer, mail_id, refused_at }) => {
          return { address: recipient_key, cause, answer, mail_id, refused_at: refused_at.toISOString() };
        },
      );
      const lines = addresses.map(
        ({ address, cause, answer, refused_at }) =>
          `${refused_at}  ${cause.padEnd(7)}  ${address}  ${answer}`,
      );
      return { json: { addresses }, text: lines.length === 0 ? 'none' : lines.join('\n') };
    }),
};
