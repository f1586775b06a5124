import { test } from 'vitest';
import { createTestLedger } from '../../../test/support/shards.ts';
import { compareWithModel, interleave } from './run.ts';

const url = await createTestLedger();

test('any sequence of calls, credits, expiries, budgets and sweeps gives what the model gives, and verifies', async () => {
  await compareWithModel(url, { runs: 25 });
}, 120_000);

test('two processes that want more than a book has leave exactly what they did not spend', async () => {
  await interleave(url);
});
