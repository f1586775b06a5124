// ClickHouse as the reader of rows.
import type { RowReader } from '../engine/types.ts';
import { listAdvisedCalls } from './advised-store.ts';
import { sumUsageApart } from './apart-store.ts';
import type { ClickHouse } from './client.ts';
import * as days from './days-store.ts';
import * as read from './read-store.ts';
import * as sums from './usage-store.ts';

/** Reads from `db`. Nothing but the conditions of a statement keeps organizations apart there: each has one. */
export function clickHouseReader(db: ClickHouse): RowReader {
  return {
    engine: 'clickhouse',
    findRow: async ({ request_id, ...sight }) =>
      (await read.findRows(db, { ...sight, request_ids: [request_id] }))[0] ?? null,
    findRows: (args) => read.findRows(db, args),
    listAttempts: async (request_id) =>
      (await read.listAttemptsOf(db, [request_id])).map(({ request_id: _, ...attempt }) => attempt),
    listAttemptsOf: (request_ids) => read.listAttemptsOf(db, request_ids),
    listCopies: (of) => read.listCopies(db, of),
    listRows: (args) => read.listRows(db, args),
    listArrivals: (args) => read.listArrivals(db, args),
    listStored: (args) => read.listStored(db, args),
    findArrival: (args) => read.findArrival(db, args),
    findKnown: (request_ids) => read.findKnown(db, request_ids),
    readClock: () => read.readClock(db),
    listAnswered: (args) => read.listAnswered(db, args),
    listAdvisedCalls: (args) => listAdvisedCalls(db, args),
    sumUsage: (filter, by) => sums.sumUsage(db, filter, by),
    sumUsageApart: (filter, by) => sumUsageApart(db, filter, by),
    readArrivalLag: (args) => read.readArrivalLag(db, args),
    sumOrgs: (args, by) => sums.sumOrgs(db, args, by),
    countCapacity: (args) => sums.countCapacity(db, args),
    readCosts: (args) => sums.readCosts(db, args),
    listModelsUsed: (of) => sums.listModelsUsed(db, of),
    listUsers: (since) => sums.listUsers(db, since),
    pageSubjectCalls: (args) => read.pageSubjectCalls(db, args),
    sumEndpoints: (day) => days.sumEndpoints(db, day),
    sumAppCalls: (day) => days.sumAppCalls(db, day),
  };
}
