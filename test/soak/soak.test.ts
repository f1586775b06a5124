import { expect, test } from 'vitest';
import { beforeMonthEnd, runSoak } from './run.ts';

const SEED = 20_261_128;

test('two hours over the end of a month with deployments, another root key and payments leave right books and nothing waiting', {
  timeout: 400_000,
}, async () => {
  const lines: string[] = [];
  const report = await runSoak({
    ...{ hours: 2, seed: SEED, calls: 600, http_calls: 200, topups: 24 },
    ...{ deploy_hours: 2, key_hours: 2, verify_hours: 1 },
    starts_ms: beforeMonthEnd(2),
    progress: (line) => lines.push(line),
  });
  expect(report.faults, `seed ${SEED}\n${lines.join('\n')}`).toEqual([]);
  expect(report).toMatchObject({ hours: 2, loaded: 600, http_calls: 200, topups: 24, months: 1 });
  expect(report).toMatchObject({ deployments: 2, key_rotations: 1 });
  expect(report.events).toBeGreaterThan(2 * report.topups);
});
