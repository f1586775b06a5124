// Signs what the ledgers are now. What is printed is meant to be published where it cannot be taken back.
import { now, ServiceError, shiftClock } from '@svc/core/kernel/index.ts';
import { newestCheckpoint, takeCheckpoint } from '@svc/core/ledger/index.ts';
import { readClockShift } from '@svc/core/runtime/index.ts';
import type { Command } from '../../command.ts';
import { ledgerSigner, withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: {
    last: { type: 'switch', doc: 'show the newest one, which programs take each day, and take none' },
    key: { type: 'switch', doc: 'show the key that checks the signatures, for publication, and take none' },
  },
  example: 'svcctl ledger checkpoint --last > ledger-2026-11-21.txt',
  async run(input) {
    const signer = ledgerSigner();
    const { verifier_key } = signer;
    if (input.has('key')) return { json: { verifier_key }, text: verifier_key };
    const row = await withDatabase(async (pool) => {
      if (input.has('last')) return newestCheckpoint(pool);
      shiftClock(await readClockShift(pool));
      return takeCheckpoint(pool, signer, now());
    });
    if (row === null) throw new ServiceError('not_found', 'No checkpoint has been taken yet.');
    return { json: row, text: row.note.trimEnd() };
  },
};
