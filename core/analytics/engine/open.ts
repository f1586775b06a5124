// The engine of this installation, as its settings name it: PostgreSQL alone, ClickHouse, or both while one takes the place
// of the other.
import type { Pool } from '../../db/index.ts';
import type { Config, Log, RequestId, Services } from '../../kernel/index.ts';
import { type ClickHouse, openClickHouse } from '../clickhouse/client.ts';
import { sumHours } from '../clickhouse/hours-store.ts';
import { listSubjectCalls } from '../clickhouse/read-store.ts';
import { clickHouseReader } from '../clickhouse/reader.ts';
import { dropDays, lookAtTables, prepareTables } from '../clickhouse/tables-store.ts';
import { countOrg, sumOrg } from '../clickhouse/usage-store.ts';
import { clickHouseSink, eraseOrgRows, unlinkRows } from '../clickhouse/write-store.ts';
import { openWriter } from '../log.ts';
import { armSampleColumns } from '../samples/experiments.ts';
import { sampleColumns } from '../samples/samples.ts';
import { shadowSampleColumns } from '../samples/shadows.ts';
import type { RequestLog, RequestRow } from '../types.ts';
import { postgresSink } from './postgres.ts';
import type { RowKeeper } from './types.ts';

type AnalyticsConfig = Pick<Config, 'analytics_url' | 'analytics_dual'>;

export interface Analytics {
  /** What operations and jobs read rows with; nothing where PostgreSQL is all there is. */
  readonly services: Pick<Services, 'row_reader' | 'row_keeper'>;
  /** Opens the request log of this process. */
  openLog(parts: { readonly db: Pool; readonly log: Log; readonly spool_dir: string }): Promise<RequestLog>;
  /** For /readyz: null while rows can be summed, else what is wrong; undefined where PostgreSQL is all there is. */
  readonly look: (() => Promise<string | null>) | undefined;
  close(): Promise<void>;
}

/**
 * Whether canaries, experiments or shadows are judged by the row. Their samples are counted by the statement that stores the
 * row in PostgreSQL, once however often it comes, so such rows are stored there too, in whichever engine rows are read.
 */
function hasSamples(row: RequestRow): boolean {
  return [sampleColumns, armSampleColumns, shadowSampleColumns].some((columns) => columns([row]) !== null);
}

/** A log for each engine, with a spool of its own: one that is away does not keep rows from the other. */
class TwoLogs implements RequestLog {
  readonly #postgres: RequestLog;
  readonly #clickhouse: RequestLog;
  readonly #dual: boolean;
  readonly #read: RequestLog;

  constructor(
    logs: { postgres: RequestLog; clickhouse: RequestLog },
    dual: AnalyticsConfig['analytics_dual'],
  ) {
    this.#postgres = logs.postgres;
    this.#clickhouse = logs.clickhouse;
    this.#dual = dual !== 'off';
    this.#read = dual === 'read-postgres' ? logs.postgres : logs.clickhouse;
  }

  write(row: RequestRow): void {
    this.#clickhouse.write(row);
    if (this.#dual || hasSamples(row)) this.#postgres.write(row);
  }

  replayed(request_id: RequestId): void {
    this.#clickhouse.replayed(request_id);
    if (this.#dual) this.#postgres.replayed(request_id);
  }

  lag_s(): number {
    return this.#read.lag_s();
  }

  get lost(): number {
    return this.#postgres.lost + this.#clickhouse.lost;
  }

  async flush(): Promise<void> {
    await Promise.all([this.#postgres.flush(), this.#clickhouse.flush()]);
  }

  async close(): Promise<void> {
    await Promise.all([this.#postgres.close(), this.#clickhouse.close()]);
  }
}

function keeperOf(db: ClickHouse): RowKeeper {
  return {
    listSubjectCalls: (args) => listSubjectCalls(db, args),
    unlink: (args) => unlinkRows(db, args),
    countOrg: (org_id) => countOrg(db, org_id),
    sumOrg: (org_id) => sumOrg(db, org_id),
    eraseOrg: (org_id) => eraseOrgRows(db, org_id),
    sumHours: (now) => sumHours(db, now),
    dropDays: (at) => dropDays(db, at),
  };
}

/** Opens what `config` names. Programs start while a server is away: its tables are then made before the first row. */
export function openAnalytics({ analytics_url, analytics_dual }: AnalyticsConfig): Analytics {
  const toPostgres: Analytics['openLog'] = ({ db, ...rest }) =>
    openWriter({ sink: postgresSink(db), ...rest });
  if (analytics_url === null) return { services: {}, openLog: toPostgres, look: undefined, async close() {} };
  const db = openClickHouse(analytics_url);
  const row_reader = analytics_dual === 'read-postgres' ? undefined : clickHouseReader(db);
  return {
    services: { row_reader, row_keeper: keeperOf(db) },
    async openLog({ spool_dir, ...parts }) {
      void prepareTables(db).catch(() => {});
      const clickhouse = await openWriter({
        ...{ sink: clickHouseSink(db), log: parts.log },
        spool_dir: `${spool_dir}-clickhouse`,
      });
      const postgres = await toPostgres({ ...parts, spool_dir });
      return new TwoLogs({ postgres, clickhouse }, analytics_dual);
    },
    look: async () => {
      try {
        await lookAtTables(db);
        return null;
      } catch {
        return 'ClickHouse cannot sum rows of calls now: calls go on, and their rows wait on disk';
      }
    },
    close: () => db.close(),
  };
}
