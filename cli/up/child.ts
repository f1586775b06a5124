// Programs that `make up` starts: each in a session of its own, so that Ctrl-C reaches only `make up`, which then
// stops them in reverse order; each with its log in the data directory.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { isRunning, startOf } from './lock.ts';

export interface Child {
  readonly name: string;
  readonly pid: number;
  readonly log: string;
  /** How it ended, in words, once it has. */
  readonly ended: Promise<string>;
  hasEnded(): boolean;
  signal(signal: NodeJS.Signals): void;
}

interface Start {
  readonly name: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Record<string, string | undefined>;
  readonly log: string;
}

/** Starts a Node program under this very Node. @throws Error when it cannot be started at all. */
export async function startChild(start: Start): Promise<Child> {
  const log = openSync(start.log, 'a', 0o600);
  const child = spawn(process.execPath, start.args, {
    cwd: start.cwd,
    env: start.env,
    stdio: ['ignore', log, log],
    detached: true,
  });
  closeSync(log);
  await new Promise<void>((done, fail) => {
    child.once('spawn', () => done());
    child.once('error', fail);
  });
  const ended = new Promise<string>((done) => {
    child.once('exit', (code, signal) => done(signal === null ? `exit code ${code}` : `signal ${signal}`));
  });
  return {
    name: start.name,
    pid: child.pid as number,
    log: start.log,
    ended,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    signal: (signal) => void child.kill(signal),
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

export interface Started {
  readonly name: string;
  readonly pid: number;
  readonly started: string;
}

/** How `child` is told from a later process with the same pid. */
export function identify(child: Child): Started {
  return { name: child.name, pid: child.pid, started: startOf(child.pid) ?? '' };
}

/** Ends programs that a killed `make up` left running; resolves when they are gone. Returns their names. */
export async function reapOrphans(orphans: readonly Started[]): Promise<string[]> {
  const left = orphans.filter(isRunning);
  for (const orphan of left) process.kill(orphan.pid, 'SIGTERM');
  const deadline = performance.now() + 5_000;
  while (left.some(isRunning)) {
    if (performance.now() > deadline) {
      for (const orphan of left.filter(isRunning)) process.kill(orphan.pid, 'SIGKILL');
    }
    await new Promise((done) => setTimeout(done, 20));
  }
  return left.map((orphan) => orphan.name);
}
