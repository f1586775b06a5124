// What a run of the tests is made of: each suite is one line of its output and some of the figures of the last one.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Counts,
  countVitest,
  crashed,
  failedFiles,
  mergedReport,
  oneCheck,
  unsteadyTests,
} from './counts.ts';
import { leftovers } from './leftovers.ts';
import { root } from './parts.ts';
import { runProgram } from './program.ts';

/** Emergency brakes, far above what a suite takes: a run that hangs must end and say where. */
const LIMIT_MINUTES = { check: 5, all: 45, most: 45, kubernetes: 20 } as const;
/** Most files that run a second time: more that fail are no accident. */
const AGAIN_MAX = 4;

export interface Suite {
  readonly name: string;
  run(): Promise<{ counts: Counts; output: string }>;
}

function check(name: string, args: readonly string[]): Suite {
  return {
    name,
    async run() {
      const { code, output } = await runProgram(args, { limit_minutes: LIMIT_MINUTES.check });
      return { counts: oneCheck(name, code), output: code === 0 ? '' : output };
    },
  };
}

export const types = check('types', ['node_modules/typescript/bin/tsc', '-p', '.']);
export const lint = check('lint', ['node_modules/@biomejs/biome/bin/biome', 'ci', '--colors=off', '.']);

/**
 * The console is compiled for browsers: its documents are typed from the schema, and the browser tests open what it
 * builds, if `built`.
 */
export function consoleSuite(built: boolean): Suite {
  return {
    name: 'console',
    async run() {
      const { code, output } = await runProgram(
        ['console/build.ts', '--quiet', ...(built ? [] : ['--documents'])],
        { limit_minutes: LIMIT_MINUTES.check },
      );
      if (code !== 0) return { counts: oneCheck('console', code), output };
      return check('console', ['node_modules/typescript/bin/tsc', '-p', 'console']).run();
    },
  };
}

/** Part of the test files, see parts.ts. */
export type Part = 'all' | 'most' | 'kubernetes';

/** Runs vitest over `files` of a part, or over all of it; its exit code and JSON report. */
async function vitest(
  part: Part,
  files: readonly string[],
  again: boolean,
): Promise<{ code: number; report: string }> {
  const report = join(root, `.cache/test/vitest-${part}${again ? '-again' : ''}.json`);
  rmSync(report, { force: true });
  const { code } = await runProgram(
    [
      ...['node_modules/vitest/vitest.mjs', 'run', '--mode', part],
      ...(again ? ['--maxWorkers=1'] : []),
      ...files,
    ],
    { live: true, limit_minutes: LIMIT_MINUTES[part], env: { TEST_REPORT: report } },
  );
  return { code, report: readFileSync(report, 'utf8') };
}

/**
 * The test files of one part, of which all or only `files`. Where few of thousands failed, their files run once more
 * with nothing beside them: what passes then was the machine's doing or the test's, and is named as unsteady at the
 * end, to be mended.
 */
export function vitestSuite(name: string, part: Part, files: readonly string[] = []): Suite {
  return {
    name,
    async run() {
      try {
        const first = await vitest(part, files, false);
        const failed = failedFiles(first.report);
        if (failed.length === 0 || failed.length > AGAIN_MAX)
          return { counts: countVitest(first.report, first.code), output: '' };
        process.stdout.write(`${name.padEnd(8)} again, alone: ${failed.length} that failed\n`);
        const second = await vitest(part, failed, true);
        const merged = countVitest(mergedReport(first.report, second.report), second.code);
        return { counts: { ...merged, unsteady: unsteadyTests(first.report, second.report) }, output: '' };
      } catch (error) {
        return {
          counts: crashed(`${name} (${part})`),
          output: `vitest left no report: ${(error as Error).message}`,
        };
      }
    },
  };
}

/** The part that needs the API server, once that is built. Without it, this part counts as one failure. */
export function clusterSuite(apiServer: Promise<unknown>, files: readonly string[] = []): Suite {
  return {
    name: 'cluster',
    async run() {
      try {
        await apiServer;
      } catch (error) {
        return {
          counts: oneCheck('cluster: no test was run, kube-apiserver is missing', 1),
          output: (error as Error).message,
        };
      }
      return vitestSuite('cluster', 'kubernetes', files).run();
    },
  };
}

export const cleanup: Suite = {
  name: 'cleanup',
  async run() {
    const left = await leftovers();
    return {
      counts: oneCheck('cleanup: a test left processes behind', left.length),
      output: left.join('\n'),
    };
  },
};
