// Runs the longest test files first, so that all workers finish at about the same time. A file's duration is that of
// its last run here, or the one in longest.json in a fresh clone.
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { TestSequencer, TestSpecification } from 'vitest/node';
import { type Durations, readDurations } from './durations.ts';
import { root } from './parts.ts';

/** Durations in seconds of the longest files on two cores, by path; all other files take less. */
export const longest = JSON.parse(readFileSync(join(root, 'test/suite/longest.json'), 'utf8')) as Readonly<
  Record<string, number>
>;

/** The assumed duration of a file about which nothing is known. */
const UNKNOWN_S = 1;

/** `files`, longest first; files of equal duration keep their order. */
export function longestFirst(
  files: readonly string[],
  durations: Durations,
  reported: Readonly<Record<string, number>> = longest,
): string[] {
  const expected = (file: string) => durations[file]?.wall_ms ?? (reported[file] ?? UNKNOWN_S) * 1000;
  return [...files].sort((one, other) => expected(other) - expected(one));
}

export class LongestFirst implements TestSequencer {
  shard(specifications: TestSpecification[]): TestSpecification[] {
    return specifications;
  }

  sort(specifications: TestSpecification[]): TestSpecification[] {
    const byFile = new Map(specifications.map((one) => [relative(root, one.moduleId), one]));
    return longestFirst([...byFile.keys()].sort(), readDurations()).map(
      (file) => byFile.get(file) as TestSpecification,
    );
  }
}
