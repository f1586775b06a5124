import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/support/database.ts';
import { createPool } from '../../db/index.ts';
import { makeBook } from '../testing/testing.ts';
import { checkpointSigner, takeDailyCheckpoint } from './take.ts';

const pool = createPool(await createTestDatabase(), { max: 4, role: 'svc_runtime' });
afterAll(() => pool.end());
const signer = checkpointSigner(Buffer.alloc(32, 1));
const at = (time: string) => takeDailyCheckpoint(pool, signer, new Date(time));

test('each day has one checkpoint, from five past midnight on; a day that was missed has none', async () => {
  await makeBook(pool, { amount: 100 });
  const taken = [];
  for (const time of [
    '2026-11-21T00:04:59.999Z',
    '2026-11-21T00:05:00.000Z',
    '2026-11-21T00:06:00.000Z',
    '2026-11-21T23:59:59.999Z',
    '2026-11-22T00:04:59.999Z',
    // The processes were off for two days.
    '2026-11-24T17:00:00.000Z',
    '2026-11-24T17:01:00.000Z',
    '2026-11-25T00:05:00.000Z',
  ])
    taken.push(await at(time));
  expect(taken).toEqual([0, 1, 0, 0, 0, 1, 0, 1]);
});
