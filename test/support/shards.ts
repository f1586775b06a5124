// Three ledgers in two databases: `main` in the installation's own, `a` in another schema of the same database, `b`
// in a database that holds nothing else.
import { migrateLedger, type ShardAddress, withLedgerSchema } from '@svc/core/db/index.ts';
import { createTestDatabase } from './database.ts';

/** The value of SVC_LEDGER_SHARDS for `shards`. */
export function shardsVariable(shards: readonly ShardAddress[]): string {
  return shards.map(({ name, url }) => `${name}=${url}`).join(' ');
}

/** The database URL of a new installation, and its two further ledgers. They are dropped at the end of the file. */
export async function createTestShards(): Promise<{
  readonly database_url: string;
  readonly shards: readonly [ShardAddress, ShardAddress];
}> {
  const database_url = await createTestDatabase();
  const a = { name: 'a', url: withLedgerSchema(database_url, 'ledger_a') };
  const b = { name: 'b', url: withLedgerSchema(await createTestDatabase(), 'ledger_b') };
  for (const { url } of [a, b]) await migrateLedger(url);
  return { database_url, shards: [a, b] };
}
