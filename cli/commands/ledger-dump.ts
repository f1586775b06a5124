// Writes one snapshot of the ledger to files that `svcctl ledger verify --dump` checks without a database.
import { resolve } from 'node:path';
import { dumpLedger } from '@svc/core/ledger/index.ts';
import type { Command } from '../command.ts';
import { databaseUrl } from '../installation.ts';

export const command: Command = {
  positionals: [{ name: 'DIR', doc: 'folder to write to, made when it is missing', required: true }],
  example: 'svcctl ledger dump backup/ledger-2026-11-21',
  async run(input) {
    const dir = resolve(input.positionals[0] as string);
    const rows = await dumpLedger(databaseUrl(), dir);
    const lines = Object.entries(rows).map(([table, count]) => `${table.padEnd(12)} ${count}`);
    return { json: { dir, rows }, text: [...lines, `written to ${dir}`].join('\n') };
  },
};
