import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { staffContext } from '../../test/support/provision.ts';
import { createPool } from '../db/index.ts';
import { type Context, type Id, openColumn, type Services, sealColumn } from '../kernel/index.ts';
import { readBalance } from '../ledger/index.ts';
import { createOrg, createProject, findOrg, findProject, lockOrg, type Org } from './index.ts';
import { newPepper } from './pepper.ts';

const pool = createPool(await createTestDatabase(), { max: 4 });
const context = staffContext(pool);
afterAll(() => pool.end());

const input = { slug: 'acme', name: 'Acme', billing_country: 'IN' };

async function countBooks(): Promise<number> {
  const { rows } = await pool.query<{ n: number }>({
    name: 'test.books',
    text: 'select count(*)::int as n from ledger.book',
  });
  return rows[0]?.n ?? 0;
}

test('a new organization has an empty live book, 100 USD of play credit and a project for each', async () => {
  const made = await createOrg(context, input);
  const org = (await findOrg(pool, 'acme')) as Org;
  expect(org).toMatchObject({ id: made.id, plan_id: 'payg', status: 'active', billing_currency: 'INR' });
  expect(await readBalance(pool, org.live_book_id)).toMatchObject({ available_micro_usd: 0 });
  expect(await readBalance(pool, org.sandbox_book_id)).toMatchObject({
    available_micro_usd: 100_000_000,
    granted_micro_usd: 100_000_000,
  });
  expect(await findProject(pool, { org_id: org.id, id: made.project_id })).toMatchObject({
    environment: 'live',
  });
  expect(await findProject(pool, { org_id: org.id, id: made.test_project_id })).toMatchObject({
    environment: 'test',
  });
});

test('of ten concurrent creations under one slug one succeeds, and the others leave nothing behind', async () => {
  const before = await countBooks();
  const results = await Promise.allSettled(
    Array.from({ length: 10 }, () => createOrg(context, { ...input, slug: 'race' })),
  );
  expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
  for (const result of results) {
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'already_exists' });
  }
  expect(await countBooks()).toBe(before + 2);
});

test("the plan bounds projects, a slug is one project's, and another organization cannot find it", async () => {
  const org = (await findOrg(pool, 'acme')) as Org;
  const add = (slug: string) =>
    context.transaction(async (context) =>
      createProject(context, (await lockOrg(context.db, org.id)) as Org, {
        slug,
        name: slug,
        environment: 'live',
      }),
    );
  const first = await add('one');
  await expect(add('one')).rejects.toMatchObject({ code: 'already_exists' });
  const others = await Promise.allSettled(['two', 'three', 'four', 'five'].map(add));
  // Two projects came with the organization; payg allows five.
  expect(others.filter((result) => result.status === 'fulfilled')).toHaveLength(2);
  const other = await createOrg(context, { ...input, slug: 'other' });
  expect(await findProject(pool, { org_id: other.id, id: first.id })).toBeNull();
});

test('a pepper is plain until others are sealed under a key of the ring, and then sealed at once', async () => {
  const with_ring = (root_key: Buffer): Context => ({
    ...context,
    services: { root_key } as unknown as Services,
  });
  const ring = Buffer.alloc(32, 5);
  const pepperOf = async (id: Id<'org'>) => {
    const { rows } = await pool.query<{ pepper: Buffer | null; pepper_sealed: Buffer | null }>({
      ...{ name: 'test.pepper', text: 'select pepper, pepper_sealed from org where id = $1', values: [id] },
    });
    return rows[0];
  };
  const make = async (root_key: Buffer) => {
    const org_id = context.newId('org');
    return { org_id, row: await newPepper(with_ring(root_key), org_id) };
  };
  expect((await make(ring)).row).toMatchObject({ pepper: expect.any(Buffer), pepper_sealed: null });
  const { id } = await createOrg(context, { ...input, slug: 'rotated' });
  const plain = (await pepperOf(id))?.pepper as Buffer;
  await pool.query({
    name: 'test.seal_pepper',
    text: 'update org set pepper = null, pepper_sealed = $2 where id = $1',
    values: [id, sealColumn(ring, 'org.pepper_sealed', [id], plain)],
  });
  const { org_id, row } = await make(ring);
  expect(row).toMatchObject({ pepper: null, pepper_sealed: expect.any(Buffer) });
  expect(openColumn(ring, 'org.pepper_sealed', [org_id], row.pepper_sealed as Buffer)).toHaveLength(32);
  // A ring that opens none of the others is not that of this installation.
  expect((await make(Buffer.alloc(32, 6))).row.pepper_sealed).toBe(null);
});
