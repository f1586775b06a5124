// A folder of backups: `bases/<name>/` has a backup each, `wal/` what has changed since, in the files of PostgreSQL.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A backup as `bases/<name>/backup.json` describes it. */
export interface Backup {
  readonly name: string;
  /** The server's identity, which a copy of it shares. */
  readonly system_id: string;
  readonly timeline: number;
  readonly start: string;
  readonly end: string;
  /** From when on a restore can go back to any moment, by the server's clock (ISO 8601). */
  readonly ended_at: string;
  /** Major version of PostgreSQL. */
  readonly version: number;
  /** The database of the product on that server. */
  readonly database: string;
  readonly segment_bytes: number;
  /** Of the server's files. */
  readonly bytes: number;
}

export const ARCHIVE = 'base.tar.zst';
export const MANIFEST = 'backup_manifest';

/** What was refused about a folder; says what to do. */
export class BackupError extends Error {}

export const walFolder = (dir: string) => join(dir, 'wal');
export const baseFolder = (dir: string, name: string) => join(dir, 'bases', name);

/**
 * Makes the folder of one server. @throws BackupError when it belongs to another one: their WAL would be mixed.
 */
export function claimFolder(dir: string, system_id: string): void {
  mkdirSync(join(dir, 'bases'), { recursive: true, mode: 0o700 });
  mkdirSync(walFolder(dir), { recursive: true, mode: 0o700 });
  const file = join(dir, 'server');
  if (!existsSync(file)) writeFileSync(file, `${system_id}\n`, { flush: true });
  const owner = readFileSync(file, 'utf8').trim();
  if (owner !== system_id)
    throw new BackupError(
      `${dir} has the backups of another server (${owner}, not ${system_id}): use another folder.`,
    );
}

/** The backups in `dir`, oldest first; those that were not finished are not among them. */
export function listBackups(dir: string): Backup[] {
  const bases = join(dir, 'bases');
  if (!existsSync(bases)) throw new BackupError(`${dir} has no backups.`);
  return readdirSync(bases)
    .filter((name) => existsSync(join(bases, name, 'backup.json')))
    .map((name) => JSON.parse(readFileSync(join(bases, name, 'backup.json'), 'utf8')) as Backup)
    .sort((a, b) => a.ended_at.localeCompare(b.ended_at));
}

/** The names of complete segments in `dir`, oldest first, and the one that is being written, if there is one. */
export function listWal(dir: string): { readonly whole: readonly string[]; readonly partial: string | null } {
  const names = readdirSync(walFolder(dir)).sort();
  const whole = names.filter((name) => /^[0-9A-F]{24}$/.test(name));
  const partial = names.findLast((name) => /^[0-9A-F]{24}\.partial$/.test(name)) ?? null;
  return { whole, partial };
}
