// Row-level security, the second fence between organizations: statements that forget to name theirs.
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { atFileEnd } from '../../test/support/ends.ts';
import { staffContext } from '../../test/support/provision.ts';
import { createPool } from '../db/index.ts';
import { type Context, type KeyCaller, newId, newRequestId, silentLog } from '../kernel/index.ts';
import { createOrg } from '../orgs/index.ts';
import { createContext, operations } from './index.ts';

const pool = createPool(await createTestDatabase(), { max: 4, role: 'svc_runtime' });
atFileEnd(() => pool.end());
const staff = staffContext(pool);
const a = await createOrg(staff, { slug: 'a', name: 'A', billing_country: 'IN' });
const b = await createOrg(staff, { slug: 'b', name: 'B', billing_country: 'US' });

function contextOf(org: typeof a): Context {
  const key = { kind: 'key', environment: 'live', scopes: ['manage:keys'], expires_at: null } as const;
  const caller: KeyCaller = { ...key, org_id: org.id, project_id: org.project_id, key_id: newId('key') };
  const parts = { request_id: newRequestId(), caller, pool, log: silentLog };
  return createContext({ ...parts, services: staff.services });
}

/** A store function that forgets its organization. */
async function readProjects({ db }: Context): Promise<string[]> {
  const { rows } = await db.query<{ org_id: string }>({
    name: 'test.read_projects',
    text: 'select distinct org_id from project order by 1',
  });
  return rows.map(({ org_id }) => org_id);
}

function rename({ db }: Context, id: string) {
  return db.query({
    name: 'test.rename',
    text: `update project set name = 'taken' where id = $1`,
    values: [id],
  });
}

const both = [a.id, b.id].sort();

test('a statement that forgets its organization reads and changes nothing of another', async () => {
  const context = contextOf(a);
  expect(await readProjects(context)).toEqual([a.id]);
  expect(await rename(context, b.project_id)).toMatchObject({ rowCount: 0 });
  expect(await rename(context, a.project_id)).toMatchObject({ rowCount: 1 });
  await context.transaction(async (context) => {
    expect(await readProjects(context)).toEqual([a.id]);
    expect(await rename(context, b.project_id)).toMatchObject({ rowCount: 0 });
  });
  expect(await readProjects(staff)).toEqual(both);
});

test('a row of another organization cannot be written, and a transaction that tries leaves nothing', async () => {
  const refusal = expect.objectContaining({ code: '42501' });
  const give = (context: Context) =>
    context.db.query({
      name: 'test.give',
      text: 'update project set org_id = $2 where id = $1',
      values: [a.project_id, b.id],
    });
  await expect(give(contextOf(a))).rejects.toEqual(refusal);
  const tries = contextOf(a).transaction(async (context) => {
    await rename(context, a.test_project_id);
    await give(context);
  });
  await expect(tries).rejects.toEqual(refusal);
  const { rows } = await pool.query<{ name: string }>({
    name: 'test.name',
    text: 'select name from project where id = $1',
    values: [a.test_project_id],
  });
  expect(rows).toEqual([{ name: 'Sandbox' }]);
});

test('across organizations is asked for, reaches all in the same transaction, and ends with the statement', async () => {
  const context = contextOf(a);
  expect(await readProjects(context.acrossOrgs)).toEqual(both);
  await context.transaction(async (inside) => {
    await rename(inside, a.project_id);
    const across = await inside.acrossOrgs.db.query({
      name: 'test.named',
      text: `select name from project where id = $1`,
      values: [a.project_id],
    });
    expect(across.rows).toEqual([{ name: 'taken' }]);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => readProjects(i % 2 === 0 ? inside : inside.acrossOrgs)),
    );
    for (const [i, answer] of answers.entries()) expect(answer).toEqual(i % 2 === 0 ? [a.id] : both);
    expect(await inside.acrossOrgs.transaction(readProjects)).toEqual(both);
    expect(await readProjects(inside)).toEqual([a.id]);
  });
  await context.acrossOrgs.transaction(async (wide) => expect(await readProjects(wide)).toEqual(both));
  expect(await readProjects(context)).toEqual([a.id]);
});

test('callers of many organizations share connections, and each sees its own', async () => {
  const wanted = Array.from({ length: 200 }, (_, i) => [a, b, null][i % 3] ?? null);
  const answers = await Promise.all(wanted.map((org) => readProjects(org === null ? staff : contextOf(org))));
  expect(answers).toEqual(wanted.map((org) => (org === null ? both : [org.id])));
});

/** Tables with a column `org_id` that are not fenced, and why. */
const OPEN: Readonly<Record<string, string>> = {
  session:
    'a person has it, who may be a member of several organizations; it is read by its token or its person',
};

test('every table of the installation that holds an organization is fenced, or has a reason not to be', async () => {
  const { rows } = await pool.query<{ name: string; fenced: boolean; policies: string[] }>({
    name: 'test.tables',
    text: `
      select c.relname as name, c.relrowsecurity as fenced,
             (select coalesce(array_agg(p.polname::text order by p.polname), '{}') from pg_policy p
               where p.polrelid = c.oid) as policies
        from information_schema.columns x
        join pg_class c on c.oid = format('public.%I', x.table_name)::regclass
       where x.table_schema = 'public' and c.relkind in ('r', 'p') and not c.relispartition
         and (x.column_name = 'org_id' or (x.table_name = 'org' and x.column_name = 'id'))
       order by 1`,
  });
  expect(rows.length).toBeGreaterThan(60);
  for (const { name, fenced, policies } of rows) {
    const expected = name in OPEN ? [] : ['everybody', 'own_org'];
    expect({ name, fenced, policies }).toEqual({ name, fenced: !(name in OPEN), policies: expected });
  }
});

test('no more operations reach across organizations than those about a person', () => {
  const wide = operations.filter(({ across_orgs }) => across_orgs !== undefined);
  expect(wide.map(({ name }) => name).sort()).toMatchInlineSnapshot(`
    [
      "auth.logout",
      "auth.logout_all",
      "auth.me.update",
      "auth.password.change",
      "auth.reauthenticate",
      "auth.session",
      "auth.session.org",
      "auth.sessions.end",
      "auth.sessions.list",
      "auth.totp.confirm",
      "auth.totp.disable",
      "auth.totp.enrol",
      "auth.totp.recovery_codes",
      "invitations.accept",
      "orgs.create",
      "orgs.list",
      "signup.get",
      "signup.waitlist",
    ]
  `);
  expect(new Set(wide.map(({ across_orgs }) => across_orgs))).toEqual(
    new Set(['a person may be a member of several organizations']),
  );
});
