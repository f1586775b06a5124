// Three ledgers in two databases: `main` in the installation's own, `a` beside it in a schema of its own, `b` in a
// database that holds nothing else. With TEST_SHARDS=3 (`make test SHARDS=3`) every database of a test has them, the
// organizations of a file are spread over them, and gateways know all three.
import { relative } from 'node:path';
import { databaseAddresses, migrateLedger, type ShardAddress, withLedgerSchema } from '@svc/core/db/index.ts';
import { expect } from 'vitest';
import { startPooler } from '../sim/pooler.ts';
import { root } from '../suite/parts.ts';
import { cluster, furtherLedgers, ledgersOf, sharded, usualLedgers, withClient } from './books.ts';
import { createTestDatabase } from './database.ts';
import { atFileEnd } from './ends.ts';

/** A database and the ledger in it that a file about ledgers works on: of three, the same one in every run. */
export async function createTestLedger(): Promise<string> {
  const url = await createTestDatabase();
  // Of a cluster those at its servers; `main` is as in every other run.
  const all = cluster.length > 0 ? usualLedgers(url).map((ledger) => ledger.url) : ledgersOf(url);
  const path = relative(root, expect.getState().testPath ?? '');
  const letters = [...path].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0);
  return throughPooler(all[letters % all.length] as string);
}

/** With TEST_POOLER=1 the address of a pooler before `url`, that ends with the file; else `url` itself. */
async function throughPooler(url: string): Promise<string> {
  if (process.env['TEST_POOLER'] !== '1') return url;
  const pooler = await startPooler(url);
  atFileEnd(() => pooler.close());
  return databaseAddresses(pooler.url, url).url;
}

/** Makes the further ledgers of a database that is no clone of the template; of one ledger there is nothing to make. */
export async function addUsualLedgers(url: string): Promise<void> {
  for (const { name, url: ledger } of usualLedgers(url)) {
    const database = new URL(ledger).pathname.slice(1);
    if (name === 'b' && cluster.length === 0)
      await withClient(url, (client) => client.query(`create database ${database}`));
    await migrateLedger(ledger);
  }
}

/** The address of a fresh installation, and of the two further ledgers. They are dropped after the file. */
export async function createTestShards(): Promise<{
  readonly database_url: string;
  readonly shards: readonly [ShardAddress, ShardAddress];
}> {
  const database_url = await createTestDatabase();
  if (sharded) return { database_url, shards: furtherLedgers(database_url) };
  const a = { name: 'a', url: withLedgerSchema(database_url, 'ledger_a') };
  const b = { name: 'b', url: withLedgerSchema(await createTestDatabase(), 'ledger_b') };
  for (const { url } of [a, b]) await migrateLedger(url);
  return { database_url, shards: [a, b] };
}
