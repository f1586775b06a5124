// The worker program as a process, to be killed.
import { type ChildProcess, spawn } from 'node:child_process';
import { atFileEnd } from '../ends.ts';
import { bareEnv } from '../gateway.ts';
import { endWithUs } from '../watch.ts';
import { until } from './until.ts';

const ENTRY = new URL('../../../workflows/main.ts', import.meta.url).pathname;

export interface WorkerProcess {
  readonly pid: number;
  /** SIGTERM; the exit code. */
  stop(): Promise<number | null>;
  /** `kill -9`. */
  kill(): Promise<void>;
  output(): string;
}

function collect(child: ChildProcess): () => string {
  let text = '';
  const add = (piece: Buffer) => {
    text = (text + piece.toString()).slice(-32_768);
  };
  child.stdout?.on('data', add);
  child.stderr?.on('data', add);
  return () => text;
}

/** Starts the worker with `env`; resolves when it says that it is ready. @throws Error when it ends before. */
export async function startWorkerProgram(env: Readonly<Record<string, string>>): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [ENTRY], {
    env: { ...bareEnv(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = collect(child);
  let has_ended = false;
  const ended = new Promise<number | null>((done) =>
    child.once('exit', (code) => {
      has_ended = true;
      done(code);
    }),
  );
  if (child.pid !== undefined) endWithUs(child.pid, ended);
  atFileEnd(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await until('worker ready', () => has_ended || output().includes('worker ready'), 90_000);
  if (has_ended) throw new Error(`the worker ended: ${output()}`);
  return {
    pid: child.pid as number,
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
    output,
  };
}
