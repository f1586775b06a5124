// Puts a mutation into a database.
import pg from 'pg';
import type { Mutation } from './mutations.ts';

/** Applies `mutation` to the database at `url`. @throws Error when its place is not found exactly once. */
export async function mutate(
  url: string,
  mutation: Pick<Mutation, 'function' | 'from' | 'to' | 'without'>,
): Promise<void> {
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
