import { UsageError } from '../../command.ts';
import { shards } from '../../installation.ts';

/** The address of the database of a ledger; null: of `main`. @throws UsageError when there is none of that name. */
export async function shardUrl(name: string | null): Promise<string> {
  const known = await shards();
  const found = known.find((shard) => shard.name === (name ?? 'main'));
  if (found !== undefined) return found.url;
  throw new UsageError(
    `--shard takes ${known.map(({ name }) => name).join(' or ')}, got ${JSON.stringify(name)}`,
  );
}
