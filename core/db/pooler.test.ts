// A pooler in transaction mode between a program and its database (test/sim/pooler.ts): every transaction is on another
// connection of the server than the one before.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, test } from 'vitest';
import { startPooler } from '../../test/sim/pooler.ts';
import { createTestDatabase } from '../../test/support/database.ts';
import { atFileEnd } from '../../test/support/ends.ts';
import {
  checkAddresses,
  createPool,
  databaseAddresses,
  migrate,
  migrateLedger,
  queryIn,
  scopeOf,
  withLedgerSchema,
} from './index.ts';

const url = await createTestDatabase();
const pooler = await startPooler(url);
const { url: pooled } = databaseAddresses(pooler.url, url);
const pool = createPool(pooled, { max: 3, role: 'svc_runtime' });
atFileEnd(async () => {
  await pool.end();
  await pooler.close();
});

const WHO = `select current_user::text as who, pg_backend_pid() as pid`;
const who = { name: 'test.who', text: WHO };
type Who = { who: string; pid: number };

test('single statements and transactions act as the role, on whichever connection, and leave none with it', async () => {
  const seen = new Set<number>();
  // The pooler draws a connection for each transaction: after 200 of them another one than the first was among them.
  for (let i = 0; i < 20 || (seen.size < 2 && i < 200); i++) {
    const { rows } = await pool.query<Who>(who);
    seen.add(rows[0]!.pid);
    const inside = await pool.transaction(async (db) => (await db.query<Who>(who)).rows[0]);
    seen.add(inside!.pid);
    expect([rows[0]?.who, inside?.who]).toEqual(['svc_runtime', 'svc_runtime']);
  }
  expect(seen.size).toBeGreaterThan(1);
  // The owner's pool gets the same connections of the server.
  const owner = createPool(pooled, { max: 1 });
  const shared = new Set<number>();
  for (let i = 0; i < 10 || (shared.size < 2 && i < 200); i++) {
    const { rows } = await owner.query<Who>(who);
    expect(rows[0]?.who).not.toBe('svc_runtime');
    if (seen.has(rows[0]!.pid)) shared.add(rows[0]!.pid);
  }
  expect(shared.size).toBeGreaterThan(1);
  await owner.end();
});

test('what an organization does acts as the tenant, with its id, and leaves neither with the connection', async () => {
  const whose = {
    name: 'test.whose',
    text: `select current_user::text as who, current_setting('svc.org_id', true) as org_id`,
  };
  const acme = pool.within('org_acme');
  for (let i = 0; i < 20; i++) {
    const tenant = [{ who: 'svc_tenant', org_id: 'org_acme' }];
    expect((await acme.db.query(whose)).rows).toEqual(tenant);
    await acme.transaction(async ({ db, across }) => {
      expect((await db.query(whose)).rows).toEqual(tenant);
      expect((await across.query(whose)).rows).toMatchObject([{ who: 'svc_runtime' }]);
      expect((await db.query(whose)).rows).toEqual(tenant);
    });
    const [after] = (await pool.query<{ who: string; org_id: string | null }>(whose)).rows;
    expect([after?.who, after?.org_id ?? '']).toEqual(['svc_runtime', '']);
  }
});

test('many callers at once have their own answers, also after some that the server refused', async () => {
  const answers = await Promise.allSettled(
    Array.from({ length: 200 }, (_, i) =>
      pool.query<{ n: number }>({ name: 'test.divide', text: 'select 100 / $1::int as n', values: [i % 5] }),
    ),
  );
  for (const [i, answer] of answers.entries()) {
    if (i % 5 === 0) expect(answer).toMatchObject({ status: 'rejected', reason: { code: '22012' } });
    else expect(answer).toMatchObject({ value: { rows: [{ n: Math.floor(100 / (i % 5)) }], rowCount: 1 } });
  }
  expect(pool.connections).toEqual({ busy: 0, idle: 3, waiting: 0 });
});

test('a statement that the role may not do fails in its own transaction alone', async () => {
  const change = { name: 'test.change', text: 'delete from ledger.entry' };
  await expect(pool.query(change)).rejects.toThrow('permission denied');
  const inTransaction = pool.transaction(async (db) => {
    await db.query({
      name: 'test.set',
      text: `insert into settings (name, value, updated_at) values ('test', '1', now())`,
    });
    await db.query(change);
  });
  await expect(inTransaction).rejects.toThrow('permission denied');
  const { rows } = await pool.query({ name: 'test.read', text: `select from settings where name = 'test'` });
  expect(rows).toEqual([]);
});

test('statements are prepared under names unless the address says no', async () => {
  const named = async (at: string): Promise<unknown> => {
    const one = createPool(at, { max: 1, role: 'svc_runtime' });
    try {
      await one.query(who);
      const text = 'select name from pg_prepared_statements where not from_sql order by name';
      return (await one.query<{ name: string }>({ name: 'test.names', text })).rows.map(({ name }) => name);
    } finally {
      await one.end();
    }
  };
  expect(await named(url)).toEqual([
    expect.stringMatching(/^svc\.scope\.[0-9a-f]{16}$/),
    'test.names',
    'test.who',
  ]);
  const { url: unnamed } = databaseAddresses(url, url);
  expect(new URL(unnamed).searchParams.get('prepared_statements')).toBe('false');
  expect(await named(unnamed)).toEqual([]);
  expect(() => createPool(`${url}?prepared_statements=no`)).toThrow('prepared_statements');
});

test.each(['prepared', 'unprepared'])(
  '%s statements of several scopes have on one connection each the settings of its own',
  async (kind) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const text = `select current_setting('synchronous_commit') as sync`;
    const statement = kind === 'prepared' ? { name: 'test.sync', text } : { text };
    for (const sync of ['off', 'on', 'local', 'off', 'on']) {
      const { rows } = await queryIn(client, scopeOf({ synchronous_commit: sync }), statement);
      expect(rows).toEqual([{ sync }]);
    }
    await client.end();
  },
);

test('a pooler refuses what a session would be told at its start', async () => {
  const client = new pg.Client({ connectionString: pooler.url, options: '-c role=svc_runtime' });
  await expect(client.connect()).rejects.toThrow('unsupported startup parameter: options');
});

test('an address that is wrong for LISTEN and locks is named when a program starts', async () => {
  await checkAddresses(databaseAddresses(url, null));
  await checkAddresses(databaseAddresses(pooler.url, url));
  const faultOf = (address: string, direct: string | null) =>
    checkAddresses(databaseAddresses(address, direct)).catch((error: Error) => error.message);
  expect(await faultOf(pooler.url, null)).toMatch(/^SVC_DATABASE_URL leads through a connection pooler/);
  expect(await faultOf(url, pooler.url)).toMatch(
    /^SVC_DATABASE_DIRECT_URL leads through a connection pooler/,
  );
  expect(await faultOf(pooler.url, await createTestDatabase())).toMatch('lead to different databases');
});

test('a login without the rights of a program is named when it starts, with what gives them', async () => {
  const login = `program_${randomUUID().slice(0, 8)}`;
  const owner = createPool(url, { max: 1 });
  const run = (text: string) => owner.query({ name: '', text });
  await run(`create role ${login} login password 'secret' in role svc_runtime`);
  const address = new URL(url);
  address.username = login;
  address.password = 'secret';
  const { href } = address;
  await expect(checkAddresses(databaseAddresses(href, null))).rejects.toThrow(`grant svc_tenant to ${login}`);
  await run(`grant svc_tenant to ${login}`);
  await checkAddresses(databaseAddresses(href, null));
  const program = createPool(href, { max: 1, role: 'svc_runtime' });
  expect((await program.query<Who>(who)).rows[0]?.who).toBe('svc_runtime');
  expect((await program.within('org_a').db.query<Who>(who)).rows[0]?.who).toBe('svc_tenant');
  await program.end();
  await run(`drop role ${login}`);
  await owner.end();
});

test('starters that migrate a ledger through a pooler at once apply each migration once', async () => {
  const at = withLedgerSchema(pooled, 'ledger_pooled');
  const all = await Promise.all([1, 2, 3].map(() => migrateLedger(at)));
  const names = all.flatMap(({ applied }) => applied).sort();
  expect(names).toEqual([...new Set(names)]);
  expect(names.length).toBeGreaterThan(5);
  expect(await migrateLedger(at)).toEqual({ applied: [], newer: [] });
  expect(await migrate(pooled)).toEqual({ applied: [], newer: [] });
});
