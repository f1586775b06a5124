// A pool that counts statements and can delay their results, to test readers that must query rarely or that meet a
// change at the worst moment.
import type { Pool } from '@svc/core/db/index.ts';

/** `pool`, with the statements called `name` counted. Each result waits for what `gate` returns for its statement. */
export function watchedPool(
  pool: Pool,
  name: string,
  gate: (name: string) => Promise<void> | undefined = () => undefined,
): { readonly db: Pool; looked(): number } {
  let looks = 0;
  const db: Pool = {
    ...pool,
    async query<Row>(statement: Parameters<Pool['query']>[0]) {
      if (statement.name === name) looks++;
      const answer = await pool.query<Row>(statement);
      await gate(statement.name);
      return answer;
    },
  };
  return { db, looked: () => looks };
}
