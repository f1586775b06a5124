// Programs that `make up` starts. Each runs in a session of its own, so that Ctrl-C reaches only `make up`, which
// then stops them in reverse order. Each has a log in the data directory. children.json names those that run, so that
// none outlives a `make up` that was killed.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Holder, isRunning, startOf } from './lock.ts';

export interface Child {
  readonly name: string;
  readonly pid: number;
  readonly log: string;
  /** Resolves when it has ended, with a description of how. */
  readonly ended: Promise<string>;
  hasEnded(): boolean;
  /** Sends the signal to the program and to what it has started. */
  signal(signal: NodeJS.Signals): void;
}

export interface ChildStart {
  /** Absent: the Node executable that runs this process. */
  readonly program?: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** File that its standard output and standard error are appended to. */
  readonly log: string;
  /** The higher, the more it yields to other processes; at most 19. */
  readonly nice?: number;
  /** The files that it makes are for their owner alone: databases and journals hold what calls and workflows say. */
  readonly private_files?: boolean;
}

/** Starts a program. @throws Error when it cannot be started. */
export async function startChild(name: string, start: ChildStart): Promise<Child> {
  const log = openSync(start.log, 'a', 0o600);
  const usual = process.umask();
  if (start.private_files === true) process.umask(0o077);
  const child = spawn(start.program ?? process.execPath, start.args, {
    cwd: start.cwd,
    env: start.env,
    stdio: ['ignore', log, log],
    detached: true,
  });
  process.umask(usual);
  closeSync(log);
  await new Promise<void>((done, fail) => {
    child.once('spawn', () => done());
    child.once('error', fail);
  });
  const pid = child.pid as number;
  const ended = new Promise<string>((done) => {
    child.once('exit', (code, signal) => done(signal === null ? `exit code ${code}` : `signal ${signal}`));
  });
  if (start.nice !== undefined) {
    try {
      setPriority(pid, start.nice);
    } catch {
      // It has already ended.
    }
  }
  return {
    name,
    pid,
    log: start.log,
    ended,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    signal(signal) {
      try {
        process.kill(-pid, signal);
      } catch {
        // No process of its session is left.
      }
    },
  };
}

/** The last `lines` lines of a log file; empty when there is none. */
export function logTail(path: string, lines = 15): string {
  try {
    return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return '';
  }
}

/** A program as children.json names it. Its start time distinguishes it from a later process with the same pid. */
export interface Started {
  readonly name: string;
  readonly pid: number;
  readonly started: string;
}

interface Children {
  /** The `make up` that started them. */
  readonly up: Holder;
  readonly children: readonly Started[];
}

/** Longer than the five seconds for which the gateway drains. */
const ORPHAN_STOP_MS = 7_000;

const fileOf = (dataDir: string) => join(dataDir, 'children.json');

/** Writes down what runs now, including the database. */
export function recordChildren(dataDir: string, running: readonly { name: string; pid: number }[]): void {
  const children = running.flatMap(({ name, pid }): Started[] => {
    const started = startOf(pid);
    return started === null ? [] : [{ name, pid, started }];
  });
  const up: Holder = { pid: process.pid, started: startOf(process.pid) ?? '' };
  const fresh = `${fileOf(dataDir)}.${process.pid}`;
  writeFileSync(fresh, JSON.stringify({ up, children } satisfies Children), { mode: 0o600 });
  renameSync(fresh, fileOf(dataDir));
}

function readChildren(dataDir: string): Children | null {
  try {
    const read = JSON.parse(readFileSync(fileOf(dataDir), 'utf8')) as Children | Started[];
    // Before there were further programs, the file was only the list.
    return Array.isArray(read) ? { up: { pid: 0, started: '' }, children: read } : read;
  } catch {
    return null;
  }
}

/** Those of these groups that still have a process; zombies do not count. */
function groupsLeft(orphans: readonly Started[]): Started[] {
  const groups = new Set<number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state !== 'Z') groups.add(Number(group));
    } catch {
      // Gone meanwhile.
    }
  }
  return orphans.filter(({ pid }) => groups.has(pid));
}

function send(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch {
    // It has ended meanwhile.
  }
}

/** Ends these programs and what they have started: each has its own session, and so its own process group. */
async function endGroups(orphans: readonly Started[]): Promise<void> {
  for (const { pid } of orphans) send(-pid, 'SIGTERM');
  const began = performance.now();
  for (let left = groupsLeft(orphans); left.length > 0; left = groupsLeft(left)) {
    if (performance.now() - began > ORPHAN_STOP_MS) for (const { pid } of left) send(-pid, 'SIGKILL');
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** SIGINT is a fast shutdown; with SIGTERM PostgreSQL would wait until its clients disconnect. */
async function endDatabases(orphans: readonly Started[]): Promise<void> {
  for (const { pid } of orphans) send(pid, 'SIGINT');
  const began = performance.now();
  while (orphans.some(isRunning)) {
    if (performance.now() - began > ORPHAN_STOP_MS)
      for (const { pid } of orphans.filter(isRunning)) send(pid, 'SIGKILL');
    await new Promise((done) => setTimeout(done, 20));
  }
}

/**
 * Ends programs that a killed `make up` left running, the database after its clients. Resolves with their names when
 * they are gone. With `of`, only programs that the `make up` with this pid started.
 */
export async function reapOrphans(dataDir: string, of?: number): Promise<string[]> {
  const file = readChildren(dataDir);
  if (file === null || (of !== undefined && file.up.pid !== of) || isRunning(file.up)) return [];
  const left = file.children.filter(isRunning);
  const [databases, others] = [true, false].map((is) =>
    left.filter(({ name }) => (name === 'postgres') === is),
  ) as [Started[], Started[]];
  await endGroups(others);
  await endDatabases(databases.filter(isRunning));
  return left.map(({ name }) => name);
}

/**
 * Runs `reapOrphans` as soon as this process has ended without calling the returned function. A small shell reads a
 * pipe that only this process writes to, and so notices its end.
 */
export function guardChildren(dataDir: string): () => void {
  const reap = fileURLToPath(new URL('./reap.ts', import.meta.url));
  const args = [process.execPath, reap, dataDir, String(process.pid)];
  const guard = spawn('sh', ['-c', 'cat >/dev/null; exec "$0" "$@"', ...args], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.once('error', () => {});
  guard.unref();
  return () => {
    guard.kill('SIGKILL');
  };
}
