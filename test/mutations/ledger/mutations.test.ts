import { compareWithModel, interleave } from '@svc/core/ledger/model/run.ts';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../support/database.ts';
import { mutate } from './mutate.ts';
import { MUTATIONS, type Mutation } from './mutations.ts';

/** What the ledger's own tests do; two processes are let at it until they collide. */
async function check(url: string, mutation: Mutation): Promise<void> {
  if (mutation.caught_by === 'model') return compareWithModel(url, { runs: 160, seed: 20_261_121 });
  for (let round = 0; round < 12; round++) await interleave(url);
}

test.each(MUTATIONS.map((mutation) => [mutation.name, mutation] as const))(
  'it is noticed when %s',
  async (_, mutation) => {
    const url = await createTestDatabase();
    await mutate(url, mutation);
    await expect(check(url, mutation)).rejects.toThrow();
  },
  120_000,
);
