// Makes a data directory of a backup, as it was at a moment.
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { restoreBackup } from '../backup/restore.ts';
import { type Command, UsageError } from '../command.ts';
import { clusterDirectory } from '../up/cluster.ts';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/;

function momentOf(text: string | null): Date | null {
  if (text === null) return null;
  const at = new Date(text);
  if (Number.isNaN(at.getTime()))
    throw new UsageError(`--at takes a time that exists, got ${JSON.stringify(text)}`);
  return at;
}

export const command: Command = {
  positionals: [
    { name: 'DIR', doc: 'folder of backups', required: true },
    { name: 'TO', doc: 'data directory to make (SVC_DATA_DIR)', required: true },
  ],
  flags: {
    at: {
      type: 'text',
      doc: 'the moment, by the clock of the database; default: the newest change that is kept',
      value: 'TIME',
      form: [ISO, 'a time with its zone, such as 2026-11-24T09:30:00Z'],
    },
  },
  example: 'svcctl restore /backups/svc data-restored --at 2026-11-24T09:30:00Z',
  async run(input) {
    const [from, to] = input.positionals.map((path) => resolve(path)) as [string, string];
    mkdirSync(to, { recursive: true });
    const cluster = clusterDirectory(to);
    const restored = await restoreBackup({ from, cluster, at: momentOf(input.find('at')) }, (step) =>
      process.stderr.write(`${step}\n`),
    );
    const { ledger, seconds, last_change_at, backup } = restored;
    const lines = [
      `restored from ${backup}${last_change_at === null ? '' : `, last change at ${last_change_at}`}`,
      `${seconds.copy} s to unpack and compare, ${seconds.replay} s to replay, ${seconds.verify} s to verify`,
      ledger.ok
        ? `the ledger is right: ${ledger.entries} entries`
        : 'THE LEDGER IS NOT RIGHT: see svcctl ledger verify',
      `start it: SVC_DATA_DIR=${to} make up`,
    ];
    if (!existsSync(join(to, 'keyring.json')))
      lines.push(`First put the key ring of the installation there: ${join(to, 'keyring.json')}`);
    return { json: { ...restored, cluster }, text: lines.join('\n'), ok: ledger.ok };
  },
};
