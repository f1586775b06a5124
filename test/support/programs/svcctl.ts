// `svcctl` as a script runs it: a process of its own.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

const bin = new URL('../../../cli/bin/svcctl.js', import.meta.url).pathname;
const bare = {
  PATH: process.env['PATH'] ?? '',
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
};

/** Runs `svcctl ARGS` in an environment of `env` alone; what it printed and its exit code. `interrupt` is Ctrl-C. */
export async function runSvcctl(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { interrupt }: { interrupt?: AbortSignal } = {},
): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [bin, ...args], { env: { ...bare, ...env } });
  interrupt?.addEventListener('abort', () => child.kill('SIGINT'));
  const ended = new Promise<number | null>((done) => child.once('close', done));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, out, err };
}
