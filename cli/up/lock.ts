// One `make up` per data directory: two would start two servers on one database cluster. The lock is a file that
// names its holder by pid and start time, so that a lock left by a killed process is recognised even when its pid was
// reused.
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';

export interface Holder {
  readonly pid: number;
  /** Start time of the process in clock ticks since boot, from /proc. */
  readonly started: string;
}

/** When process `pid` started, according to /proc; null when there is no such process or it has ended. */
export function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command name, the second field, may contain spaces and brackets, so fields are counted from its end. The
    // start time is field 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie has ended, although its exit code has not been read yet.
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

/** Whether the process that `holder` names still runs. */
export function isRunning(holder: Holder): boolean {
  return startOf(holder.pid) === holder.started;
}

function readHolder(path: string): Holder | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Holder;
  } catch {
    return null;
  }
}

/** Takes the lock at `path`. Returns null on success, otherwise its holder. */
export function takeLock(path: string): Holder | null {
  const mine: Holder = { pid: process.pid, started: startOf(process.pid) ?? '' };
  for (;;) {
    try {
      const file = openSync(path, 'wx', 0o600);
      writeSync(file, JSON.stringify(mine));
      closeSync(file);
      return null;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = readHolder(path);
    if (holder !== null && isRunning(holder)) return holder;
    rmSync(path, { force: true });
  }
}

/** Releases the lock. */
export function dropLock(path: string): void {
  rmSync(path, { force: true });
}
