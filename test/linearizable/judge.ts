// Has a history judged by porcupine (checker/), which shares nothing with the product or its tests.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { toolPath } from '../support/engine.ts';
import type { History } from './operations.ts';

export interface Verdict {
  readonly book: string;
  readonly verdict: 'Ok' | 'Illegal' | 'Unknown';
  readonly operations: number;
  /** Operations in the longest order that was found. */
  readonly longest: number;
  readonly seconds: number;
}

/** A verdict for each book. With LINEARIZABLE_PICTURES, a folder, a page is left there of each that is not right. */
export async function judge(history: History): Promise<Verdict[]> {
  const program = await toolPath('linearizable');
  const dir = mkdtempSync(join(tmpdir(), 'svc-history-'));
  try {
    const file = join(dir, 'history.json');
    writeFileSync(file, JSON.stringify(history));
    const pictures = process.env['LINEARIZABLE_PICTURES'];
    const args = ['-limit', '60s', ...(pictures === undefined ? [] : ['-picture', pictures]), file];
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const [output, faults, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit') as Promise<[number]>,
    ]);
    if (![0, 1, 3].includes(code)) throw new Error(`the checker failed: ${faults}`);
    return output
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Verdict);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
