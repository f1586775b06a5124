import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { ENTRY_KINDS } from './kinds.ts';

const url = await createTestDatabase();
const owner = new pg.Client({ connectionString: url });
await owner.connect();
const runtime = new pg.Client({ connectionString: url, options: '-c role=svc_runtime' });
await runtime.connect();
afterAll(async () => {
  await owner.end();
  await runtime.end();
});

test.each([
  'entry',
  'block',
  'meter',
  'burn',
  'writeoff',
  'book',
  'lot',
  'win',
  'budget',
  'hold',
  'entry_kind',
  'unit_kind',
])('the runtime role reads ledger.%s and can neither insert, update, delete nor truncate', async (table) => {
  await expect(runtime.query(`select * from ledger.${table} limit 1`)).resolves.toBeDefined();
  const { rows } = await owner.query<{ name: string }>(
    `select attname as name from pg_attribute where attrelid = 'ledger.${table}'::regclass and attnum > 0 and attidentity = '' limit 1`,
  );
  const statements = [
    `insert into ledger.${table} default values`,
    `update ledger.${table} set ${rows[0]!.name} = ${rows[0]!.name}`,
    `delete from ledger.${table}`,
    `truncate ledger.${table}`,
  ];
  for (const statement of statements)
    await expect(runtime.query(statement)).rejects.toMatchObject({ code: '42501' });
});

test('every function that the runtime role can call has a fixed search path and is named here', async () => {
  const { rows } = await owner.query<{ name: string; fixed: boolean; definer: boolean }>(
    `select proname as name, coalesce(array_to_string(proconfig, ',') like 'search_path=%', false) as fixed,
            prosecdef as definer
       from pg_proc where pronamespace = 'ledger'::regnamespace and has_function_privilege('svc_runtime', oid, 'execute')
      order by 1`,
  );
  expect(rows.filter(({ definer }) => definer).every(({ fixed }) => fixed)).toBe(true);
  expect(rows.map(({ name }) => name)).toEqual([
    'charge_back',
    'charge_plan',
    'credit',
    'debit',
    'end_grants',
    'end_lease',
    'expire_lot',
    'extend',
    'hold',
    'make_meter_partitions',
    'open_book',
    'purge_runs',
    'release',
    'renew_lease',
    'restore',
    'resume',
    'set_budget',
    'set_low_mark',
    'settle',
    'sweep',
    'take_lease',
    'ulid_day',
  ]);
});

test('the runtime role cannot make itself a table or a function in the ledger', async () => {
  await expect(runtime.query('create table ledger.mine (x int)')).rejects.toMatchObject({ code: '42501' });
  await expect(runtime.query('create table public.mine (x int)')).rejects.toMatchObject({ code: '42501' });
});

test('kinds of entries have the numbers of the table', async () => {
  const { rows } = await owner.query<{ kind: number; name: string }>(
    'select kind, name from ledger.entry_kind order by kind',
  );
  expect(rows).toEqual(ENTRY_KINDS.map((name, i) => ({ kind: i + 1, name })));
});
