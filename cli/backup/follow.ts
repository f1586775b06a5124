// Follows the WAL of a server: every change is in a file of the folder within a second after it was made.
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { BackupError, claimFolder, listBackups, listWal, walFolder } from './folder.ts';
import {
  type Copying,
  connectReplication,
  positionOf,
  type Replication,
  segmentName,
  textOf,
} from './replication.ts';

/** Makes the server keep what this folder has not got yet. */
const SLOT = 'svc_backup';
/** How often what was written is put on the disk and acknowledged. */
const FLUSH_MS = 1_000;
/** Microseconds between 1970 and 2000, from where the protocol counts. */
const EPOCH_US = 946_684_800_000_000n;
const HEADER_BYTES = 25;

/** The segment that is being written. */
interface Open {
  readonly name: string;
  readonly from: bigint;
  readonly fd: number;
}

/** Writes what a server sends into segments: a whole one has its name, the last one `.partial` behind it. */
class SegmentWriter {
  readonly #dir: string;
  readonly #timeline: number;
  readonly #size: bigint;
  #open: Open | null = null;
  #written: bigint;
  #flushed: bigint;

  constructor(options: { dir: string; timeline: number; size: bigint; from: bigint }) {
    this.#dir = walFolder(options.dir);
    this.#timeline = options.timeline;
    this.#size = options.size;
    this.#written = options.from;
    this.#flushed = options.from;
  }

  get written(): bigint {
    return this.#written;
  }

  get flushed(): bigint {
    return this.#flushed;
  }

  /** @throws BackupError when `at` is not where the last bytes ended. */
  write(at: bigint, bytes: Buffer): void {
    if (at !== this.#written)
      throw new BackupError(`The server sent ${textOf(at)} where ${textOf(this.#written)} was due.`);
    let left = bytes;
    while (left.length > 0) {
      const open = this.#open ?? this.#begin();
      const offset = this.#written - open.from;
      const room = Number(this.#size - offset);
      const part = left.subarray(0, room);
      writeSync(open.fd, part, 0, part.length, Number(offset));
      this.#written += BigInt(part.length);
      left = left.subarray(part.length);
      if (part.length === room) this.#finish(open);
    }
  }

  #begin(): Open {
    const from = this.#written - (this.#written % this.#size);
    const name = segmentName(this.#timeline, from, this.#size);
    const path = join(this.#dir, `${name}.partial`);
    // What an earlier run had got of it stays until it is written over by the same bytes.
    const fd = openSync(path, existsSync(path) ? 'r+' : 'w', 0o600);
    // A restore takes files of this size only; what is not written yet reads as the end.
    ftruncateSync(fd, Number(this.#size));
    this.#open = { name, from, fd };
    return this.#open;
  }

  #finish(open: Open): void {
    this.flush();
    closeSync(open.fd);
    renameSync(join(this.#dir, `${open.name}.partial`), join(this.#dir, open.name));
    this.#open = null;
  }

  flush(): void {
    if (this.#open !== null) fdatasyncSync(this.#open.fd);
    this.#flushed = this.#written;
  }

  close(): void {
    this.flush();
    if (this.#open !== null) closeSync(this.#open.fd);
    this.#open = null;
  }
}

/** Where to begin: after the last whole segment, else where the oldest backup needs it, else at what the server keeps. */
function beginning(dir: string, size: bigint, kept: bigint): bigint {
  const last = listWal(dir).whole.at(-1);
  if (last !== undefined) {
    const number = BigInt(`0x${last.slice(8, 16)}`) * (0x1_0000_0000n / size) + BigInt(`0x${last.slice(16)}`);
    return (number + 1n) * size;
  }
  const [oldest] = listBackups(dir);
  const from = oldest === undefined ? kept : positionOf(oldest.start);
  return from - (from % size);
}

/** The size of segments in bytes, of a text such as `16MB`. */
function sizeOf(text: string): bigint {
  const [, number = '16', unit = 'MB'] = /^(\d+)([A-Za-z]*)$/.exec(text) ?? [];
  const units: Readonly<Record<string, bigint>> = { B: 1n, kB: 1_024n, MB: 1_048_576n, GB: 1_073_741_824n };
  return BigInt(number) * (units[unit] ?? 1n);
}

/** Where a timeline ended, because a standby took over or a restore ended there. */
interface Past {
  readonly timeline: number;
  readonly end: bigint;
}

/** Keeps the server's history in the folder, which a restore needs too; the timelines before `timeline`, oldest first. */
async function keepHistory(server: Replication, dir: string, timeline: number): Promise<Past[]> {
  if (timeline === 1) return [];
  const [row] = await server.run(`TIMELINE_HISTORY ${timeline}`);
  if (!row?.[0] || !row[1]) return [];
  writeFileSync(join(walFolder(dir), row[0]), row[1], { mode: 0o600, flush: true });
  return [...row[1].matchAll(/^(\d+)\s+([0-9A-F]+\/[0-9A-F]+)/gm)].map(([, number, end]) => ({
    timeline: Number(number),
    end: positionOf(end as string),
  }));
}

/**
 * On which timeline the segment of `from` is: the server has it under the name of the one that ended in a later segment.
 * Without this a follower that was a segment behind at a fail-over would ask for a file that never was.
 */
function timelineAt(from: bigint, size: bigint, past: readonly Past[], current: number): number {
  return past.find(({ end }) => from / size < end / size)?.timeline ?? current;
}

/** How far this folder is, for the server. */
function standing(writer: SegmentWriter): Buffer {
  const message = Buffer.alloc(34);
  message.write('r', 0, 'latin1');
  message.writeBigInt64BE(writer.written, 1);
  message.writeBigInt64BE(writer.flushed, 9);
  message.writeBigInt64BE(0n, 17);
  message.writeBigInt64BE(BigInt(Date.now()) * 1_000n - EPOCH_US, 25);
  return message;
}

async function keepSlot(server: Replication): Promise<bigint> {
  await server.run(`CREATE_REPLICATION_SLOT ${SLOT} PHYSICAL (RESERVE_WAL true)`).catch((error) => {
    if ((error as { code?: string }).code !== '42710') throw error;
  });
  const [slot] = await server.run(`READ_REPLICATION_SLOT ${SLOT}`);
  return positionOf(slot?.[1] ?? '0/0');
}

export interface Following {
  /** How far the folder is, as the server writes positions. */
  at(): string;
  /** Rejects when it cannot go on: the connection is lost, or the server has not kept what is needed. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

/** Follows the server of `url` into `dir` until stopped. @throws BackupError, or the server's error. */
export async function follow(options: { readonly url: string; readonly dir: string }): Promise<Following> {
  const { url, dir } = options;
  const server = await connectReplication(url);
  try {
    const [identity] = await server.run('IDENTIFY_SYSTEM');
    const newest = Number(identity?.[1]);
    claimFolder(dir, identity?.[0] ?? '');
    const [segment] = await server.run('SHOW wal_segment_size');
    const size = sizeOf(segment?.[0] ?? '');
    const from = beginning(dir, size, await keepSlot(server));
    const timeline = timelineAt(from, size, await keepHistory(server, dir, newest), newest);
    const writer = new SegmentWriter({ dir, timeline, size, from });
    let wire: Copying | null = null;
    const acknowledge = () => {
      writer.flush();
      wire?.send(standing(writer));
    };
    const streamed = server.run(
      `START_REPLICATION SLOT ${SLOT} PHYSICAL ${textOf(from)} TIMELINE ${timeline}`,
      (message, copying) => {
        wire = copying;
        const kind = String.fromCharCode(message[0] ?? 0);
        if (kind === 'w') writer.write(message.readBigInt64BE(1), message.subarray(HEADER_BYTES));
        if (kind === 'k' && message[17] === 1) acknowledge();
      },
    );
    const timer = setInterval(acknowledge, FLUSH_MS);
    const failed = streamed.then(() =>
      Promise.reject(
        new Error(`timeline ${timeline} of the server has ended; what comes next is on another`),
      ),
    );
    failed.catch(() => {
      clearInterval(timer);
      writer.close();
      return server.end();
    });
    return {
      at: () => textOf(writer.flushed),
      failed,
      async stop() {
        clearInterval(timer);
        acknowledge();
        writer.close();
        await server.end();
      },
    };
  } catch (error) {
    await server.end();
    throw error;
  }
}
