// What can be said of ledgers in a Citus cluster without one; test/citus has the rest (`make citus`).
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import {
  leadsToSpread,
  listMigrations,
  meetLedger,
  spreadLedger,
  statementsOf,
  withLedgerSchema,
} from './index.ts';

const url = await createTestDatabase();
const client = new pg.Client({ connectionString: url });
await client.connect();
afterAll(() => client.end());

test('a database that is of no cluster is refused before anything is made in it', async () => {
  const at = withLedgerSchema(url, 'ledger_alone');
  await expect(spreadLedger(at)).rejects.toThrow('no coordinator of a Citus cluster');
  const { rowCount } = await client.query(`select from pg_namespace where nspname = 'ledger_alone'`);
  expect(rowCount).toBe(0);
});

test('a connection to a ledger of no cluster is not taken for one to a spread ledger', async () => {
  await meetLedger(client, 'ledger');
  expect(leadsToSpread(client)).toBe(false);
});

test('a migration falls into its statements, whatever stands in quotes, bodies and comments', async () => {
  expect(
    statementsOf(`-- one; two
create table t (a text default ';', b text default 'it''s;'); -- c;
create function f() returns int language plpgsql as $$ begin return 1; end $$;
do $x$ begin perform '$$;'; end $x$;
-- the end;
`).map((one) => one.replace(/--[^\n]*\n/g, '').trim()),
  ).toEqual([
    `create table t (a text default ';', b text default 'it''s;');`,
    'create function f() returns int language plpgsql as $$ begin return 1; end $$;',
    `do $x$ begin perform '$$;'; end $x$;`,
  ]);
});

test('the statements of each migration of a ledger are the whole of it', async () => {
  const { ledger } = await listMigrations();
  for (const { name, sql } of ledger) {
    const text = statementsOf(sql).join('');
    expect(sql.startsWith(text), name).toBe(true);
    expect(
      sql
        .slice(text.length)
        .replace(/--[^\n]*/g, '')
        .trim(),
      name,
    ).toBe('');
  }
});

test('no function of a ledger sets a column to an element of an array, which ends the server of Citus 14.0.1', async () => {
  const { rows } = await client.query<{ name: string; body: string }>(
    `select proname as name, prosrc as body from pg_proc where pronamespace = 'ledger'::regnamespace`,
  );
  expect(rows.length).toBeGreaterThan(30);
  const sets = /\bupdate\b[^;]*?\bset\b[^;]*?\b\w+ = \w+\[[^\]]*\]\s*(?:,|;|where\b|from\b)/i;
  expect('update t set a = p[1] where b = 1;').toMatch(sets);
  expect(rows.filter(({ body }) => sets.test(body)).map(({ name }) => name)).toEqual([]);
});
