// The process of `startLoader`: an order on each line of standard input, what became of it on standard output.
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openRequestLog } from '@svc/core/analytics/index.ts';
import { createPool } from '@svc/core/db/index.ts';
import { type Id, newRequestId, nowMs, readConfig, silentLog } from '@svc/core/kernel/index.ts';
import { openLedger } from '@svc/core/ledger/index.ts';
import { holdOf, settleOf } from '@svc/core/ledger/testing/testing.ts';
import { followClock } from '@svc/core/runtime/index.ts';
import { drawFrom } from '../crash/draw.ts';
import { rowOf } from '../registry/rows.ts';
import type { Loaded, Order } from './loader.ts';

const IN_FLIGHT = 128;
const HOLD_MICRO = 2_000;
const COST_MAX_MICRO = 1_900;

const config = readConfig();
const url = config.database_url as string;
const pool = createPool(url, { max: 4, role: 'svc_runtime', application: 'loader' });
await followClock(pool, silentLog);
const ledger = await openLedger({
  ...{ url, process_name: 'loader', journal_dir: join(config.data_dir, 'journal'), log: silentLog },
});
const rows = await openRequestLog({ db: pool, log: silentLog, spool_dir: join(config.data_dir, 'spool') });
/** Numbers of the projects of callers, which the ledger knows them by. */
const project_nos = new Map<string, number>();

async function projectNo(id: string): Promise<number> {
  const known = project_nos.get(id);
  if (known !== undefined) return known;
  const found = await pool.query<{ live_no: number }>({
    ...{ name: 'soak.project_no', text: 'select live_no from project where id = $1', values: [id] },
  });
  const live_no = found.rows[0]?.live_no as number;
  project_nos.set(id, live_no);
  return live_no;
}

async function load({ calls, seed, callers }: Order): Promise<Loaded> {
  const draw = drawFrom(seed);
  const others: Record<string, number> = {};
  let [begun, booked, cost_micro] = [0, 0, 0];
  const one = async () => {
    const caller = draw.pick(callers);
    const { org_id, project_id, book_id, loader_key } = caller;
    const subject = { book_id, key_no: loader_key.key_no, project_no: await projectNo(project_id) };
    const request_id = newRequestId();
    const held = await ledger.hold(holdOf(subject, HOLD_MICRO, request_id));
    if (held.status !== 'ok') {
      others[held.status] = (others[held.status] ?? 0) + 1;
      return;
    }
    const cost = draw.int(1, COST_MAX_MICRO);
    const { status } = await ledger.settle(settleOf(subject, request_id, cost));
    // One that took over a second goes by way of the journal, and is booked all the same.
    if (status !== 'settled') others[status] = (others[status] ?? 0) + 1;
    const tenant = { org: { id: org_id }, live: { id: project_id }, key_id: loader_key.id as Id<'key'> };
    const row = rowOf(tenant as Parameters<typeof rowOf>[0], { request_id, cost_micro: cost });
    rows.write({ ...row, attempt_rows: row.attempt_rows.map((each) => ({ ...each, ts_ms: nowMs() })) });
    booked++;
    cost_micro += cost;
  };
  const lanes = Array.from({ length: IN_FLIGHT }, async () => {
    while (begun++ < calls) await one();
  });
  await Promise.all(lanes);
  await rows.flush();
  return { booked, cost_micro, others, lost_rows: rows.lost };
}

process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await load(JSON.parse(line) as Order))}\n`);
}
await rows.close();
await ledger.close();
process.exit(0);
