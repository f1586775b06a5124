// Follows a run to its end, with its progress on standard error; Ctrl-C cancels it.
import { setTimeout as pause } from 'node:timers/promises';
import type { Input } from '../command.ts';
import { ask, type RunShown } from './gateway.ts';
import { progressLine } from './words.ts';

const EVERY_MS = 1_000;
/** Without a terminal, a line at most for each of these many parts of a run: logs of CI keep every line. */
const PARTS = 20;

/** Shows how far a run is: on a terminal in one line, else now and then in a new one. */
class Progress {
  private shown = '';
  private part = -1;
  private readonly terminal = process.stderr.isTTY === true;

  show(run: RunShown): void {
    const line = progressLine(run);
    if (line === this.shown) return;
    this.shown = line;
    if (this.terminal) {
      process.stderr.write(`\r\x1b[2K${line}`);
      return;
    }
    const part = Math.floor((run.counts.done * PARTS) / run.counts.total);
    if (part === this.part) return;
    this.part = part;
    process.stderr.write(`${line}\n`);
  }

  end(): void {
    if (this.terminal && this.shown !== '') process.stderr.write('\n');
  }
}

/** The run once it has ended. */
export async function followRun(input: Input, run_id: string): Promise<RunShown> {
  const progress = new Progress();
  const cancel = () => {
    process.stderr.write('\ncancelling: calls under way end and are kept\n');
    const path = `/runs/${run_id}/cancel`;
    // A run that has ended meanwhile refuses; its end is seen all the same.
    void ask(input, { method: 'POST', path }).catch(() => {});
  };
  process.once('SIGINT', cancel);
  process.once('SIGTERM', cancel);
  try {
    for (;;) {
      const run = await ask<RunShown>(input, { method: 'GET', path: `/runs/${run_id}` });
      progress.show(run);
      if (run.finished_at !== null) return run;
      await pause(EVERY_MS);
    }
  } finally {
    process.removeListener('SIGINT', cancel);
    process.removeListener('SIGTERM', cancel);
    progress.end();
  }
}
