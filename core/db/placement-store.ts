// Where ledgers are: what the installation has on record, and what a place says that its ledger has left.
import type { Db } from '../kernel/index.ts';

/** The place on record of a shard; null: the one that has its name. */
export async function readPlace(db: Db, shard: string): Promise<string | null> {
  const { rows } = await db.query<{ place: string | null }>({
    name: 'db.read_place',
    text: 'select place from ledger_shard where name = $1',
    values: [shard],
  });
  return rows[0]?.place ?? null;
}

/** Where the ledger of this place has gone; null while it is here. */
export async function readMovedTo(ledger: Db): Promise<string | null> {
  const { rows } = await ledger.query<{ place: string }>({
    name: 'db.read_moved_to',
    text: 'select place from ledger.moved',
  });
  return rows[0]?.place ?? null;
}
