import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{core,gateway,cli,test}/**/*.test.ts'],
    globalSetup: ['test/support/global.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ['default'],
  },
});
