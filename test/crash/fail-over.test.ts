// The fault of the crash test, with a fail-over in place of a restart: two real servers, the primary killed under load.
import { expect, test } from 'vitest';
import { runCrash } from './run.ts';

const SEED = 20_261_128;

test('three fail-overs to a synchronous standby under load lose no settle, double none and invent none', {
  timeout: 300_000,
}, async () => {
  const lines: string[] = [];
  const report = await runCrash({
    ...{ rounds: 3, seed: SEED, calls: 150, standby: 'synchronous' },
    kinds: ['postgres', 'settling', 'both'],
    progress: (line) => lines.push(line),
  });
  expect(report.faults, `seed ${SEED}\n${lines.join('\n')}`).toEqual([]);
  expect(report.rounds.map(({ fault }) => fault.kind).sort()).toEqual(['both', 'postgres', 'settling']);
  expect(report.charged_micro_usd).toBeGreaterThan(0);
});

test('an asynchronous standby loses settles whose callers have their answers, and the oracle finds each', {
  timeout: 120_000,
}, async () => {
  const { faults } = await runCrash({
    ...{ rounds: 1, seed: SEED, calls: 150, standby: 'asynchronous', kinds: ['postgres'] },
    quiet_ms_max: 3_000,
  });
  const lost = faults.filter((fault) =>
    fault.includes('was answered with its cost and is not in the ledger'),
  );
  expect(lost.length, faults.join('\n')).toBeGreaterThan(0);
});
