// Runs a Python program of test/clients/python as anybody would.
import { spawn } from 'node:child_process';

/** The JSON that `script` printed. @throws Error with its traceback when it failed. */
export function runPython(
  python: string,
  script: string,
  args: readonly string[],
): Promise<Record<string, unknown>> {
  const file = new URL(`./python/${script}`, import.meta.url).pathname;
  const child = spawn(python, [file, ...args], {
    // No compiled copy of a module beside it in the source tree.
    env: { PATH: process.env['PATH'] ?? '', NO_PROXY: '127.0.0.1', PYTHONDONTWRITEBYTECODE: '1' },
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (piece) => {
    output += piece;
  });
  child.stderr.on('data', (piece) => {
    errors += piece;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0
        ? resolve(JSON.parse(output) as Record<string, unknown>)
        : reject(new Error(`${script} ended with ${code}:\n${errors}`)),
    );
  });
}
