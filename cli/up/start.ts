// What every part of `make up` works with.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Config } from '@svc/core/kernel/index.ts';
import type { Board } from './board.ts';
import type { Interruption } from './interruption.ts';

/** The top folder of the repository. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** A start that cannot go on for a reason that the person at the terminal can mend. */
export class CannotStart extends Error {}

export interface Stop {
  readonly name: string;
  /** Nothing that anybody would miss a word about. */
  readonly quiet?: boolean;
  run(): Promise<void>;
}

export interface Start {
  readonly config: Config;
  readonly dataDir: string;
  readonly interruption: Interruption;
  readonly board: Board;
  /** What has been started, last first to stop. */
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
