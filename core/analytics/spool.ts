// Rows on disk while PostgreSQL is away: one file per batch, read oldest first and deleted once its rows are stored.
// Files that a killed process left are taken over by the next process that starts with the same directory.
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newUlid, ulidMs } from '../kernel/index.ts';
import type { RequestRow } from './types.ts';

const NAME = /^rows-([0-9A-HJKMNP-TV-Z]{26})\.json$/;
/** 2,000 batches of at most 500 rows, about 1 GB. Beyond that rows are dropped; they can be rebuilt from metering. */
const FILES_MAX = 2_000;

export interface Spool {
  /** Keeps a batch; false when the spool is full. @throws Error of the file system. */
  put(batch: readonly RequestRow[]): Promise<boolean>;
  /** The oldest batch, or null. An unreadable file is set aside under another name. */
  oldest(): Promise<{ name: string; batch: RequestRow[] } | null>;
  remove(name: string): Promise<void>;
  /** Milliseconds of the oldest row kept, or null when empty. */
  oldestMs(): number | null;
}

/** Opens the spool in `dir`, which is made when missing. */
export async function openSpool(dir: string): Promise<Spool> {
  await mkdir(dir, { recursive: true });
  // A name carries the time of the batch's oldest row, so the lag is known without reading the file.
  const names = (await readdir(dir)).filter((name) => NAME.test(name)).sort();
  return {
    async put(batch) {
      if (names.length >= FILES_MAX) return false;
      const oldest = batch[0]?.request_id ?? newUlid();
      const name = `rows-${oldest.slice(0, 10)}${newUlid().slice(10)}.json`;
      const path = join(dir, name);
      await writeFile(`${path}.part`, JSON.stringify(batch), { mode: 0o600 });
      await rename(`${path}.part`, path);
      names.push(name);
      return true;
    },
    async oldest() {
      for (let name = names[0]; name !== undefined; name = names[0]) {
        try {
          return { name, batch: JSON.parse(await readFile(join(dir, name), 'utf8')) as RequestRow[] };
        } catch {
          // Another process has taken it, or a full disk has cut it: in both cases it cannot be inserted.
          names.shift();
          await rename(join(dir, name), join(dir, `${name}.unreadable`)).catch(() => {});
        }
      }
      return null;
    },
    async remove(name) {
      const at = names.indexOf(name);
      if (at >= 0) names.splice(at, 1);
      await rm(join(dir, name), { force: true });
    },
    oldestMs() {
      const id = names[0] === undefined ? undefined : NAME.exec(names[0])?.[1];
      return id === undefined ? null : ulidMs(id);
    },
  };
}
