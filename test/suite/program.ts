// Runs the programs of a test run, one or several at a time, and ends them when the run ends.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { mark } from './leftovers.ts';
import { root } from './parts.ts';

export interface Outcome {
  readonly code: number;
  readonly output: string;
}

/** Environment variables of all programs of the run. */
export const env: NodeJS.ProcessEnv = {
  ...process.env,
  ...mark,
  PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
};
// Colours only on a terminal, not in a log file.
if (!process.stdout.isTTY) {
  env['NO_COLOR'] = '1';
  delete env['FORCE_COLOR'];
}

const children = new Set<{ kill(signal: NodeJS.Signals): boolean }>();

/** Sends `signal` to every running program. */
export function endPrograms(signal: NodeJS.Signals): void {
  for (const child of children) child.kill(signal);
}

/**
 * Runs Node with `args` until it ends. With `live` the output is shown as it comes; otherwise it is kept to report a
 * failure.
 */
export function runNode(
  args: readonly string[],
  options: { readonly live?: boolean; readonly limit_minutes: number; readonly env?: NodeJS.ProcessEnv },
): Promise<Outcome> {
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      if (options.live) process.stdout.write(chunk);
      else output += chunk;
    });
  }
  const limit = setTimeout(() => {
    process.stdout.write(`${args[0]}: ended after ${options.limit_minutes} minutes\n`);
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), 10_000).unref();
  }, options.limit_minutes * 60_000);
  return new Promise((done) => {
    child.once('error', (error) => done({ code: 1, output: error.message }));
    child.once('close', (code) => {
      clearTimeout(limit);
      children.delete(child);
      done({ code: code ?? 1, output });
    });
  });
}
