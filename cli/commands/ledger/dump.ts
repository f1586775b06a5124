// Writes a snapshot of the ledger to files, which `svcctl ledger verify --dump` checks without a database. With
// several ledgers there is one snapshot per ledger, in a folder named after the shard.
import { join, resolve } from 'node:path';
import { dumpLedger } from '@svc/core/ledger/index.ts';
import type { Command } from '../../command.ts';
import { shards } from '../../installation.ts';

export const command: Command = {
  positionals: [{ name: 'DIR', doc: 'folder to write to; created if it does not exist', required: true }],
  example: 'svcctl ledger dump backup/ledger-2026-11-21',
  async run(input) {
    const dir = resolve(input.positionals[0] as string);
    const known = await shards();
    const rows: Record<string, number> = {};
    const lines: string[] = [];
    for (const { name, url } of known) {
      const to = known.length === 1 ? dir : join(dir, name);
      for (const [table, count] of Object.entries(await dumpLedger(url, to)))
        rows[known.length === 1 ? table : `${name}.${table}`] = count;
      lines.push(`written to ${to}`);
    }
    const counts = Object.entries(rows).map(([table, count]) => `${table.padEnd(12)} ${count}`);
    return { json: { dir, rows }, text: [...counts, ...lines].join('\n') };
  },
};
