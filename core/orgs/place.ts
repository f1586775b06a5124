// Which ledger an organization's books are in: chosen when it is created, and then read from its row.
import { type Context, type Db, type Id, sha256 } from '../kernel/index.ts';
import { readLoad, readRecords } from '../ledger/index.ts';
import { readShard } from './store.ts';

/** Calls of so many hours say how busy a ledger is. */
const LOAD_MS = 6 * 3_600_000;

/**
 * One of `open` for a new organization: of two that its id draws, which may be one and the same, that with fewer `calls`. So
 * most come where there is room, and yet those of a busy minute, before anything of theirs is counted, do not all
 * come to one place. Always the same for one id and one count. @throws Error where none is open.
 */
export function placeFor(
  id: Id<'org'>,
  open: readonly string[],
  calls: ReadonlyMap<string, number> = new Map(),
): string {
  const draws = sha256(id);
  const [first, second] = [0, 4].map((at) => open[draws.readUInt32BE(at) % open.length]);
  if (first === undefined || second === undefined)
    throw new Error('no shard of the ledger is open to new organizations');
  return (calls.get(second) ?? 0) < (calls.get(first) ?? 0) ? second : first;
}

/** The shards that take new organizations: open by the settings, and not drained. */
export async function listOpenShards({ db, shards }: Pick<Context, 'db' | 'shards'>): Promise<string[]> {
  const drained = (await readRecords(db)).filter(({ is_open }) => !is_open).map(({ name }) => name);
  return shards.open.filter((name) => !drained.includes(name));
}

/** The shard for the books of a new organization. */
export async function chooseShard(
  { db, shards, now }: Pick<Context, 'db' | 'shards' | 'now'>,
  id: Id<'org'>,
): Promise<string> {
  const [only, ...others] = shards.open;
  if (only !== undefined && others.length === 0) return only;
  return placeFor(
    id,
    await listOpenShards({ db, shards }),
    await readLoad(db, new Date(now().getTime() - LOAD_MS)),
  );
}

/** The ledger with the books of `org_id`. Its row is not read where there is only one ledger. */
export async function ledgerOf(context: Pick<Context, 'db' | 'shards'>, org_id: Id<'org'>): Promise<Db> {
  const { db, shards } = context;
  const [only, ...others] = shards.names;
  const name = only !== undefined && others.length === 0 ? only : await readShard(db, org_id);
  return shards.at(name);
}
