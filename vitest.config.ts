import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { durationsReporter } from './test/suite/durations.ts';
import { filesOf } from './test/suite/parts.ts';
import { LongestFirst } from './test/suite/sequencer.ts';

/** Where `make test` wants the report that it counts. */
const report = process.env['TEST_REPORT'];

export default defineConfig(({ mode }) => ({
  resolve: {
    // Node takes this file; Vite would take the other build of the package, and types of one are unknown to the other.
    alias: [
      {
        find: /^graphql$/,
        replacement: fileURLToPath(new URL('node_modules/graphql/index.js', import.meta.url)),
      },
    ],
  },
  test: {
    ...filesOf(mode),
    globalSetup: ['test/support/global.ts'],
    setupFiles: ['test/suite/cpu.ts'],
    sequence: { sequencer: LongestFirst },
    // Programs that tests start are compiled once and not at every start, as under `make up`.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('.cache/compile', import.meta.url)) },
    pool: 'forks',
    maxWorkers: 2,
    // Brakes for what hangs, far above what a busy machine needs; no test tells its own bound by them.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // The default second is no bound of the product: a busy machine needs longer to come to what is waited for.
    expect: { poll: { timeout: 10_000 } },
    reporters: [
      'default',
      durationsReporter(),
      ...(report === undefined ? [] : [['json', { outputFile: report }] as ['json', object]]),
    ],
  },
}));
