// A child of a test must not outlive the test, however that ends: afterAll does not run in a process that was killed.
import { spawn } from 'node:child_process';

/**
 * Sends `signal` to process `pid` as soon as this process is gone; a shell of a few hundred KiB waits for that. It reads
 * a pipe that only this process writes to, and in a session of its own it is not reached by the Ctrl-C that ends us.
 * The watch ends with `ended`, so that the number is not another process's by then.
 */
export function endWithUs(
  pid: number,
  ended: Promise<unknown>,
  signal: 'KILL' | 'QUIT' | 'INT' = 'KILL',
): void {
  const watch = spawn('sh', ['-c', 'read -r _; kill -s "$2" "$1"', 'watch', String(pid), signal], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watch.unref();
  // The pipe must not keep us from ending either.
  (watch.stdin as unknown as { unref(): void }).unref();
  const stop = () => watch.kill('SIGKILL');
  ended.then(stop, stop);
}
