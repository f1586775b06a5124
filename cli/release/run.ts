// Runs the programs that a release is made with.
import { execFile } from 'node:child_process';
import { dirname } from 'node:path';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const OUTPUT_MAX = 64 * 1024 * 1024;

/** npm is run by the Node that it came with, not by the one that lies in node_modules. */
function outsidePath(): string {
  const own = dirname(process.execPath);
  return (process.env['PATH'] ?? '')
    .split(':')
    .filter((folder) => folder !== own && !folder.includes('node_modules'))
    .join(':');
}

/** Runs `program` to its end, whatever its exit code. */
export function ran(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<Ran> {
  const env = { ...process.env, PATH: outsidePath(), ...options.env };
  return new Promise((done) => {
    execFile(program, args, { cwd: options.cwd, env, maxBuffer: OUTPUT_MAX }, (error, stdout, stderr) => {
      const failed = typeof error?.code === 'number' ? error.code : 127;
      const code = error === null ? 0 : failed;
      done({ code, stdout, stderr: code === 127 ? `${stderr}${error?.message ?? ''}` : stderr });
    });
  });
}

/** What `program` prints. @throws Error with what it said when its exit code is not 0. */
export async function output(...[program, args, options]: Parameters<typeof ran>): Promise<string> {
  const { code, stdout, stderr } = await ran(program, args, options);
  if (code !== 0)
    throw new Error(`${program} ${args[0] ?? ''} ended with ${code}:\n${(stderr || stdout).slice(-4_000)}`);
  return stdout;
}
