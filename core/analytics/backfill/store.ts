// SQL of days in PostgreSQL, for a copy of them.
import type { Db } from '../../kernel/index.ts';
import { ROW_COLUMNS } from '../store.ts';
import type { StoredRow } from '../types.ts';

/** The first and the last UTC day that has a row; null where there is none. */
export async function findDays(db: Db): Promise<{ first: string; last: string } | null> {
  const { rows } = await db.query<{ first: string | null; last: string | null }>({
    name: 'analytics.find_days',
    text: `
      select to_char(min(ts) at time zone 'UTC', 'YYYY-MM-DD') as first,
             to_char(max(ts) at time zone 'UTC', 'YYYY-MM-DD') as last from request_row`,
  });
  const { first = null, last = null } = rows[0] ?? {};
  return first === null || last === null ? null : { first, last };
}

interface Span {
  /** Inclusive. */
  readonly from: Date;
  /** Exclusive. */
  readonly until: Date;
}

/** How many calls began in a span, and what they cost. */
export async function sumRows(db: Db, { from, until }: Span): Promise<{ rows: number; cost_micro: number }> {
  const { rows } = await db.query<{ rows: number; cost_micro: number }>({
    name: 'analytics.sum_rows',
    text: `
      select count(*)::bigint as rows, coalesce(sum(cost_micro), 0)::bigint as cost_micro
        from request_row where ts >= $1 and ts < $2`,
    values: [from, until],
  });
  return rows[0] ?? { rows: 0, cost_micro: 0 };
}

/** Rows of a span in the order of their ids, strictly after `after`, with when they were stored. */
export async function pageRows(
  db: Db,
  { from, until, after, limit }: Span & { readonly after: string; readonly limit: number },
): Promise<(StoredRow & { readonly stored_at: Date })[]> {
  const { rows } = await db.query<StoredRow & { stored_at: Date }>({
    name: 'analytics.page_rows',
    text: `
      select ${ROW_COLUMNS}, replays, coalesce(stored_at, ts) as stored_at from request_row
       where ts >= $1 and ts < $2 and request_id > $3 order by request_id limit $4`,
    values: [from, until, after, limit],
  });
  return rows;
}
