// The shards and places that a command line names.
import type { Pool, ShardAddress, ShardPlaces } from '@svc/core/db/index.ts';
import { readRecords, type ShardRecord } from '@svc/core/ledger/index.ts';
import { UsageError } from '../../command.ts';
import { ledgerPlaces } from '../../installation.ts';

/** The shard `name`. @throws UsageError when SVC_LEDGER_SHARDS does not list it. */
export function getShard(name: string): ShardPlaces {
  const all = ledgerPlaces();
  const found = all.find((shard) => shard.name === name);
  if (found !== undefined) return found;
  throw new UsageError(
    `SVC_LEDGER_SHARDS lists no shard ${JSON.stringify(name)}: ${all.map((one) => one.name).join(', ')}`,
  );
}

/** The place `name` of a shard. @throws UsageError when SVC_LEDGER_SHARDS does not list it. */
export function getPlace({ name: shard, places }: ShardPlaces, name: string): ShardAddress {
  const found = places.find((place) => place.name === name);
  if (found !== undefined) return found;
  throw new UsageError(
    `SVC_LEDGER_SHARDS lists no place ${JSON.stringify(name)} of ${shard}: add it as ${shard}.2=postgres://…, in the settings ` +
      'of all programs, and restart them first',
  );
}

/** What is on record of the shard; null: nothing. */
export async function findRecord(pool: Pool, shard: string): Promise<ShardRecord | null> {
  return (await readRecords(pool)).find(({ name }) => name === shard) ?? null;
}

/** An address without what is secret in it. */
export function masked(url: string): string {
  const to = new URL(url);
  return `${to.host}${to.pathname}`;
}
