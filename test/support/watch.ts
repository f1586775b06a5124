// Ends the child processes of a test however the test ends: afterAll does not run in a process that was killed.
import { spawn } from 'node:child_process';

/**
 * Sends `signal` to process `pid` as soon as this process is gone. A small shell waits for that by reading a pipe
 * that only this process writes to. It runs in a session of its own, so Ctrl-C does not end it too. The watch stops
 * at `ended`, so that a reused pid is never signalled.
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
  // The pipe must not keep this process alive either.
  (watch.stdin as unknown as { unref(): void }).unref();
  const stop = () => watch.kill('SIGKILL');
  ended.then(stop, stop);
}
