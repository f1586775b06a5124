// Which ledger an organization's books are in: chosen when it is created, and then read from its row.
import { type Context, type Db, type Id, type Shards, sha256 } from '../kernel/index.ts';
import { readShard } from './store.ts';

/**
 * The shard of a new organization: one of the open shards, evenly distributed and always the same for one
 * id. @throws Error where none is open.
 */
export function placeFor(id: Id<'org'>, { open }: Pick<Shards, 'open'>): string {
  const shard = open[sha256(id).readUInt32BE(0) % open.length];
  if (shard === undefined) throw new Error('no shard of the ledger is open to new organizations');
  return shard;
}

/** The ledger with the books of `org_id`. Its row is not read where there is only one ledger. */
export async function ledgerOf(context: Pick<Context, 'db' | 'shards'>, org_id: Id<'org'>): Promise<Db> {
  const { db, shards } = context;
  const [only, ...others] = shards.names;
  const name = only !== undefined && others.length === 0 ? only : await readShard(db, org_id);
  return shards.at(name);
}
