import { expect, test } from 'vitest';
import { runMoneyCrash } from './run.ts';

const SEED = 20_261_123;

test('twenty kills under top-ups, refunds and gifts lose no money, make none and leave nothing waiting', {
  timeout: 600_000,
}, async () => {
  const lines: string[] = [];
  const report = await runMoneyCrash({ rounds: 20, seed: SEED, progress: (line) => lines.push(line) });
  expect(report.faults, `seed ${SEED}\n${lines.join('\n')}`).toEqual([]);
  expect(report.topups).toBeGreaterThan(40);
  expect(report.refunds).toBeGreaterThan(5);
});
