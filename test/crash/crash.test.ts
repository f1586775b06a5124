import { expect, test } from 'vitest';
import { runCrash } from './run.ts';

const SEED = 20_261_121;

test('ten rounds of kill -9 under load lose no charge, double none and invent none', {
  timeout: 300_000,
}, async () => {
  const lines: string[] = [];
  const report = await runCrash({ rounds: 10, seed: SEED, calls: 300, progress: (line) => lines.push(line) });
  expect(report.faults, `seed ${SEED}\n${lines.join('\n')}`).toEqual([]);
  expect(report.rounds).toHaveLength(10);
  expect(report.charged_micro_usd).toBeGreaterThan(0);
});
