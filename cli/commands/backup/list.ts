// Shows the backups of a folder, and up to when changes are kept.
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { listBackups, listWal, walFolder } from '../../backup/folder.ts';
import type { Command } from '../../command.ts';

const MIB = 1024 * 1024;

/** When the newest change that is kept was written; null when none is. */
function keptUntil(dir: string): Date | null {
  if (!existsSync(walFolder(dir))) return null;
  const { whole, partial } = listWal(dir);
  const newest = partial ?? whole.at(-1);
  return newest === undefined ? null : statSync(join(walFolder(dir), newest)).mtime;
}

export const command: Command = {
  positionals: [{ name: 'DIR', doc: 'folder of backups', required: true }],
  example: 'svcctl backup list /backups/svc',
  async run({ positionals }) {
    const dir = resolve(positionals[0] as string);
    const backups = listBackups(dir);
    const kept_until = keptUntil(dir)?.toISOString() ?? null;
    const lines = backups.map(
      ({ name, bytes, ended_at }) =>
        `${name}  ${String(Math.round(bytes / MIB)).padStart(7)} MiB  whole from ${ended_at} on`,
    );
    lines.push(kept_until === null ? 'no changes are kept' : `changes are kept until ${kept_until}`);
    return { json: { backups, kept_until }, text: lines.join('\n') };
  },
};
