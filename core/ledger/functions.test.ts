// The functions keep a form that a distributed PostgreSQL (Citus, a schema on each server) runs as it runs plain SQL:
// what breaks or ruins them there is found here, without one.
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';

const client = new pg.Client(await createTestDatabase());
await client.connect();
afterAll(() => client.end());

interface Function {
  readonly name: string;
  readonly language: string;
  readonly source: string;
  readonly volatile: boolean;
}

const functions = (
  await client.query<Function>(
    `select proname as name, lanname as language, regexp_replace(prosrc, '--[^\\n]*', '', 'g') as source,
            provolatile = 'v' as volatile
       from pg_proc p join pg_language l on l.oid = p.prolang
      where pronamespace = 'ledger'::regnamespace`,
  )
).rows;

/** What a call of may give another answer or write each time. */
const VOLATILE = ['clock_timestamp', 'random', 'nextval', 'gen_random_uuid', 'timeofday'];
const volatile = [...VOLATILE, ...functions.filter((f) => f.volatile).map((f) => `ledger.${f.name}`)];

/** Statements inside `with` that write: their rows would be sent to every server, and each commit be one in two phases. */
function modifyingParts(source: string): string[] {
  return [...source.matchAll(/\(\s*(?:insert\s+into|update|delete\s+from)\s+\w+\.\w+/gi)].map(
    ([text]) => text,
  );
}

/** Calls of volatile functions within an update or delete, which Citus refuses. */
function volatileCalls(source: string): string[] {
  return source
    .split(';')
    .map(
      (statement) =>
        /\b(?:update|delete\s+from)\s+\w+\.\w+[\s\S]*/i.exec(statement)?.[0].split(/\bloop\b/)[0],
    )
    .filter((statement) => statement !== undefined)
    .filter((statement) => volatile.some((name) => statement.includes(`${name}(`)));
}

const touchesTables = (source: string) =>
  /\b(?:from|join|into|update)\s+(?:ledger|public)\.\w+(?!\w*\()/i.test(source);

test('the checks find what they are for', () => {
  expect(modifyingParts('with d as (delete from ledger.hold t returning 1) select')).toHaveLength(1);
  expect(volatileCalls('x; update ledger.lease set a = clock_timestamp()')).toHaveLength(1);
  expect(volatileCalls('update ledger.book set current_lot_no = ledger.post(1)')).toHaveLength(1);
  expect(volatileCalls('v_now := clock_timestamp(); update ledger.lease set a = v_now')).toEqual([]);
  expect(touchesTables('select a from ledger.book where x')).toBe(true);
  expect(touchesTables('select a from unnest(p_x) a')).toBe(false);
  expect(functions.length).toBeGreaterThan(25);
});

test.each(functions.map((f) => [f.name, f] as const))(
  'ledger.%s writes in statements of their own',
  (_, f) => {
    expect(modifyingParts(f.source)).toEqual([]);
    expect(volatileCalls(f.source)).toEqual([]);
  },
);

test('a function in SQL reads no table: parameters and tables meet in PL/pgSQL alone', () => {
  const inSql = functions.filter((f) => f.language === 'sql');
  expect(inSql.filter((f) => touchesTables(f.source)).map((f) => f.name)).toEqual([]);
});

test('numbers that PostgreSQL gives out are of eight bytes', async () => {
  const { rows } = await client.query(
    `select c.relname, a.attname from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relnamespace = 'ledger'::regnamespace and a.attidentity <> '' and a.atttypid <> 'bigint'::regtype`,
  );
  expect(rows).toEqual([]);
});
