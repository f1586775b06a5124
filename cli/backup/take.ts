// Takes a backup: the server's files as they are while it works, with the part of the WAL that makes them one moment.
import { createWriteStream, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress } from 'node:zlib';
import { ARCHIVE, type Backup, BackupError, baseFolder, claimFolder, MANIFEST } from './folder.ts';
import { type Copying, connectReplication, type Replication } from './replication.ts';
import { readClock, readFacts } from './store.ts';

const COMMAND = `BASE_BACKUP (LABEL 'svcctl backup', PROGRESS true, CHECKPOINT 'fast', WAL true,
  MANIFEST 'yes', MANIFEST_CHECKSUMS 'SHA256')`;

/** What the server sends: `n` begins an archive, `m` the manifest, `d` is of what was begun, `p` how far it is. */
class Receiver {
  readonly archive = new PassThrough({ highWaterMark: 4 * 1024 * 1024 });
  readonly manifest: Buffer[] = [];
  bytes = 0;
  #archives = 0;
  #in_manifest = false;
  #waits = false;
  readonly #progress: (bytes: bigint) => void;

  constructor(progress: (bytes: bigint) => void) {
    this.#progress = progress;
  }

  take(message: Buffer, copying: Copying): void {
    const kind = String.fromCharCode(message[0] ?? 0);
    if (kind === 'n' && ++this.#archives > 1)
      throw new BackupError('The server has tablespaces. Use pg_basebackup, which knows where to put them.');
    if (kind === 'm') this.#in_manifest = true;
    if (kind === 'p') this.#progress(message.readBigInt64BE(1));
    if (kind === 'd') this.#data(message.subarray(1), copying);
  }

  #data(data: Buffer, copying: Copying): void {
    if (this.#in_manifest) return void this.manifest.push(data);
    this.bytes += data.length;
    if (this.archive.write(data) || this.#waits) return;
    this.#waits = true;
    copying.pause();
    this.archive.once('drain', () => {
      this.#waits = false;
      copying.resume();
    });
  }
}

async function copyFiles(server: Replication, into: string, receiver: Receiver) {
  const file = createWriteStream(join(into, ARCHIVE), { mode: 0o600, flush: true });
  const written = pipeline(receiver.archive, createZstdCompress(), file);
  written.catch(() => {});
  try {
    const copied = server.run(COMMAND, (message, copying) => receiver.take(message, copying));
    const rows = await Promise.race([copied, written.then(() => copied)]);
    receiver.archive.end();
    await written;
    return rows;
  } catch (error) {
    receiver.archive.destroy();
    throw error;
  }
}

/**
 * Writes a backup of the server of `url` to `dir`. What is not finished has another name and is removed.
 * @throws BackupError, or the server's or the disk's error.
 */
export async function takeBackup(
  options: { readonly url: string; readonly dir: string; readonly name: string },
  progress: (bytes: bigint) => void,
): Promise<Backup> {
  const { url, dir, name } = options;
  const facts = await readFacts(url);
  const server = await connectReplication(url);
  const fresh = `${baseFolder(dir, name)}.unfinished`;
  try {
    const [identity] = await server.run('IDENTIFY_SYSTEM');
    const system_id = identity?.[0] ?? '';
    claimFolder(dir, system_id);
    mkdirSync(fresh, { mode: 0o700 });
    const receiver = new Receiver(progress);
    const rows = await copyFiles(server, fresh, receiver);
    writeFileSync(join(fresh, MANIFEST), Buffer.concat(receiver.manifest), { mode: 0o600, flush: true });
    const [start, timeline] = rows[0] ?? [];
    const backup: Backup = {
      ...{ name, system_id, ...facts, bytes: receiver.bytes, ended_at: (await readClock(url)).toISOString() },
      ...{ start: start ?? '', timeline: Number(timeline), end: rows.at(-1)?.[0] ?? '' },
    };
    writeFileSync(join(fresh, 'backup.json'), `${JSON.stringify(backup, null, 2)}\n`, { flush: true });
    renameSync(fresh, baseFolder(dir, name));
    return backup;
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    throw error;
  } finally {
    await server.end();
  }
}
