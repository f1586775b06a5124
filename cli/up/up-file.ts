// `up.json` in the data directory says where everything is that `make up` started. Scripts, tests and `svcctl`
// read it, so its field names are an interface. It is there exactly while the gateway can be called.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface UpFile {
  readonly base_url: string;
  readonly sandbox_key: string;
  readonly live_key: string;
  readonly org_id: string;
  readonly project_id: string;
  readonly database_url: string;
  readonly processes: readonly { readonly name: string; readonly pid: number; readonly address: string }[];
}

/** Path of the file in `dataDir`. */
export function upPath(dataDir: string): string {
  return join(dataDir, 'up.json');
}

/** What runs on `dataDir` now, or null. */
export function readUpFile(dataDir: string): UpFile | null {
  try {
    return JSON.parse(readFileSync(upPath(dataDir), 'utf8')) as UpFile;
  } catch {
    return null;
  }
}

/** Writes the file in one step, readable by its owner alone: it holds keys. */
export function writeUpFile(dataDir: string, file: UpFile): void {
  const fresh = `${upPath(dataDir)}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
  renameSync(fresh, upPath(dataDir));
}
