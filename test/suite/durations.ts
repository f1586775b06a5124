// How long each test file took in its last run, kept in .cache/test. The end of a run lists these durations, and the
// next run is ordered by them.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { root } from './parts.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** Of a file: processor time of its process, and of child processes that have ended. */
    cpu_ms?: number;
  }
}

export interface Duration {
  /** From the import of the file to the end of its last hook. */
  readonly wall_ms: number;
  readonly cpu_ms: number;
}

/** By path of the test file in the repository. */
export type Durations = Readonly<Record<string, Duration>>;

export const durationsFile = join(root, '.cache/test/durations.json');

/** The durations in `file`; empty when there is none or it was truncated while being written. */
export function readDurations(file: string = durationsFile): Durations {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Durations;
  } catch {
    return {};
  }
}

/** `kept` updated with what a run has measured, without files that no longer exist. */
export function mergeDurations(
  kept: Durations,
  measured: Durations,
  exists: (file: string) => boolean,
): Durations {
  return Object.fromEntries(Object.entries({ ...kept, ...measured }).filter(([file]) => exists(file)));
}

/** A vitest reporter that stores how long each file of the run took. */
export function durationsReporter(file: string = durationsFile): Reporter {
  const measured: Record<string, Duration> = {};
  return {
    onTestModuleEnd(module: TestModule) {
      const { prepareDuration, setupDuration, collectDuration, duration } = module.diagnostic();
      measured[relative(root, module.moduleId)] = {
        wall_ms: Math.round(prepareDuration + setupDuration + collectDuration + duration),
        cpu_ms: Math.round(module.meta().cpu_ms ?? 0),
      };
    },
    onTestRunEnd() {
      const merged = mergeDurations(readDurations(file), measured, (path) => existsSync(join(root, path)));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `${JSON.stringify(merged, null, 1)}\n`);
    },
  };
}

const seconds = (ms: number) => (ms / 1000).toFixed(1).padStart(6);

/** The `most` longest of `files`, one line each: their duration, and how much of it was processor time. */
export function longestFiles(durations: Durations, files: readonly string[], most: number): string[] {
  return files
    .flatMap((file) => {
      const duration = durations[file];
      return duration === undefined ? [] : [{ file, ...duration }];
    })
    .sort((one, other) => other.wall_ms - one.wall_ms)
    .slice(0, most)
    .map(({ file, wall_ms, cpu_ms }) => `${seconds(wall_ms)} s, processor ${seconds(cpu_ms)} s  ${file}`);
}
