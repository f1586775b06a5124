// The suites that a test run consists of. Each prints one line and contributes to the counts of the last line.
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
import { runNode } from './program.ts';

/** Time limits far above what a suite needs, so that a run that hangs ends and says where. */
const LIMIT_MINUTES = { check: 5, all: 75, most: 60, kubernetes: 20 } as const;
/** At most this many files are run a second time: if more fail, it is no accident. */
const AGAIN_MAX = 4;

export interface Suite {
  readonly name: string;
  run(): Promise<{ counts: Counts; output: string }>;
}

function check(name: string, args: readonly string[]): Suite {
  return {
    name,
    async run() {
      const { code, output } = await runNode(args, { limit_minutes: LIMIT_MINUTES.check });
      return { counts: oneCheck(name, code), output: code === 0 ? '' : output };
    },
  };
}

export const types = check('types', ['node_modules/typescript/bin/tsc', '-p', '.']);
export const lint = check('lint', ['node_modules/@biomejs/biome/bin/biome', 'ci', '--colors=off', '.']);

/**
 * The console is compiled for browsers. Its documents are typed from the GraphQL schema, and with `built` the console
 * itself is built, which the browser tests open.
 */
export function consoleSuite(built: boolean): Suite {
  return {
    name: 'console',
    async run() {
      const { code, output } = await runNode(
        ['console/build.ts', '--quiet', ...(built ? [] : ['--documents'])],
        { limit_minutes: LIMIT_MINUTES.check },
      );
      if (code !== 0) return { counts: oneCheck('console', code), output };
      return check('console', ['node_modules/typescript/bin/tsc', '-p', 'console']).run();
    },
  };
}

/** A part of the test files, see parts.ts. */
export type Part = 'all' | 'most' | 'kubernetes';

/** Runs vitest on `files` of a part, or on the whole part; returns its exit code and JSON report. */
async function vitest(
  part: Part,
  files: readonly string[],
  again: boolean,
): Promise<{ code: number; report: string }> {
  const report = join(root, `.cache/test/vitest-${part}${again ? '-again' : ''}.json`);
  rmSync(report, { force: true });
  const { code } = await runNode(
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
 * The test files of one part, or only `files` of it. When few files have failed, they run once more with nothing
 * beside them. What passes then failed because of the machine or because the test is unsteady; it is listed at the
 * end as unsteady, to be fixed.
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

/** The part that needs the API server, once that has been built. Without it, this part counts as one failure. */
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
