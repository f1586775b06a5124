// Temporal for test files: the shared server of the run, one of the file's own that can be killed, or one that skips
// time.
import { readdirSync, readFileSync } from 'node:fs';
import { freePort } from '@svc/cli/tools/postgres.ts';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { atFileEnd } from './ends.ts';
import { toolPath } from './engine.ts';
import { askEngine } from './engines.ts';
import type { TemporalAddress } from './temporal-server.ts';
import { endWithUs } from './watch.ts';

export {
  startTemporal,
  type TemporalAddress,
  type TemporalOptions,
  type TestTemporal,
} from './temporal-server.ts';

/**
 * The server that all files of this run share; the first file that asks starts it. Each file uses its own task
 * queues.
 */
export function sharedTemporal(): Promise<TemporalAddress> {
  return askEngine('temporal');
}

/** Pid of the child of this process that runs `program` with `port` on its command line; null when there is none. */
function childThatServes(program: string, port: number): number | null {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      if (words[0] === program && words.includes(String(port))) return Number(pid);
    } catch {
      // It has ended meanwhile.
    }
  }
  return null;
}

/** A server that skips time: a sleep of a month passes at once. It is stopped after the last test of the file. */
export async function startTimeSkipping(): Promise<TestWorkflowEnvironment> {
  const path = await toolPath('temporal-test-server');
  const port = await freePort();
  const environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path }, port },
  });
  // The SDK starts this server itself and would leave it behind when this process is killed.
  const pid = childThatServes(path, port);
  let ended: () => void = () => {};
  if (pid !== null) endWithUs(pid, new Promise<void>((done) => (ended = done)));
  atFileEnd(async () => {
    await environment.teardown();
    ended();
  });
  return environment;
}
