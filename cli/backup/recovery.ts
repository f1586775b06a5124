// Lets a server replay the changes in a data directory up to a moment, and puts its configuration back afterwards.
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { asRoot, type Postgres, startPostgres } from '../tools/postgres.ts';
import { BackupError } from './folder.ts';

/** As which PostgreSQL runs when this process is root; see tools/postgres.ts. */
const NOBODY = 65534;
/** A restored server stands alone: with the standbys of the old one every commit would wait for them without end. */
const ALONE = `synchronous_standby_names = ''`;
/** Ends the lines that are taken out again afterwards. */
const MARK = '# svcctl restore';

/** Gives everything below `path` to the user as whom the server runs. */
export function handOver(path: string): void {
  if (!asRoot()) return;
  chownSync(path, NOBODY, NOBODY);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const at = join(path, entry.name);
    if (entry.isDirectory()) handOver(at);
    else chownSync(at, NOBODY, NOBODY);
  }
}

export function writeRecovery(data: string, at: Date | null): void {
  // Abbreviations of zones, such as Z, are not known yet when the server reads this.
  const target = at === null ? [] : [`recovery_target_time = '${at.toISOString().replace('Z', '+00')}'`];
  const lines = [
    ALONE,
    `restore_command = 'cp ../wal/%f %p'`,
    `recovery_target_action = 'promote'`,
    ...target,
  ];
  const text = lines.map((line) => `${line} ${MARK}\n`).join('');
  appendFileSync(join(data, 'postgresql.auto.conf'), `\n${text}`);
  writeFileSync(join(data, 'recovery.signal'), '');
  chmodSync(data, 0o700);
}

export function forgetRecovery(data: string): void {
  const file = join(data, 'postgresql.auto.conf');
  const kept = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => !line.endsWith(MARK));
  // The last line counts, whatever is in this file or in postgresql.conf; `alter system` replaces it.
  writeFileSync(file, `${kept.join('\n').trimEnd()}\n${ALONE}\n`);
}

/** What the server says when the WAL ends before the moment that was asked for. */
const TOO_SHORT = /recovery ended before configured recovery target was reached/;

export async function replay(work: string, log: string, at: Date | null): Promise<Postgres> {
  return startPostgres({ dir: work, log }).catch((error: Error) => {
    const words = existsSync(log) ? readFileSync(log, 'utf8') : error.message;
    if (!TOO_SHORT.test(words))
      throw new BackupError(`The server cannot replay the changes: ${words.trim().slice(-800)}`);
    throw new BackupError(
      `The changes that are kept end before ${at?.toISOString()}; without a time everything that is kept is restored.`,
    );
  });
}

export function lastChange(log: string): string | null {
  const found = /last completed transaction was at log time (.+)/.exec(readFileSync(log, 'utf8'))?.[1];
  return found === undefined ? null : new Date(found).toISOString();
}
