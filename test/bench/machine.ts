// What the bench asks of the machine: processes on a chosen core, their CPU and memory from /proc, the disk.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fdatasyncSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { endWithUs } from '../support/watch.ts';

/** The kernel counts process times in ticks of 10 ms whatever its own clock rate (USER_HZ). */
const TICK_US = 10_000;

export type Core = 'gateway' | 'rest';

/** Whether processes can be pinned: two cores and `taskset`. */
export const pinned = availableParallelism() >= 2 && spawnSync('taskset', ['--version']).status === 0;

function onCore(core: Core, command: readonly string[]): string[] {
  return pinned ? ['taskset', '-c', core === 'gateway' ? '0' : '1', ...command] : [...command];
}

/** Starts `node file …args` on a core with an IPC channel. */
export function startNode(args: {
  core: Core;
  flags?: readonly string[];
  file: string;
  args?: readonly string[];
  env?: NodeJS.ProcessEnv;
}): ChildProcess {
  const [program, ...rest] = onCore(args.core, [
    process.execPath,
    ...(args.flags ?? []),
    args.file,
    ...(args.args ?? []),
  ]);
  const child = spawn(program as string, rest, {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: args.env ?? process.env,
  });
  endWithUs(child.pid as number, once(child, 'exit'));
  return child;
}

/** The object that `child` prints as its first line of JSON. @throws Error when it ends before. */
export function firstLine<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    child.once('exit', (code) => reject(new Error(`a process of the bench ended with ${code}`)));
    lines.on('line', (line) => {
      if (line.startsWith('{')) resolve(JSON.parse(line) as T);
    });
  });
}

/** Ends `child` and resolves when it has ended. */
export function endProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const hard = setTimeout(() => child.kill('SIGKILL'), 10_000);
    child.once('exit', () => {
      clearTimeout(hard);
      resolve();
    });
    child.kill(signal);
  });
}

/** The fields of /proc/<pid>/stat after the command name; [1] is the parent. */
function statOf(pid: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

/** User and system time of a process with all its threads, in microseconds. */
export function cpuMicros(pid: number): number {
  const stat = statOf(pid);
  if (stat === null) throw new Error(`process ${pid} has ended`);
  return (Number(stat[11]) + Number(stat[12])) * TICK_US;
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && statOf(pid)?.[1] === String(parent));
}

/** The same over a process, its children, and its children that have ended (a PostgreSQL server). */
export function treeCpuMicros(pid: number): number {
  const own = statOf(pid);
  if (own === null) throw new Error(`process ${pid} has ended`);
  const ended = (Number(own[13]) + Number(own[14])) * TICK_US;
  return childrenOf(pid).reduce((sum, child) => {
    const stat = statOf(child);
    return stat === null ? sum : sum + (Number(stat[11]) + Number(stat[12])) * TICK_US;
  }, cpuMicros(pid) + ended);
}

/** Moves a running process and its children to a core. */
export function pinTree(pid: number, core: Core): void {
  if (!pinned) return;
  for (const each of [pid, ...childrenOf(pid)])
    spawnSync('taskset', ['-cp', core === 'gateway' ? '0' : '1', String(each)]);
}

/** Resident memory now and at its peak, in KB. */
export function memoryKb(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
  return { now: read('VmRSS'), peak: read('VmHWM') };
}

/** How long this disk takes to make an appended 8 KB block durable. */
export function probeFdatasync(dir: string, writes: number): { p50_ms: number; p99_ms: number } {
  const file = join(dir, 'fdatasync.probe');
  const fd = openSync(file, 'w');
  const block = Buffer.alloc(8192, 1);
  const ms: number[] = [];
  try {
    for (let i = 0; i < writes; i++) {
      const start = performance.now();
      writeSync(fd, block);
      fdatasyncSync(fd);
      ms.push(performance.now() - start);
    }
  } finally {
    closeSync(fd);
    rmSync(file);
  }
  ms.sort((a, b) => a - b);
  return { p50_ms: ms[Math.floor(writes * 0.5)] as number, p99_ms: ms[Math.floor(writes * 0.99)] as number };
}
