// Takes a backup of the database while everything works.
import { resolve } from 'node:path';
import { takeBackup } from '../../backup/take.ts';
import type { Command } from '../../command.ts';
import { shardUrl } from './shard.ts';

const MIB = 1024 * 1024;

export const command: Command = {
  positionals: [
    { name: 'DIR', doc: 'folder of the backups of one server; made if it does not exist', required: true },
  ],
  flags: {
    shard: { type: 'text', doc: 'of which ledger, where there are several; default: main', value: 'NAME' },
  },
  example: 'svcctl backup take /backups/svc',
  async run(input) {
    const dir = resolve(input.positionals[0] as string);
    const name = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
    let shown = 0;
    const started = performance.now();
    const url = await shardUrl(input.find('shard'));
    const backup = await takeBackup({ url, dir, name }, (bytes) => {
      if (performance.now() - shown < 1_000) return;
      shown = performance.now();
      process.stderr.write(`${Math.round(Number(bytes) / MIB)} MiB\n`);
    });
    const seconds = Math.round((performance.now() - started) / 100) / 10;
    const text = [
      `${backup.name}: ${Math.round(backup.bytes / MIB)} MiB in ${seconds} s, whole from ${backup.ended_at} on`,
      'The key ring is not in it: keep a copy of that elsewhere.',
    ];
    return { json: { ...backup, seconds }, text: text.join('\n') };
  },
};
