// The ledgers of the crash test beside the installation's own: in two of its databases, or at two servers of a Citus cluster.
import { migrateLedger, type ShardAddress, spreadLedger, withLedgerSchema } from '@svc/core/db/index.ts';
import { openClusterDatabase } from '../citus/cluster.ts';
import { cluster, furtherLedgers, withClient } from '../support/books.ts';

interface FurtherLedgers {
  readonly shards: readonly ShardAddress[];
  /** The crash of a server that is not the test's to kill: every connection breaks, whatever is under way on it. */
  cut(): Promise<void>;
  close(): Promise<void>;
}

const NONE = { shards: [], cut: async () => {}, close: async () => {} };

/** Two, where they are `wanted`; `urlOf` says where databases of the test's own server are. */
export async function openShards(
  wanted: boolean,
  urlOf: (database: string) => string,
): Promise<FurtherLedgers> {
  if (!wanted) return NONE;
  if (cluster.length > 0) {
    const database = await openClusterDatabase(`svc_crash_${process.pid}`);
    const shards = furtherLedgers(database.url);
    for (const { url } of shards) await spreadLedger(url);
    return { shards, cut: database.cut, close: database.drop };
  }
  await withClient(urlOf('postgres'), (client) => client.query('create database crash_two'));
  const shards = [
    { name: 'a', url: withLedgerSchema(urlOf('crash'), 'ledger_a') },
    { name: 'b', url: withLedgerSchema(urlOf('crash_two'), 'ledger_b') },
  ];
  for (const { url } of shards) await migrateLedger(url);
  return { ...NONE, shards };
}
