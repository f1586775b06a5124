// The worker as a process, and whoever asks it to book a top-up: again and again until that is acknowledged, as a workflow
// repeats its activity.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { NODE_FLAGS } from '../support/entry.ts';
import { bareEnv } from '../support/gateway.ts';
import { endWithUs } from '../support/watch.ts';

/** A paid top-up: booked once, however often it is asked for. */
export interface TopUp {
  readonly reference: string;
  readonly shard: string;
  readonly book_id: number;
  readonly amount_micro_usd: number;
}

export interface WorkerProcess {
  /** Asks once; false: refused, or the worker is gone. */
  book(wanted: TopUp): Promise<boolean>;
  kill(): Promise<void>;
}

/** Starts `entry` and resolves when it takes orders. */
export async function startWorkerProcess(
  entry: string,
  env: Readonly<Record<string, string>>,
): Promise<WorkerProcess> {
  const child: ChildProcess = spawn(process.execPath, [...NODE_FLAGS, entry], {
    env: { ...bareEnv(), ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const asked = new Map<string, (booked: boolean) => void>();
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  endWithUs(child.pid as number, ended);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const ready = new Promise<void>((done, fail) => {
    void ended.then(() => fail(new Error('the worker ended')));
    lines.on('line', (line) => {
      const [word, reference = ''] = line.split(' ', 2);
      if (word === 'ready') return done();
      asked.get(reference)?.(word === 'booked');
    });
  });
  await ready;
  child.stdin?.on('error', () => {});
  void ended.then(() => asked.forEach((answer) => void answer(false)));
  return {
    book(wanted) {
      if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(false);
      return new Promise((done) => {
        asked.set(wanted.reference, done);
        child.stdin?.write(`${JSON.stringify(wanted)}\n`);
      });
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
