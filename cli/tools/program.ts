// Runs programs for the tools resolver until they end: package managers, compilers, queries for a version.
import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';

export type Progress = (message: string) => void;

export interface Run {
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** 0 to 19; 19 is for work that should yield to everything else. */
  readonly nice?: number;
  readonly limit_ms?: number;
  /** Ends the program when the caller is itself told to end. */
  readonly signal?: AbortSignal | undefined;
}

export interface Ended {
  readonly code: number;
  /** The last 8 KiB of standard output and standard error together. */
  readonly output: string;
}

/** Runs `program` until it ends. A program that cannot be started or takes too long has an exit code other than 0. */
export function runCommand(program: string, run: Run): Promise<Ended> {
  const child = spawn(program, run.args, {
    ...(run.cwd === undefined ? {} : { cwd: run.cwd }),
    ...(run.env === undefined ? {} : { env: run.env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (run.nice !== undefined && child.pid !== undefined) setPriority(child.pid, run.nice);
  let output = '';
  const keep = (chunk: Buffer | string) => {
    output = (output + chunk).slice(-8192);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  // SIGINT, because compilers pass it on to their children.
  const end = () => child.kill('SIGINT');
  run.signal?.addEventListener('abort', end);
  if (run.signal?.aborted) end();
  const timer =
    run.limit_ms === undefined
      ? undefined
      : setTimeout(() => {
          keep(`\nended after ${(run.limit_ms as number) / 60_000} minutes`);
          child.kill('SIGKILL');
        }, run.limit_ms);
  return new Promise((done) => {
    const finish = (code: number) => {
      clearTimeout(timer);
      run.signal?.removeEventListener('abort', end);
      done({ code, output: output.trim() });
    };
    child.once('error', (error) => {
      keep(error.message);
      finish(127);
    });
    child.once('close', (code) => finish(code ?? 1));
  });
}

/** Reports `what` when `work` takes over two seconds, and then every 20 s until it ends. */
export async function withProgress<T>(what: string, progress: Progress, work: Promise<T>): Promise<T> {
  const started = performance.now();
  const first = setTimeout(() => progress(what), 2_000);
  const ticker = setInterval(
    () => progress(`${what}: still at it, ${Math.round((performance.now() - started) / 1000)} s`),
    20_000,
  );
  try {
    return await work;
  } finally {
    clearTimeout(first);
    clearInterval(ticker);
  }
}
