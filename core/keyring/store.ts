// SQL of sealed values, whosever they are: the one place that reads and writes columns of other concepts, because a rotation
// concerns all of them alike. Names of tables and columns come from the list in the code, never from outside.
import type { Db } from '../kernel/index.ts';

/** A sealed column, as `sealedColumn` describes it. */
interface Column {
  readonly table: string;
  readonly column: string;
  readonly key: readonly string[];
  readonly plain?: string;
}

/** Bytes at the beginning of a sealed value that say under which key it is. */
const HEADER = 8;

/** A value, by what names its row. */
export interface StoredValue {
  readonly row: readonly (string | Buffer)[];
  /** Null: it was never sealed. */
  readonly sealed: Buffer | null;
  readonly plain: Buffer | null;
}

/**
 * Locks at most `limit` values after `after` that are not sealed under the current key, in the order of their rows. Rows that
 * somebody else holds are left out rather than waited for, so that a rotation never stands in a circle of locks.
 */
export async function lockOutdated(
  db: Db,
  { table, column, key, plain }: Column,
  args: { header: Buffer; after: readonly (string | Buffer)[] | null; limit: number },
): Promise<StoredValue[]> {
  const places = key.map((_, at) => `$${at + 3}`);
  const { rows } = await db.query<Record<string, unknown>>({
    name: `keyring.lock_${table}_${column}_${args.after === null ? 'first' : 'next'}`,
    text: `
      select ${key.join(', ')}, ${column} as sealed, ${plain ?? 'null::bytea'} as plain
        from ${table}
       where (substr(${column}, 1, ${HEADER}) <> $1${plain === undefined ? '' : ` or ${plain} is not null`})
         ${args.after === null ? '' : `and (${key.join(', ')}) > (${places.join(', ')})`}
       order by ${key.join(', ')}
       limit $2
       for no key update skip locked`,
    values: [args.header, args.limit, ...(args.after ?? [])],
  });
  return rows.map((found) => ({
    row: key.map((name) => found[name] as string | Buffer),
    sealed: found['sealed'] as Buffer | null,
    plain: found['plain'] as Buffer | null,
  }));
}

/** Writes a value that is locked, sealed anew. */
export async function writeSealed(
  db: Db,
  { table, column, key, plain }: Column,
  value: { row: readonly (string | Buffer)[]; sealed: Buffer },
): Promise<void> {
  await db.query({
    name: `keyring.write_${table}_${column}`,
    text: `
      update ${table} set ${column} = $1${plain === undefined ? '' : `, ${plain} = null`}
       where ${key.map((name, at) => `${name} = $${at + 2}`).join(' and ')}`,
    values: [value.sealed, ...value.row],
  });
}

/** How many values of a column are sealed under each of `headers`; under null those that name none of them. */
export async function countSealed(
  db: Db,
  { table, column, plain }: Column,
  headers: readonly Buffer[],
): Promise<{ header: Buffer | null; values: number }[]> {
  const { rows } = await db.query<{ header: Buffer | null; values: number }>({
    name: `keyring.count_${table}_${column}`,
    text: `
      select case when substr(${column}, 1, ${HEADER}) = any($1) then substr(${column}, 1, ${HEADER}) end as header,
             count(*)::int as values
        from ${table}
       where ${column} is not null${plain === undefined ? '' : ` or ${plain} is not null`}
       group by 1`,
    values: [headers],
  });
  return rows;
}

/** Codes that can still be used, by what they are for and the root key of their hash; null: made before keys were noted. */
export async function countCodes(
  db: Db,
  at: Date,
): Promise<{ codes: string; key_id: Buffer | null; values: number }[]> {
  const { rows } = await db.query<{ codes: string; key_id: Buffer | null; values: number }>({
    name: 'keyring.count_codes',
    text: `
      select 'gifts' as codes, hash_key_id as key_id, count(*)::int as values
        from gift where status in ('pending', 'open') and expires_at > $1 group by 2
      union all
      select 'credit codes', c.hash_key_id, count(*)::int
        from redeem_code c join redeem_batch b using (batch_id)
       where c.redemption_id is null and b.closed_at is null and b.valid_until > $1 group by 2
      union all
      select 'invite codes', hash_key_id, count(*)::int
        from invite_code where revoked_at is null and expires_at > $1 and uses < max_uses group by 2
      union all
      select 'recovery codes', hash_key_id, count(*)::int from recovery_code group by 2`,
    values: [at],
  });
  return rows;
}
