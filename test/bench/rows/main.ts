// `make bench-rows`: both engines of rows of calls with the same many rows, and how long each question takes on one core.
//   node test/bench/rows/main.ts [--rows N] [--engine clickhouse|postgres] [--runs 20]
// It needs about 1 GB of disk for ten million rows in ClickHouse and 12 GB in PostgreSQL.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type ClickHouse, openClickHouse } from '@svc/core/analytics/clickhouse/client.ts';
import { sumHours } from '@svc/core/analytics/clickhouse/hours-store.ts';
import { clickHouseReader } from '@svc/core/analytics/clickhouse/reader.ts';
import { prepareTables } from '@svc/core/analytics/clickhouse/tables-store.ts';
import { clickHouseSink } from '@svc/core/analytics/clickhouse/write-store.ts';
import { postgresReader, postgresSink } from '@svc/core/analytics/engine/postgres.ts';
import type { RowReader, RowSink } from '@svc/core/analytics/engine/types.ts';
import { rollUpUsage, sumMissing, sumSpans } from '@svc/core/analytics/index.ts';
import { prepareDays } from '@svc/core/analytics/store.ts';
import { GROUPS_MAX } from '@svc/core/analytics/usage/shape.ts';
import { isSaid } from '@svc/core/analytics/usage/sums-store.ts';
import { usageGroupings } from '@svc/core/analytics/usage.ts';
import { ANY_CALLER } from '@svc/core/analytics/usage-store.ts';
import { createPool, migrate } from '@svc/core/db/index.ts';
import { type Id, newRequestId } from '@svc/core/kernel/index.ts';
import { bucketsOf } from '../../analytics/buckets.ts';
import type { Tenant } from '../../registry/harness.ts';
import { rowOf } from '../../registry/rows.ts';
import { startClickHouse } from '../../sim/clickhouse/start.ts';
import { startTestPostgres } from '../../support/postgres.ts';
import { cpuMicros, treeCpuMicros } from '../machine.ts';
import { DAYS, fillClickHouse, fillPostgres, LARGEST } from './fill-store.ts';

const DAY_MS = 86_400_000;
const STEP = 250_000;
const IDLE_MS = 30_000;
const SUM_RUNS = 3;

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    engine: { type: 'string', default: 'clickhouse' },
    runs: { type: 'string', default: '20' },
  },
});
const rows = Number(values.rows);
const runs = Number(values.runs);
const print = (text: string) => void process.stdout.write(`${text}\n`);
const org_id = LARGEST as Id<'org'>;
const place = { org_id, environment: 'live' as const };
const nothing = {
  ...{ since: null, until: null, project_id: null, key_id: null, model: null, provider: null, status: null },
  ...{ errors_only: false, fallbacks_only: false, min_cost_micro: null, max_cost_micro: null, q: null },
  ...ANY_CALLER,
};

/** Of the server and of this process, microseconds. */
const usedMicros = (server: number) => {
  const { user, system } = process.cpuUsage();
  return treeCpuMicros(server) + user + system;
};

async function timed(server: number, name: string, ask: () => Promise<unknown>): Promise<void> {
  await ask();
  const times: number[] = [];
  const used = usedMicros(server);
  for (let run = 0; run < runs; run++) {
    const began = performance.now();
    await ask();
    times.push(performance.now() - began);
  }
  const cpu_ms = (usedMicros(server) - used) / runs / 1000;
  times.sort((a, b) => a - b);
  const shown = (ms: number) => ms.toFixed(0).padStart(7);
  const at = (share: number) => shown(times[Math.ceil(share * times.length) - 1] as number);
  print(`${name.padEnd(46)} p50 ${at(0.5)} ms   p95 ${at(0.95)} ms   processor ${shown(cpu_ms)} ms`);
}

async function measure(server: number, reader: RowReader, sink: RowSink): Promise<void> {
  const time = (name: string, ask: () => Promise<unknown>) => timed(server, name, ask);
  const to = new Date();
  for (const days of [1, 7, DAYS])
    for (const group of [null, ...usageGroupings]) {
      const filter = { project_id: null, key_id: null, model: null, provider: null, ...ANY_CALLER };
      const range = {
        from: new Date(Math.floor((to.getTime() - days * DAY_MS) / 3_600_000) * 3_600_000),
        to,
      };
      const most = isSaid(group) ? GROUPS_MAX : null;
      const by = { ...bucketsOf(range, 'hour'), group, tag: group === 'tag' ? 'team' : null, most };
      const name = `usage ${days} days by ${group ?? 'nothing'}`;
      await time(name, () => reader.sumUsageApart({ ...place, ...range, ...filter }, by));
      if (group === null) continue;
      await time(`${name} and hour`, () => reader.sumUsage({ ...place, ...range, ...filter }, by));
      // Its calls of one model.
      const of_model = { ...filter, model: 'acme/m-7' };
      await time(`${name}, of a model`, () => reader.sumUsageApart({ ...place, ...range, ...of_model }, by));
    }
  const page = (after: { at: number; id: string } | null, more = {}) =>
    reader.listRows({ ...place, filter: { ...nothing, ...more }, after, limit: 50 });
  await time('the first page of calls', () => page(null));
  await time('a page fifteen days back', () => page({ at: to.getTime() - 15 * DAY_MS, id: '' }));
  await time('the first page of errors of a model', () =>
    page(null, { errors_only: true, model: 'acme/m-7' }),
  );
  const [one] = await page({ at: to.getTime() - 9 * DAY_MS, id: '' });
  await time('one call', () => reader.findRow({ ...place, request_id: one?.request_id as string }));
  const tenant = { org: { id: org_id }, live: { id: 'prj_0' }, key_id: 'key_0' } as unknown as Tenant;
  await time('a batch of 500 rows', () =>
    sink.insert(Array.from({ length: 500 }, () => rowOf(tenant, { request_id: newRequestId() }))),
  );
  const look = async (back_ms: number) => {
    const until = await reader.readClock();
    const from = new Date(until.getTime() - back_ms);
    return reader.listStored({ ...place, filter: nothing, from, until, sent: [], limit: 100 });
  };
  await time('a look of a tail, 5 seconds', () => look(5_000));
  await time('calls of an end user', () =>
    reader.pageSubjectCalls({ org_id, subject_hash: 'u77', after: null, limit: 500 }),
  );
}

/** Each day alone: all together take longer than a statement may. */
async function mergeDays(db: ClickHouse): Promise<void> {
  const days = await db.query<{ partition: string }>({
    name: 'bench.days',
    text: `select distinct partition from system.parts where active and table = 'request_row' and database = 'bench'`,
  });
  for (const { partition } of days)
    await db.run({
      name: 'bench.merge',
      text: `optimize table request_row partition '${partition}' final`,
    });
}

async function onClickHouse(): Promise<void> {
  const server = await startClickHouse(['taskset', '-c', '1']);
  // On one core several threads of a statement only take turns.
  const address = new URL(await server.database('bench'));
  address.searchParams.set('ch_max_threads', '1');
  const db = openClickHouse(address.href);
  await prepareTables(db);
  const until = new Date();
  let began = performance.now();
  for (let from = 0; from < rows; from += STEP)
    await fillClickHouse(db, { from, count: Math.min(STEP, rows - from), until });
  print(`${rows} rows in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  began = performance.now();
  await mergeDays(db);
  print(`days merged in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  began = performance.now();
  let hours = 0;
  // A run sums days for a minute, and what it made is read from the next run on.
  for (let run = 0; run < SUM_RUNS; run++) hours += await sumHours(db, until);
  print(`${hours} hours and their days summed in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  await measure(server.pid, clickHouseReader(db), clickHouseSink(db));
  const size = await db.query<{ mb: number }>({
    name: 'bench.size',
    text: `select round(sum(bytes_on_disk) / 1e6) as mb from system.parts where active and database = 'bench'`,
  });
  print(`${size[0]?.mb} MB on disk`);
  const used = cpuMicros(server.pid);
  await new Promise((done) => setTimeout(done, IDLE_MS));
  print(`idle: ${(((cpuMicros(server.pid) - used) / (IDLE_MS * 1000)) * 100).toFixed(2)} % of a core`);
  await db.close();
  await server.stop();
}

async function onPostgres(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-rows-'));
  const settings = { shared_buffers: '1GB', max_wal_size: '8GB', max_parallel_workers_per_gather: '0' };
  const postgres = await startTestPostgres({ dir, settings });
  const { url } = postgres;
  await migrate(url);
  const pool = createPool(url, { max: 4, answer_ms: 3_600_000 });
  const until = new Date();
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  await prepareDays(pool, {
    first: dayOf(until.getTime() - (DAYS + 1) * DAY_MS),
    last: dayOf(until.getTime() + DAY_MS),
  });
  let began = performance.now();
  for (let from = 0; from < rows; from += STEP)
    await fillPostgres(pool, { from, count: Math.min(STEP, rows - from), until });
  print(`${rows} rows in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  began = performance.now();
  await rollUpUsage(pool, until);
  print(`hours summed in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  began = performance.now();
  while ((await sumMissing(pool)) > 0);
  print(`hours summed by value in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  began = performance.now();
  while ((await sumSpans(pool)) > 0);
  print(`spans made in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  await pool.query({
    name: 'bench.analyze',
    text: 'vacuum analyze request_row, usage_hour, usage_value, usage_span, usage_spanned',
  });
  await measure(postgres.pid, postgresReader(pool), postgresSink(pool));
  const size = await pool.query<{ mb: number }>({
    name: 'bench.size',
    text: 'select round(pg_database_size(current_database()) / 1e6)::int as mb',
  });
  print(`${size.rows[0]?.mb} MB on disk`);
  await pool.end();
  await postgres.stop();
  rmSync(dir, { recursive: true });
}

print(`${rows} rows, ${DAYS} days, 40 organizations; of the largest, on one core, ${runs} runs each`);
if (values.engine === 'postgres') await onPostgres();
else await onClickHouse();
