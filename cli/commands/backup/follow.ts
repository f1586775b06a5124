// Keeps every change of the database in a folder, until it is ended.
import { resolve } from 'node:path';
import { BackupError } from '../../backup/folder.ts';
import { follow } from '../../backup/follow.ts';
import type { Command } from '../../command.ts';
import { shardUrl } from './shard.ts';

const AGAIN_MS = 1_000;
/** Codes of PostgreSQL: what is needed was removed, or the slot was given up. Another try would find it no more. */
const GONE = ['58P01', '55000'];

/** The error to end with; null when it may be better in a moment. */
function finalOf(error: unknown): Error | null {
  if (error instanceof BackupError) return error;
  const { code, message } = error as Error & { code?: string };
  if (!GONE.includes(code ?? '')) return null;
  return new BackupError(
    `The server has not kept what comes next (${message}). Drop the slot svc_backup, and begin anew in a new folder.`,
  );
}

const say = (words: string) => process.stderr.write(`${new Date().toISOString()} ${words}\n`);

/** Resolves at the first SIGINT or SIGTERM. */
function untilEnded(): Promise<'ended'> {
  return new Promise((done) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => done('ended'));
  });
}

export const command: Command = {
  positionals: [
    { name: 'DIR', doc: 'folder of the backups of one server; made if it does not exist', required: true },
  ],
  flags: {
    shard: { type: 'text', doc: 'of which ledger, where there are several; default: main', value: 'NAME' },
  },
  example: 'svcctl backup follow /backups/svc',
  async run(input) {
    const url = await shardUrl(input.find('shard'));
    const options = { url, dir: resolve(input.positionals[0] as string) };
    const ended = untilEnded();
    let at = '';
    for (let is_ended = false; !is_ended; ) {
      try {
        const following = await follow(options);
        say(`following from ${following.at()}`);
        is_ended = (await Promise.race([ended, following.failed])) === 'ended';
        await following.stop();
        at = following.at();
      } catch (error) {
        const final = finalOf(error);
        if (final !== null) throw final;
        say(`interrupted: ${(error as Error).message}`);
        const wait = new Promise<null>((done) => setTimeout(done, AGAIN_MS, null));
        is_ended = (await Promise.race([ended, wait])) === 'ended';
      }
    }
    return { json: { at }, text: `everything up to ${at} is kept` };
  },
};
