// Settles that PostgreSQL has not acknowledged within a second, on disk: one append-only file per process, made when
// first needed and removed when everything in it is booked. Booking is idempotent by request id, so a line too
// many is harmless; a line too few is a lost charge, hence checksum and fsync.

import { readFileSync } from 'node:fs';
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  stat,
  unlink,
  utimes,
} from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { crc32, type Log, newUlid, now, nowMs } from '../../kernel/index.ts';
import type { Settle } from '../types.ts';

const SUFFIX = '.journal';
/** A journal of another host is adopted when its owner has not touched it for so long. */
const FOREIGN_STALE_MS = 600_000;
const HOST = hostname().replaceAll(/[^A-Za-z0-9.-]/g, '_');
/** Files that live clients of this very process own. */
const ours = new Set<string>();

/** Kernel start time of process `pid` ("" when it does not exist), so that a reused pid is not taken for its owner. */
function startOf(pid: number): string {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return line.slice(line.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

/** A file name that says who owns it: host, pid, start of that process, and a nonce. */
function ownName(): string {
  return `${HOST}~${process.pid}~${startOf(process.pid)}~${newUlid()}${SUFFIX}`;
}

async function isOrphan(dir: string, name: string): Promise<boolean> {
  const path = join(dir, name);
  if (!name.endsWith(SUFFIX) || ours.has(path)) return false;
  const [host, pid, start] = name.split('~');
  if (host === HOST) return Number(pid) === process.pid || startOf(Number(pid)) !== start || start === '';
  const found = await stat(path).catch(() => null);
  return found !== null && nowMs() - found.mtimeMs > FOREIGN_STALE_MS;
}

/** One line: checksum, blank, JSON without line breaks. */
function line(value: object): string {
  const text = JSON.stringify(value);
  return `${crc32(text).toString(16).padStart(8, '0')} ${text}\n`;
}

interface JournalContent {
  /** Settles without a later acknowledgement, in order. */
  readonly settles: Settle[];
  /** Lines that cannot be read; one torn line at the end of the file is not counted. */
  readonly damaged: number;
}

/** Reads the text of a journal. */
export function readJournal(text: string): JournalContent {
  const open = new Map<string, Settle>();
  let damaged = 0;
  const lines = text.split('\n');
  for (let i = 0; i < lines.length; i++) {
    const entry = lines[i]!;
    if (entry === '') continue;
    const body = entry.slice(9);
    // A record is complete only with its line break, so the last piece is torn even when its checksum fits.
    const isTorn = i === lines.length - 1;
    if (isTorn || Number.parseInt(entry.slice(0, 8), 16) !== crc32(body)) {
      if (!isTorn) damaged++;
      continue;
    }
    const record = JSON.parse(body) as { settle: Settle } | { booked: string };
    if ('settle' in record) open.set(record.settle.request_id, record.settle);
    else open.delete(record.booked);
  }
  return { settles: [...open.values()], damaged };
}

export class Journal {
  private readonly dir: string;
  private readonly log: Log;
  private file: { handle: FileHandle; path: string; ino: number } | null = null;
  /** Written and not yet booked; the file goes when it is empty. */
  private readonly open = new Map<string, Settle>();
  private writing: Promise<void> = Promise.resolve();

  constructor(dir: string, log: Log) {
    this.dir = dir;
    this.log = log;
  }

  /** Settles on disk that PostgreSQL has not booked yet. */
  get size(): number {
    return this.open.size;
  }

  /** Appends `settles` and resolves when they are on disk. Rejects when the disk refuses; nothing is promised then. */
  append(settles: readonly Settle[]): Promise<void> {
    const done = this.writing.then(() => this.write(settles));
    this.writing = done.catch(() => {});
    return done;
  }

  /** Notes that a settle is booked. The file is removed with the last one. */
  booked(request_id: string): void {
    if (!this.open.delete(request_id)) return;
    this.writing = this.writing
      .then(async () => {
        if (this.file === null) return;
        if (this.open.size === 0) return await this.remove();
        await this.file.handle.appendFile(line({ booked: request_id }));
      })
      .catch((error: unknown) => this.log.warn({ error }, 'journal: an acknowledgement was not written'));
  }

  private async write(settles: readonly Settle[]): Promise<void> {
    // A file that another process took over (it believed us dead) is begun anew with all that is open.
    if (this.file !== null && (await inode(this.file.path)) !== this.file.ino) await this.forget();
    const fresh = this.file === null;
    this.file ??= await this.create();
    const records = fresh ? [...this.open.values(), ...settles] : settles;
    await this.file.handle.appendFile(records.map((settle) => line({ settle })).join(''));
    await this.file.handle.datasync();
    for (const settle of settles) this.open.set(settle.request_id, settle);
  }

  private async create(): Promise<{ handle: FileHandle; path: string; ino: number }> {
    await mkdir(this.dir, { recursive: true });
    const path = join(this.dir, ownName());
    // Ours before it is there: another client of this process would take it for one that nobody owns.
    ours.add(path);
    const handle = await open(path, 'a', 0o600).catch((error: unknown) => {
      ours.delete(path);
      throw error;
    });
    await syncDirectory(this.dir);
    return { handle, path, ino: (await handle.stat()).ino };
  }

  private async forget(): Promise<void> {
    const { file } = this;
    this.file = null;
    if (file === null) return;
    ours.delete(file.path);
    await file.handle.close();
  }

  private async remove(): Promise<void> {
    // Gone before it is no longer ours, for the same reason as in `create`.
    if (this.file !== null) await unlink(this.file.path).catch(() => {});
    await this.forget();
  }

  /** Shows other hosts that the owner lives. */
  async touch(): Promise<void> {
    if (this.file !== null) await utimes(this.file.path, now(), now()).catch(() => {});
  }

  /**
   * Takes over the journals of dead processes in the directory and returns their open settles, which are from now on
   * this journal's own. Renaming is the lock: of two adopters one gets the file.
   */
  async adopt(): Promise<Settle[]> {
    const adopted: Settle[] = [];
    for (const name of await readdir(this.dir).catch(() => [] as string[])) {
      if (!(await isOrphan(this.dir, name))) continue;
      const path = join(this.dir, ownName());
      ours.add(path);
      try {
        await rename(join(this.dir, name), path);
      } catch {
        ours.delete(path);
        continue;
      }
      const { settles, damaged } = readJournal(await readFile(path, 'utf8'));
      if (settles.length > 0) await this.append(settles);
      adopted.push(...settles);
      if (damaged > 0)
        this.log.error({ journal: path, damaged }, 'journal: lines are damaged, the file is kept');
      // Renamed without the suffix it is out of every adopter's way, for a person to look at.
      if (damaged > 0) await rename(path, `${path}.damaged`);
      else await unlink(path);
      ours.delete(path);
    }
    if (adopted.length > 0)
      this.log.info({ settles: adopted.length }, 'journal: settles of dead processes adopted');
    return adopted;
  }

  /** Waits for writes under way and closes the file; it stays on disk while anything is open. */
  async close(): Promise<void> {
    await this.writing;
    if (this.open.size === 0) await this.remove();
    else await this.forget();
  }
}

async function inode(path: string): Promise<number | null> {
  const found = await stat(path).catch(() => null);
  return found?.ino ?? null;
}

/** A new name is durable only when its directory is. */
async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
