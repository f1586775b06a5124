// The tests that must notice a change to a group of files: `SVC_MUTANTS` has them, and whether they need PostgreSQL.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const { tests, postgres } = JSON.parse(process.env['SVC_MUTANTS'] ?? '{}') as {
  readonly tests: string[];
  readonly postgres: boolean;
};

export default defineConfig({
  // Links of the packages lead to the clone; the files that are changed are those of Stryker's copy.
  resolve: {
    alias: [
      { find: /^@svc\/([a-z-]+)\//, replacement: `${root}$1/` },
      { find: /^graphql$/, replacement: `${root}node_modules/graphql/index.js` },
    ],
  },
  test: {
    include: tests,
    pool: 'forks',
    isolate: false,
    env: {},
    ...(postgres ? { globalSetup: ['test/support/global.ts'], setupFiles: ['test/suite/setup.ts'] } : {}),
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
