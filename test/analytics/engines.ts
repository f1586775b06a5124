// Both engines of rows with the same things to do, for tests that ask the same of each.
import { type ClickHouse, openClickHouse } from '@svc/core/analytics/clickhouse/client.ts';
import { listSubjectCalls } from '@svc/core/analytics/clickhouse/read-store.ts';
import { clickHouseReader } from '@svc/core/analytics/clickhouse/reader.ts';
import { dropDays } from '@svc/core/analytics/clickhouse/tables-store.ts';
import { clickHouseSink, unlinkRows } from '@svc/core/analytics/clickhouse/write-store.ts';
import { postgresReader, postgresSink } from '@svc/core/analytics/engine/postgres.ts';
import type { RowReader, RowSink } from '@svc/core/analytics/engine/types.ts';
import { dropOldDays } from '@svc/core/analytics/store.ts';
import { lockSubjectCalls, unlinkCalls } from '@svc/core/analytics/subjects/store.ts';
import { createPool, type Pool } from '@svc/core/db/index.ts';
import type { Id } from '@svc/core/kernel/index.ts';
import { sharedClickHouse } from '../sim/clickhouse/start.ts';
import { createTestDatabase } from '../support/database.ts';
import { atFileEnd } from '../support/ends.ts';

export interface Engine {
  readonly name: string;
  readonly reader: RowReader;
  readonly sink: RowSink;
  /** Unlinks all calls of a subject; returns their ids. */
  erase(subject: { org_id: Id<'org'>; subject_hash: string }): Promise<string[]>;
  dropDays(at: Date): Promise<number>;
}

const EVER = new Date(8_640_000_000_000);

export function postgresEngine(pool: Pool): Engine {
  return {
    name: 'postgres',
    reader: postgresReader(pool),
    sink: postgresSink(pool),
    erase: (subject) =>
      pool.transaction(async (db) => {
        const calls = await lockSubjectCalls(db, { ...subject, until: EVER, limit: 10_000 });
        const ids = calls.map(({ request_id }) => request_id);
        await unlinkCalls(db, ids);
        return ids;
      }),
    dropDays: (at) => dropOldDays(pool, at),
  };
}

export function clickHouseEngine(db: ClickHouse): Engine {
  return {
    name: 'clickhouse',
    reader: clickHouseReader(db),
    sink: clickHouseSink(db),
    async erase(subject) {
      const calls = await listSubjectCalls(db, { ...subject, until: EVER, limit: 10_000 });
      const request_ids = calls.map(({ request_id }) => request_id);
      await unlinkRows(db, { org_id: subject.org_id, request_ids });
      return request_ids;
    },
    dropDays: (at) => dropDays(db, at),
  };
}

export interface Engines {
  readonly pool: Pool;
  readonly clickhouse: ClickHouse;
  readonly url: string;
  readonly both: readonly [Engine, Engine];
}

/** A database in each, closed at the end of the file. */
export async function openEngines(): Promise<Engines> {
  const pool = createPool(await createTestDatabase(), { max: 4 });
  atFileEnd(() => pool.end());
  const url = await sharedClickHouse();
  const clickhouse = openClickHouse(url);
  atFileEnd(() => clickhouse.close());
  return { pool, clickhouse, url, both: [postgresEngine(pool), clickHouseEngine(clickhouse)] };
}
