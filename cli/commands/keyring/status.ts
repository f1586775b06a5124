// Shows the keys of the ring and what stands under each; 1 as long as values are under another key than the current one.
import { now } from '@svc/core/kernel/index.ts';
import { readKeyRingStatus } from '@svc/core/keyring/index.ts';
import type { Command } from '../../command.ts';
import { rootKey, withDatabase } from '../../installation.ts';
import { outdated, statusText } from './shown.ts';

export const command: Command = {
  example: 'svcctl keyring status',
  run: () =>
    withDatabase(async (pool) => {
      const status = await readKeyRingStatus(pool, rootKey(), now());
      const left = outdated(status);
      return { json: { ...status, outdated: left }, text: statusText(status), ok: left === 0 };
    }),
};
