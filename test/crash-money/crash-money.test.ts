import { expect, test } from 'vitest';
import { runMoneyCrash } from './run.ts';

const SEED = 20_261_123;

test('fifty kills under payments, refunds, disputes, debits, plans and gifts lose no money, make none and leave nothing waiting', {
  timeout: 900_000,
}, async () => {
  const lines: string[] = [];
  const report = await runMoneyCrash({ rounds: 50, seed: SEED, progress: (line) => lines.push(line) });
  expect(report.faults, `seed ${SEED}\n${lines.join('\n')}`).toEqual([]);
  expect(report.topups).toBeGreaterThan(100);
  expect(report.refunds).toBeGreaterThan(10);
  expect(report.disputes).toBeGreaterThan(0);
  expect(report.fees).toBeGreaterThan(0);
  expect(report.debits).toBeGreaterThan(0);
  expect(report.gifts).toBeGreaterThan(0);
});
