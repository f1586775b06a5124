// Makes a data directory of a backup and what has changed since, up to a moment, and proves that the ledger in it is right.
import { execFile, spawn } from 'node:child_process';
import {
  copyFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createZstdDecompress } from 'node:zlib';
import { type VerifyReport, verifyLedger } from '@svc/core/ledger/index.ts';
import { findPostgres } from '../tools/postgres.ts';
import {
  ARCHIVE,
  type Backup,
  BackupError,
  baseFolder,
  listBackups,
  listWal,
  MANIFEST,
  walFolder,
} from './folder.ts';
import { forgetRecovery, handOver, lastChange, replay, writeRecovery } from './recovery.ts';
import { positionOf, segmentName } from './replication.ts';
import { verifyFiles } from './verify-files.ts';

export interface Restored {
  readonly backup: string;
  /** When the last change was made that is in it, as the server logged it; null when none came after the backup. */
  readonly last_change_at: string | null;
  readonly files: number;
  readonly segments: number;
  readonly ledger: VerifyReport;
  readonly seconds: { readonly copy: number; readonly replay: number; readonly verify: number };
}

/** The newest backup from which `at` can be reached. @throws BackupError when there is none. */
function chooseBackup(backups: readonly Backup[], at: Date | null): Backup {
  const fitting = backups.filter(({ ended_at }) => at === null || new Date(ended_at) <= at);
  const [oldest] = backups;
  const chosen = fitting.at(-1);
  if (chosen !== undefined) return chosen;
  if (oldest === undefined) throw new BackupError('There is no backup to restore.');
  throw new BackupError(
    `The oldest backup is whole from ${oldest.ended_at} on; an earlier moment cannot be restored.`,
  );
}

async function extract(archive: string, into: string): Promise<void> {
  mkdirSync(into, { recursive: true, mode: 0o700 });
  const tar = spawn('tar', ['-x', '-f', '-', '-C', into, '--no-same-owner'], {
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let words = '';
  tar.stderr.on('data', (chunk) => {
    words += chunk;
  });
  const ended = new Promise<number | null>((done, fail) => {
    tar.once('error', fail);
    tar.once('close', done);
  });
  await Promise.all([pipeline(createReadStream(archive), createZstdDecompress(), tar.stdin), ended]).catch(
    (error) => {
      throw new BackupError(`The backup cannot be unpacked: ${words.trim() || (error as Error).message}`);
    },
  );
  if ((await ended) !== 0) throw new BackupError(`The backup cannot be unpacked: ${words.trim()}`);
}

/** Copies what the restore may need of the WAL; how many segments. */
function copyWal(from: string, into: string, backup: Backup): number {
  mkdirSync(into, { recursive: true, mode: 0o700 });
  if (!existsSync(walFolder(from))) return 0;
  const first = segmentName(1, positionOf(backup.start), BigInt(backup.segment_bytes)).slice(8);
  const { whole, partial } = listWal(from);
  const needed = whole.filter((name) => name.slice(8) >= first);
  for (const name of needed) copyFileSync(join(walFolder(from), name), join(into, name));
  for (const name of readdirSync(walFolder(from)).filter((name) => name.endsWith('.history')))
    copyFileSync(join(walFolder(from), name), join(into, name));
  const last = partial?.replace('.partial', '') ?? '';
  if (partial === null || needed.includes(last)) return needed.length;
  copyFileSync(join(walFolder(from), partial), join(into, last));
  return needed.length + 1;
}

interface RestoreOptions {
  readonly from: string;
  /** The cluster's folder, which `data/` will be in; it may not exist yet. */
  readonly cluster: string;
  /** Null: everything that is kept. */
  readonly at: Date | null;
}

/** @throws BackupError when the PostgreSQL of this machine cannot read it. */
async function checkVersion(backup: Backup): Promise<void> {
  const { stdout } = await promisify(execFile)(join(findPostgres(), 'postgres'), ['--version']);
  const here = Number(/\) (\d+)/.exec(stdout)?.[1]);
  if (here !== backup.version)
    throw new BackupError(`The backup is of PostgreSQL ${backup.version}, here is ${here}: set SVC_PG_BIN.`);
}

async function copy(from: string, backup: Backup, work: string, at: Date | null) {
  const data = join(work, 'data');
  await extract(join(baseFolder(from, backup.name), ARCHIVE), data);
  const files = await verifyFiles(data, join(baseFolder(from, backup.name), MANIFEST));
  const segments = copyWal(from, join(work, 'wal'), backup);
  writeRecovery(data, at);
  handOver(work);
  return { files, segments };
}

/** Gives a restored cluster its name; what the restore needed is taken out of it. */
function finish(work: string, cluster: string): void {
  forgetRecovery(join(work, 'data'));
  rmSync(join(work, 'wal'), { recursive: true, force: true });
  mkdirSync(dirname(cluster), { recursive: true });
  rmSync(cluster, { recursive: true, force: true });
  renameSync(work, cluster);
}

/**
 * Restores into `cluster`, which has its name only when all is done. @throws BackupError saying what to do.
 */
export async function restoreBackup(
  options: RestoreOptions,
  progress: (step: string) => void,
): Promise<Restored> {
  const { from, cluster, at } = options;
  if (existsSync(join(cluster, 'data')))
    throw new BackupError(`${cluster} has a database already: restore elsewhere.`);
  const backup = chooseBackup(listBackups(from), at);
  await checkVersion(backup);
  const work = `${cluster}.restoring`;
  const log = join(work, 'restore.log');
  rmSync(work, { recursive: true, force: true });
  const seconds = { copy: 0, replay: 0, verify: 0 };
  const timed = async <T>(step: keyof typeof seconds, words: string, run: () => Promise<T>): Promise<T> => {
    progress(words);
    const started = performance.now();
    const result = await run();
    seconds[step] = Math.round((performance.now() - started) / 100) / 10;
    return result;
  };
  const { files, segments } = await timed('copy', `unpacking ${backup.name}`, () =>
    copy(from, backup, work, at),
  );
  const server = await timed('replay', `replaying ${segments} segments of changes`, () =>
    replay(work, log, at),
  );
  try {
    const url = server.urlOf(backup.database);
    const ledger = await timed('verify', 'verifying the ledger', () => verifyLedger({ url }));
    const last_change_at = lastChange(log);
    await server.stop();
    finish(work, cluster);
    return { backup: backup.name, last_change_at, files, segments, ledger, seconds };
  } finally {
    await server.stop();
  }
}
