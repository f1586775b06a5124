// One process of the ledger, as whoever orders it sees it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { NODE_FLAGS } from '../support/entry.ts';
import { endWithUs } from '../support/watch.ts';
import type { Answer, Order } from './operations.ts';

const WORKER = new URL('./worker.ts', import.meta.url).pathname;
const DIED: Answer = { answer: '' };

export interface LedgerProcess {
  /** What its connections are called at the server. */
  readonly application: string;
  /** Resolves without an answer when the process ends first. */
  ask(order: Order): Promise<Answer>;
  /** Resolves when it is gone; the server may still be at work for it. */
  kill(): Promise<void>;
}

/** Starts one; it is ready to be asked. @throws Error when it ends first. */
export async function startLedgerProcess(args: {
  readonly url: string;
  readonly journal_dir: string;
  readonly name: string;
}): Promise<LedgerProcess> {
  const { url, journal_dir, name } = args;
  const child: ChildProcess = spawn(process.execPath, [...NODE_FLAGS, WORKER, url, journal_dir, name], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  endWithUs(child.pid as number, ended);
  const waiting = new Map<number, (answer: Answer) => void>();
  let orders = 0;
  const opened = new Promise<void>((resolve, reject) => {
    void ended.then(() => reject(new Error(`${name} ended before it was open`)));
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const { no, open, ...answer } = JSON.parse(line) as Answer & { no: number; open?: true };
      if (open === true) return resolve();
      waiting.get(no)?.(answer);
      waiting.delete(no);
    });
  });
  void ended.then(() => {
    for (const resolve of waiting.values()) resolve(DIED);
    waiting.clear();
  });
  await opened;
  return {
    application: `svc-ledger ${name}`,
    ask(order) {
      if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(DIED);
      return new Promise((resolve) => {
        const no = orders++;
        waiting.set(no, resolve);
        child.stdin?.write(`${JSON.stringify({ no, ...order })}\n`);
      });
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
