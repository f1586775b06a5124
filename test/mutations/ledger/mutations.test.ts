import { compareWithModel, interleave } from '@svc/core/ledger/model/run.ts';
import pg from 'pg';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../support/database.ts';
import { MUTATIONS, type Mutation } from './mutations.ts';

/** Applies `mutation` to the database at `url`. @throws Error when its place is not found exactly once. */
async function mutate(url: string, mutation: Mutation): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ source: string }>(
      `select pg_get_functiondef(oid) as source from pg_proc
        where pronamespace = 'ledger'::regnamespace and proname = $1`,
      [mutation.function],
    );
    // White space does not count, so that the mutations survive reformatting.
    const pattern = mutation.from
      .split(/\s+/)
      .map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('\\s+');
    const source = rows[0]?.source ?? '';
    if ([...source.matchAll(new RegExp(pattern, 'g'))].length !== 1) {
      throw new Error(`${mutation.function} does not hold this once: ${mutation.from}`);
    }
    await client.query(source.replace(new RegExp(pattern), () => mutation.to));
    if (mutation.without !== undefined) await client.query(mutation.without);
  } finally {
    await client.end();
  }
}

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
