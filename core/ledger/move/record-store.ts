// What the installation has on record of its shards.
import type { Db } from '../../kernel/index.ts';

type MoveStep = 'copying' | 'following' | 'moved';

export interface ShardRecord {
  readonly name: string;
  /** Null: the place that has the shard's name. */
  readonly place: string | null;
  readonly is_open: boolean;
  readonly moving_from: string | null;
  readonly moving_to: string | null;
  readonly step: MoveStep | null;
}

const COLUMNS = 'name, place, is_open, moving_from, moving_to, step';

/** The shards that anything is on record of. */
export async function readRecords(db: Db): Promise<readonly ShardRecord[]> {
  const { rows } = await db.query<ShardRecord>({
    name: 'ledger.shard_records',
    text: `select ${COLUMNS} from ledger_shard`,
  });
  return rows;
}

/** Seconds since each move that has not ended was begun. */
export async function readMoves(db: Db, at: Date): Promise<Readonly<Record<string, number>>> {
  const { rows } = await db.query<{ name: string; started_at: Date }>({
    name: 'ledger.read_moves',
    text: 'select name, started_at from ledger_shard where step is not null',
  });
  return Object.fromEntries(
    rows.map(({ name, started_at }) => [name, Math.max(0, at.getTime() - started_at.getTime()) / 1_000]),
  );
}

/** Puts a move on record, unless another one is; the one that is there then. */
export async function beginMove(
  db: Db,
  args: { shard: string; from: string; to: string; at: Date },
): Promise<ShardRecord> {
  await db.query({
    name: 'ledger.begin_move',
    text: `insert into ledger_shard (name, moving_from, moving_to, step, started_at) values ($1, $2, $3, 'copying', $4)
           on conflict (name) do update set moving_from = $2, moving_to = $3, step = 'copying', started_at = $4
            where ledger_shard.step is null`,
    values: [args.shard, args.from, args.to, args.at],
  });
  const records = await readRecords(db);
  return records.find(({ name }) => name === args.shard) as ShardRecord;
}

/** Every row of the beginning is in the new place. */
export async function noteFollowing(db: Db, shard: string): Promise<void> {
  await db.query({
    name: 'ledger.note_following',
    text: `update ledger_shard set step = 'following' where name = $1 and step = 'copying'`,
    values: [shard],
  });
}

/** The ledger is in the new place. */
export async function noteMoved(db: Db, args: { shard: string; at: Date }): Promise<void> {
  await db.query({
    name: 'ledger.note_moved',
    text: `update ledger_shard set place = moving_to, step = 'moved', moved_at = $2
            where name = $1 and step in ('copying', 'following')`,
    values: [args.shard, args.at],
  });
}

/** Nothing of the move is left to do. */
export async function endMove(db: Db, shard: string): Promise<void> {
  await db.query({
    name: 'ledger.end_move',
    text: `update ledger_shard set moving_from = null, moving_to = null, step = null, started_at = null where name = $1`,
    values: [shard],
  });
}

/** Opens a shard to new organizations, or closes it to them. */
export async function setOpen(db: Db, args: { shard: string; is_open: boolean }): Promise<void> {
  await db.query({
    name: 'ledger.set_open',
    text: `insert into ledger_shard (name, is_open) values ($1, $2)
           on conflict (name) do update set is_open = excluded.is_open`,
    values: [args.shard, args.is_open],
  });
}
