// Rows of the release before, as a rolling deploy brings them: from its spool, and from its own statement.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Tenant } from '../../test/registry/harness.ts';
import { rowOf } from '../../test/registry/rows.ts';
import { createTestDatabase } from '../../test/support/database.ts';
import { createPool } from '../db/index.ts';
import { newRequestId, type RequestId, silentLog } from '../kernel/index.ts';
import { openRequestLog } from './log.ts';
import { openSpool } from './spool.ts';
import { insertRows } from './store.ts';
import type { RequestRow } from './types.ts';

const pool = createPool(await createTestDatabase(), { max: 2 });
afterAll(() => pool.end());
const tenant = {
  org: { id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J' },
  live: { id: 'prj_x' },
  key_id: 'key_x',
} as unknown as Tenant;
const sessionOf = async (request_id: RequestId) => {
  const { rows } = await pool.query<{ session_id: string }>({
    name: 'test.session',
    text: 'select session_id from request_row where request_id = $1',
    values: [request_id],
  });
  return rows[0]?.session_id ?? null;
};

test('a spool whose rows have no session goes in as rows without one', async () => {
  const spool_dir = mkdtempSync(join(tmpdir(), 'svc-spool-'));
  const { session_id: _, ...row } = rowOf(tenant);
  await (await openSpool(spool_dir)).put([row as RequestRow]);
  const log = await openRequestLog({ db: pool, log: silentLog, spool_dir });
  await log.flush();
  await log.close();
  expect([await sessionOf(row.request_id), log.lost]).toEqual(['', 0]);
});

test('a row that is written without a session stands beside those that have one', async () => {
  const { rows } = await pool.query<{ name: string }>({
    name: 'test.members',
    text: `select attname as name from pg_attribute where attrelid = 'request_row_v1'::regclass order by attnum`,
  });
  const first = rowOf(tenant, { session_id: 'run-1' });
  await insertRows(pool, [first]);
  const id = newRequestId();
  const members = `to_jsonb(r) || jsonb_build_object('request_id', $2::text)`;
  await pool.query({
    name: 'test.insert_v1',
    text: `
      insert into request_row (${rows.map(({ name }) => name).join(', ')})
      select (old).* from (select jsonb_populate_record(null::request_row_v1, ${members}) as old
                             from request_row r where request_id = $1) as before`,
    values: [first.request_id, id],
  });
  expect([await sessionOf(first.request_id), await sessionOf(id)]).toEqual(['run-1', '']);
});
