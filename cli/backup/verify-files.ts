// Whether a copy has every file that the server said it gave, byte for byte.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { BackupError } from './folder.ts';

/** The parts of the manifest that are read. https://www.postgresql.org/docs/18/backup-manifest-format.html */
interface Manifest {
  readonly Files: readonly { readonly Path?: string; readonly Size: number; readonly Checksum?: string }[];
}

async function checksum(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** @throws BackupError naming the first file of `data` that is missing or differs. Returns how many were compared. */
export async function verifyFiles(data: string, manifest: string): Promise<number> {
  const { Files: files } = JSON.parse(await readFile(manifest, 'utf8')) as Manifest;
  for (const { Path: path, Checksum: due } of files) {
    if (path === undefined || due === undefined) continue;
    const found = await checksum(join(data, path)).catch(() => 'nothing');
    if (found !== due) throw new BackupError(`The backup is damaged: ${path} is not what the server gave.`);
  }
  return files.length;
}
