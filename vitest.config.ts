import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { durationsReporter } from './test/suite/durations.ts';
import { filesSharing } from './test/suite/parts.ts';
import { LongestFirst } from './test/suite/sequencer.ts';

/** Where `make test` wants the report that it counts. */
const report = process.env['TEST_REPORT'];

// Node takes this file; Vite would take the other build of the package, and types of one are unknown to the other.
const graphql = {
  find: /^graphql$/,
  replacement: fileURLToPath(new URL('node_modules/graphql/index.js', import.meta.url)),
};

/** The files that share processes, or those that each have one of their own. */
function project(mode: string, share: boolean) {
  return {
    resolve: { alias: [graphql] },
    test: {
      name: share ? 'shared' : 'alone',
      ...filesSharing(mode, share),
      isolate: !share,
      setupFiles: ['test/suite/setup.ts'],
      // Programs that tests start are compiled once and not at every start, as under `make up`.
      env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('.cache/compile', import.meta.url)) },
      pool: 'forks' as const,
      // Brakes for what hangs, far above what a busy machine needs; no test tells its own bound by them.
      testTimeout: 60_000,
      // Tests that run at once mostly wait, for providers that are slow on purpose; those alone start servers instead.
      maxConcurrency: share ? 16 : 5,
      hookTimeout: 120_000,
      // The default second is no bound of the product: a busy machine needs longer to come to what is waited for.
      expect: { poll: { timeout: 10_000 } },
    },
  };
}

export default defineConfig(({ mode }) => ({
  test: {
    globalSetup: ['test/support/global.ts'],
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('.cache/compile', import.meta.url)) },
    // Twice the cores of the smallest machine: many files wait for clocks, leases and programs.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    projects: [project(mode, false), project(mode, true)],
    reporters: [
      'default',
      durationsReporter(),
      ...(report === undefined ? [] : [['json', { outputFile: report }] as ['json', object]]),
    ],
  },
}));
