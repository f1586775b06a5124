// Copies rows of calls from PostgreSQL to ClickHouse, day by day, while calls run (`svcctl analytics backfill`). A day that both
// have is passed over, so a copy that was interrupted goes on where it stopped; a row that is copied twice is there once.
import type { Pool } from '../../db/index.ts';
import { sumMetered } from '../../ledger/index.ts';
import { type ClickHouse, openClickHouse } from '../clickhouse/client.ts';
import { sumOfDay } from '../clickhouse/days-store.ts';
import { holdDay, releaseDay } from '../clickhouse/hours-store.ts';
import { prepareTables } from '../clickhouse/tables-store.ts';
import { type CopiedRow, writeRows } from '../clickhouse/write-store.ts';
import { listAttemptsOf } from '../read-store.ts';
import type { AttemptRow, StoredRow } from '../types.ts';
import { findDays, pageRows, sumRows } from './store.ts';

const DAY_MS = 86_400_000;
const PAGE = 2_000;

export interface CopiedDay {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
  readonly copied: number;
  readonly rows: number;
  readonly cost_micro: number;
  /** What the ledger charged for calls of that day. */
  readonly metered_micro: number;
  /** Both stores have as many rows, and cost is what was metered. Of a day that is not over it may be false for a moment. */
  readonly is_equal: boolean;
}

type Rows = readonly (StoredRow & { readonly stored_at: Date })[];

async function withAttempts(pool: Pool, page: Rows): Promise<CopiedRow[]> {
  const attempts = await listAttemptsOf(
    pool,
    page.map(({ request_id }) => request_id),
  );
  const of_call = Map.groupBy(attempts, ({ request_id }) => request_id);
  return page.map(({ ts: _, ...row }) => ({
    ...row,
    attempt_rows: (of_call.get(row.request_id) ?? []).map(
      ({ ts, request_id: _, ...attempt }): AttemptRow => ({ ...attempt, ts_ms: ts.getTime() }),
    ),
  }));
}

async function metered(pool: Pool, span: { from: Date; until: Date }): Promise<number> {
  const { shards } = pool;
  const sums = await Promise.all(shards.names.map((name) => sumMetered(shards.at(name), span)));
  return sums.reduce((total, { charged_micro }) => total + charged_micro, 0);
}

function daysBetween(first: string, last: string): string[] {
  const days: string[] = [];
  for (let ms = Date.parse(first); ms <= Date.parse(last); ms += DAY_MS)
    days.push(new Date(ms).toISOString().slice(0, 10));
  return days;
}

/**
 * Copies a day whole; returns how many rows. Its sums are not read meanwhile, and neither after a copy that was interrupted:
 * these rows say when they were stored at their source, by which nobody would find that they came late.
 */
async function copyDay(
  { pool, target }: { pool: Pool; target: ClickHouse },
  { day, ...span }: { readonly day: string; readonly from: Date; readonly until: Date },
): Promise<number> {
  let copied = 0;
  await holdDay(target, day);
  for (let after = '', more = true; more; ) {
    const page = await pageRows(pool, { ...span, after, limit: PAGE });
    if (page.length > 0) await writeRows(target, await withAttempts(pool, page), { repeats: false });
    copied += page.length;
    more = page.length === PAGE;
    after = page.at(-1)?.request_id ?? '';
  }
  await releaseDay(target, day);
  return copied;
}

/**
 * Copies the days from `from` to `to`, both included and all that have rows unless given, to the server at `url`; tells each
 * day as it is done. @throws Error of either store; what was copied stays.
 */
export async function* backfill(
  pool: Pool,
  { url, from, to }: { readonly url: string; readonly from: string | null; readonly to: string | null },
): AsyncGenerator<CopiedDay> {
  const target = openClickHouse(url);
  try {
    await prepareTables(target);
    const ever = await findDays(pool);
    if (ever === null) return;
    for (const day of daysBetween(from ?? ever.first, to ?? ever.last)) {
      const span = { from: new Date(day), until: new Date(Date.parse(day) + DAY_MS) };
      const [source, present] = [await sumRows(pool, span), await sumOfDay(target, day)];
      const is_whole = source.rows === present.rows && source.cost_micro === present.cost_micro;
      const copied = is_whole ? 0 : await copyDay({ pool, target }, { day, ...span });
      const [now, there] = [await sumRows(pool, span), await sumOfDay(target, day)];
      const metered_micro = await metered(pool, span);
      const is_equal = now.rows === there.rows && there.cost_micro === metered_micro;
      yield { day, copied, rows: there.rows, cost_micro: there.cost_micro, metered_micro, is_equal };
    }
  } finally {
    await target.close();
  }
}
