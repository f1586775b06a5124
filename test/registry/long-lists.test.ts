// A list of many rows costs at its end what it costs at its beginning: each page is read by an index, and none counts,
// skips or sorts what is before it. Measured in pages of memory that its statements touch (`explain (analyze, buffers)`),
// behind the fence of an organization, as its callers read it. `LONG_LIST_ROWS=100000` for lists of that length.

import {
  type Caller,
  type Context,
  microUsd,
  newRequestId,
  type Statement,
  scopes,
  silentLog,
} from '@svc/core/kernel/index.ts';
import { credit } from '@svc/core/ledger/index.ts';
import { createContext, operations, runOperation } from '@svc/core/operations/index.ts';
import { requestErasure } from '@svc/core/privacy/index.ts';
import { beforeAll, expect, test } from 'vitest';
import { tappedPool } from '../support/watched-pool.ts';
import { makeEvalRows } from './eval-rows.ts';
import { makeGiftRow } from './gift-rows.ts';
import { startHarness } from './harness.ts';
import { rowOf } from './rows.ts';
import { makeMandate, makeTopup } from './topup-rows.ts';
import { makeWebhook } from './webhook-rows.ts';

const ROWS = Number(process.env['LONG_LIST_ROWS'] ?? 4_000);
/** How many times more the dearest page may touch than the first. */
const RATIO_MAX = 1.5;
/** What a page may touch more besides: rows that were written together lie together. Skipping touches thousands. */
const SLACK = 100;

const harness = await startHarness();
const { a, b, pool, context, root_key, request_log } = harness;

interface List {
  readonly operation: string;
  readonly table: string;
  /** What each copy of a row has otherwise, in SQL, where `n` counts the copies: what is unique, and the order. */
  readonly copy: Readonly<Record<string, string>>;
  readonly input?: () => object;
}

const id = (prefix: string) => `'${prefix}_' || lpad(n::text, 26, '0')`;
const ago = (column: string) => `${column} - make_interval(secs => n)`;
const created_at = ago('created_at');
/** The id of another top-up: rows that name one name each another. */
const topup_id = id('tup');

let webhook_id = '';
const lists: readonly List[] = [
  {
    operation: 'keys.list',
    table: 'api_key',
    copy: { id: id('key'), hash: `sha256(n::text::bytea)`, key_no: '1000000 + n', created_at },
  },
  { operation: 'credits.topups.list', table: 'topup', copy: { id: topup_id, created_at } },
  { operation: 'credits.refunds.list', table: 'refund', copy: { id: id('rfd'), topup_id, created_at } },
  {
    operation: 'credits.mandates.list',
    table: 'mandate',
    copy: { id: id('mnd'), status: `'rejected'`, created_at },
  },
  {
    operation: 'credits.gifts.list',
    table: 'gift',
    copy: { id: id('gift'), code_hash: `sha256(n::text::bytea)`, created_at },
  },
  {
    operation: 'credits.ledger',
    table: 'ledger.entry',
    copy: { seq: 'seq + n', ref_id: `'copy ' || n`, created_at: `created_at + make_interval(secs => n)` },
  },
  {
    operation: 'invoices.list',
    table: 'invoice',
    copy: { id: id('inv'), topup_id, number: `'LONG/' || n`, issued_at: ago('issued_at') },
  },
  { operation: 'tickets.list', table: 'ticket', copy: { id: id('tkt'), created_at } },
  { operation: 'evals.suites.list', table: 'eval_suite', copy: { id: id('es'), created_at } },
  { operation: 'evals.runs.list', table: 'eval_run', copy: { id: id('er'), created_at } },
  { operation: 'privacy.requests.list', table: 'data_subject_request', copy: { id: id('dsr'), created_at } },
  {
    operation: 'audit.list',
    table: 'audit_entry',
    copy: { id: '1000000 + n', chain_seq: '1000000 + n', at: ago('at') },
  },
  {
    operation: 'orgs.exports.list',
    table: 'org_export',
    copy: { id: id('oex'), created_at },
    input: () => ({ id: a.org.id }),
  },
  { operation: 'requests.list', table: 'request_row', copy: {} },
  {
    operation: 'webhooks.deliveries',
    table: 'webhook_delivery',
    copy: { id: '1000000 + n', redelivery: 'n', created_at },
    input: () => ({ id: webhook_id }),
  },
];

async function rows<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
  return (await pool.query<Row>({ name: '', text, values })).rows;
}

beforeAll(async () => {
  for (const tenant of [a, b]) {
    await makeTopup(context, tenant);
    await credit(pool, {
      ...{
        book_id: tenant.org.live_book_id,
        kind: 'grant',
        amount_micro_usd: microUsd(1_000),
        granted: true,
      },
      ...{ expires_at: null, ref_type: 'staff', ref_id: `of ${tenant.org.slug}` },
    });
    await makeMandate(context, tenant);
    await makeGiftRow(context, tenant);
    await makeEvalRows(context, tenant);
    await requestErasure(context, { org_id: tenant.org.id, user_id: 'somebody' });
    const { key } = tenant;
    await harness.call('POST', '/v1/tickets', { key, body: { subject: 'Why', body: 'I ask.' } });
    request_log.write(rowOf(tenant));
    await rows(
      `insert into org_export (id, org_id, created_by, created_at, expires_at)
       values ('oex_' || substr($1, 5), $1, 'usr_1', now(), now() + interval '1000 days')`,
      [tenant.org.id],
    );
    const made = await makeWebhook(harness, tenant);
    if (tenant === a) ({ webhook_id } = made);
  }
  await request_log.flush();
});

/** Calls are written as the gateway writes them. */
async function fillCalls(): Promise<void> {
  for (let n = 0; n < ROWS; n++) {
    request_log.write(rowOf(a));
    if (n % 2 === 0) request_log.write(rowOf(b));
    if (n % 1_000 === 0) await request_log.flush();
  }
  await request_log.flush();
}

/** Makes `ROWS` copies of the newest row of acme, and half as many of borealis between them. */
async function fill({ table, copy }: List): Promise<void> {
  const of_book = table === 'ledger.entry';
  const whose = of_book ? 'book_id' : 'org_id';
  for (const [tenant, count, first] of [
    [a, ROWS, 1],
    [b, ROWS / 2, ROWS + 1],
  ] as const) {
    const owner = of_book ? tenant.org.live_book_id : tenant.org.id;
    const set = Object.entries(copy).map(([column, value]) => `'${column}', ${value}`);
    await pool.transaction(async (db) => {
      const run = (text: string, values: unknown[] = []) => db.query({ name: '', text, values });
      // Copies name rows that are not there, and nobody is statements of them.
      await run(`set local session_replication_role = 'replica'`);
      await run(
        `insert into ${table} overriding system value
         select copied.*
           from (select * from ${table} where ${whose} = $1 limit 1) as model
          cross join generate_series($2::int, $3::int) as n
          cross join lateral jsonb_populate_record(
            null::${table}, to_jsonb(model) || jsonb_build_object(${set.join(', ')})) as copied`,
        [owner, first, first + count - 1],
      );
    });
  }
}

function callerOf(tenant: typeof a): Caller {
  const { key_id } = tenant;
  const org = { org_id: tenant.org.id, project_id: tenant.live.id };
  return { kind: 'key', ...org, key_id, environment: 'live', scopes, expires_at: null };
}

/** Pages of memory that the statements of one page of a list touched, and the cursor of the next one. */
async function pageOf(
  list: List,
  { cursor, measured }: { cursor: string; measured: boolean },
): Promise<{ touched: number; next_cursor: string }> {
  const statements: Statement[] = [];
  const reader: Context = createContext({
    ...{
      request_id: newRequestId(),
      caller: callerOf(a),
      log: silentLog,
      services: { ...context.services, root_key, request_log },
    },
    pool: tappedPool(pool, (statement) => void statements.push(statement)),
  });
  const operation = operations.find(({ name }) => name === list.operation);
  if (operation === undefined) throw new Error(`no operation is called ${list.operation}`);
  const input = { ...list.input?.(), limit: 200, cursor };
  const answer = (await runOperation(reader, operation, input)) as { data: unknown[]; next_cursor: string };
  let touched = 0;
  for (const { text, values } of measured ? statements : []) {
    const plan = { name: '', text: `explain (analyze, buffers, format json) ${text}`, values: values ?? [] };
    const [row] = (await pool.within(a.org.id).db.query<Record<'QUERY PLAN', [{ Plan: Plan }]>>(plan)).rows;
    const [{ Plan }] = row?.['QUERY PLAN'] ?? [{ Plan: { 'Shared Hit Blocks': 0, 'Shared Read Blocks': 0 } }];
    touched += Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
  }
  return { touched, next_cursor: answer.next_cursor };
}

interface Plan {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
}

test.each(lists.map((list) => [list.operation, list] as const))(
  '%s: the last page costs what the first does',
  async (_name, list) => {
    await (list.table === 'request_row' ? fillCalls() : fill(list));
    await rows(`analyze ${list.table}`);
    const costs: number[] = [];
    let cursor = '';
    for (let page = 0; page === 0 || cursor !== ''; page++) {
      const found = await pageOf(list, { cursor, measured: page % 4 === 0 });
      if (page % 4 === 0) costs.push(found.touched);
      cursor = found.next_cursor;
    }
    expect(costs.length).toBeGreaterThanOrEqual(ROWS / 800);
    const [first = 0] = costs;
    expect(first).toBeGreaterThan(0);
    expect(Math.max(...costs)).toBeLessThanOrEqual(first * RATIO_MAX + SLACK);
  },
);
