// The default engine: rows in partitions of PostgreSQL by day, with sums of hours that are over.
import { isDatabaseFault, type Pool } from '../../db/index.ts';
import { type Context, type Db, monotonicMs, nowMs } from '../../kernel/index.ts';
import { listAdvisedCalls } from '../advice/store.ts';
import { sumAppCalls, sumEndpointsOf } from '../days/store.ts';
import * as many from '../read-store.ts';
import { insertLateRows, isLate } from '../roll-up.ts';
import * as one from '../store.ts';
import { pageSubjectCalls } from '../subjects/store.ts';
import { sumOrgs } from '../usage/orgs-store.ts';
import * as usage from '../usage-store.ts';
import { sumPlainApart, sumPlainUsage } from '../values/read-store.ts';
import type { RowReader, RowSink } from './types.ts';

const DAY_MS = 86_400_000;
const DAYS_AHEAD = 3;
const PREPARE_MS = 3_600_000;

/** Reads by `db`, and so as whoever it acts as: the server keeps rows of other organizations from a tenant. */
export function postgresReader(db: Db): RowReader {
  return {
    engine: 'postgres',
    findRow: (args) => one.findRow(db, args),
    findRows: (args) => many.findRows(db, args),
    listAttempts: (request_id) => one.listAttempts(db, request_id),
    listAttemptsOf: (request_ids) => many.listAttemptsOf(db, request_ids),
    listCopies: (of) => many.listCopies(db, of),
    listRows: (args) => one.listRows(db, args),
    listArrivals: (args) => many.listArrivals(db, args),
    listStored: (args) => many.listStored(db, args),
    findArrival: (args) => many.findArrival(db, args),
    findKnown: (request_ids) => many.findKnown(db, request_ids),
    readClock: () => many.readClock(db),
    listAnswered: (args) => many.listAnswered(db, args),
    listAdvisedCalls: (args) => listAdvisedCalls(db, args),
    sumUsage: (filter, by) =>
      usage.isPlain(filter) ? sumPlainUsage(db, filter, by) : usage.sumUsage(db, filter, by),
    sumUsageApart: (filter, by) =>
      usage.isPlain(filter) ? sumPlainApart(db, filter, by) : usage.sumUsageApart(db, filter, by),
    readArrivalLag: (args) => many.readArrivalLag(db, args),
    sumOrgs: (args, by) => sumOrgs(db, args, by),
    countCapacity: (args) => usage.countCapacity(db, args),
    readCosts: (args) => usage.readCosts(db, args),
    listModelsUsed: (of) => usage.listModelsUsed(db, of),
    listUsers: (since) => usage.listUsers(db, since),
    pageSubjectCalls: (args) => pageSubjectCalls(db, args),
    sumEndpoints: (day) => sumEndpointsOf(db, day),
    sumAppCalls: (day) => sumAppCalls(db, day),
  };
}

/** The reader of rows of this installation, for a statement of `context`. */
export function readerOf({ db, services }: Pick<Context, 'db' | 'services'>): RowReader {
  return services.row_reader ?? postgresReader(db);
}

/** Writes to `pool`, and has the partitions of days made ahead. */
export function postgresSink(pool: Pool): RowSink {
  let prepared_ms = Number.NEGATIVE_INFINITY;
  const prepare = async () => {
    if (monotonicMs() - prepared_ms < PREPARE_MS) return;
    const today = nowMs();
    await one.prepareDays(pool, {
      first: new Date(today - DAY_MS).toISOString().slice(0, 10),
      last: new Date(today + DAYS_AHEAD * DAY_MS).toISOString().slice(0, 10),
    });
    prepared_ms = monotonicMs();
  };
  return {
    engine: 'postgres',
    async insert(batch) {
      await prepare();
      const now_ms = nowMs();
      if (batch.some((row) => isLate(row.request_id, now_ms))) await insertLateRows(pool, batch);
      else await one.insertRows(pool, batch);
    },
    addReplays: (counts) => one.addReplays(pool, counts),
    isAway: isDatabaseFault,
  };
}
