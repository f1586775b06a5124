// The tests of pricing alone, without servers: each of some six hundred changes runs those that reach its line.
import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { include: ['core/pricing/*.test.ts'], testTimeout: 60_000 } });
