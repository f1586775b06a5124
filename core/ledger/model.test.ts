import { test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { compareWithModel } from './model-run.ts';

const url = await createTestDatabase();

test('any sequence of calls, credits, expiries, budgets and sweeps gives what the model gives, and verifies', async () => {
  await compareWithModel(url, { runs: 60 });
}, 60_000);
