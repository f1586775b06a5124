// A pool that counts statements and can delay their results, to test readers that must query rarely or that meet a
// change at the worst moment.
import type { Pool, Reach } from '@svc/core/db/index.ts';
import type { Db, Statement } from '@svc/core/kernel/index.ts';

/** `pool`, which tells every statement before it runs: single ones, those of transactions, and those of its ledgers. */
export function tappedPool(pool: Pool, tell: (statement: Statement) => void): Pool {
  const tapped = (db: Db): Db => ({
    query<Row>(statement: Statement) {
      tell(statement);
      return db.query<Row>(statement);
    },
  });
  const reached = (reach: Reach): Reach => ({ db: tapped(reach.db), across: tapped(reach.across) });
  return {
    ...pool,
    shards: { ...pool.shards, at: (name) => tappedPool(pool.shards.at(name), tell) },
    query: tapped(pool).query,
    transaction: (work) => pool.transaction((db) => work(tapped(db))),
    within(org_id) {
      const fence = pool.within(org_id);
      return { ...reached(fence), transaction: (work) => fence.transaction((reach) => work(reached(reach))) };
    },
  };
}

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
