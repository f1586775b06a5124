// `up.json` in the data directory says where everything is that `make up` started. Scripts, tests and `svcctl` read
// it, so its field names are an interface. It exists exactly while the gateway can be called.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ShownSettings } from '../shown-settings.ts';

/** What is known when the gateway answers. */
export interface UpBase {
  readonly base_url: string;
  readonly sandbox_key: string;
  readonly live_key: string;
  readonly org_id: string;
  readonly project_id: string;
  readonly console_login: { readonly email: string; readonly password: string };
  /** The demo organization in India, which pays over rail-a. */
  readonly demo_in: {
    readonly live_key: string;
    readonly console_login: { readonly email: string; readonly password: string };
  };
  readonly database_url: string;
  /** What its programs were started with, secrets masked. */
  readonly settings: ShownSettings;
}

/** What further programs add when they are ready. */
export interface UpFields {
  /** GraphQL for organizations, and the console. */
  readonly admin_url?: string;
  readonly staff_url?: string;
  /** `host:port` of the workflow server. */
  readonly temporal_address?: string;
  /** Its web UI; absent for a server that the user runs. */
  readonly temporal_ui_url?: string;
  /** The simulated payment rail. */
  readonly rail_url?: string;
  readonly portal_url?: string;
}

export interface ProgramState {
  readonly name: string;
  readonly state: 'starting' | 'ready' | 'restarting' | 'missing';
  readonly address: string;
  readonly pid: number | null;
  /**
   * Address that answers 200 when the program is ready; null when it has none and only its process can be checked.
   */
  readonly health_url: string | null;
  /** Why it is not ready and what to do; null when it is ready. */
  readonly detail: string | null;
}

export interface UpFile extends UpBase, UpFields {
  readonly processes: readonly { readonly name: string; readonly pid: number; readonly address: string }[];
  /** Everything that should run, including what could not be started. */
  readonly programs: readonly ProgramState[];
}

/** Path of the file in `dataDir`. */
export function upPath(dataDir: string): string {
  return join(dataDir, 'up.json');
}

/** What currently runs on `dataDir`, or null. */
export function readUpFile(dataDir: string): UpFile | null {
  try {
    return JSON.parse(readFileSync(upPath(dataDir), 'utf8')) as UpFile;
  } catch {
    return null;
  }
}

/** Writes the file atomically, readable only by its owner: it holds keys. */
export function writeUpFile(dataDir: string, file: UpFile): void {
  const fresh = `${upPath(dataDir)}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
  renameSync(fresh, upPath(dataDir));
}
