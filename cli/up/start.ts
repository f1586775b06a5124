// What every part of `make up` works with.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Config } from '@svc/core/kernel/index.ts';
import type { Board } from './board.ts';
import type { Interruption } from './interruption.ts';

/** The top folder of the repository. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** The start cannot continue, for a reason that the person at the terminal can fix. */
export class CannotStart extends Error {}

export interface Stop {
  readonly name: string;
  /** Stopping it is not worth a line of output. */
  readonly quiet?: boolean;
  run(): Promise<void>;
}

export interface Start {
  readonly config: Config;
  readonly dataDir: string;
  readonly interruption: Interruption;
  readonly board: Board;
  /** How to stop what has been started; run in reverse order. */
  readonly stops: Stop[];
}

/** The text of a file, or null when it cannot be read. */
export function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
