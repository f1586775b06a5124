import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{core,gateway,admin-graphql,workflows,operator,console,cli,charts,test}/**/*.test.ts'],
    globalSetup: ['test/support/global.ts'],
    // Programs that tests start are compiled once and not at every start, as under `make up`.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('.cache/compile', import.meta.url)) },
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ['default'],
  },
});
