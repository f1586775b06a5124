// Sums of the last days that rankings read: equal to what the days sum up to, whatever happens to them.
import { ulid } from 'ulid';
import { afterAll, expect, test } from 'vitest';
import type { Tenant } from '../../test/registry/harness.ts';
import { rowOf } from '../../test/registry/rows.ts';
import { createTestDatabase } from '../../test/support/database.ts';
import { staffContext } from '../../test/support/provision.ts';
import { sumApps } from '../analytics/days/app-store.ts';
import { readWindow } from '../analytics/days/window-store.ts';
import { dayBefore, readAppSums } from '../analytics/index.ts';
import { insertRows } from '../analytics/store.ts';
import { createPool } from '../db/index.ts';
import type { Id, RequestId } from '../kernel/index.ts';
import { deleteAppSums } from '../org-erasure/store.ts';
import { createOrg } from '../orgs/index.ts';
import { publishFigures } from './index.ts';

const pool = createPool(await createTestDatabase(), { max: 8 });
afterAll(() => pool.end());
const staff = staffContext(pool);
/** Of two that had an app's first call at the same time it belongs to the older organization: to `one`. */
const orgOf = async (slug: string) =>
  (await createOrg(staff, { slug, name: slug, billing_country: 'US' })).id;
const one = await orgOf('one');
const two = await orgOf('two');
const DAY_MS = 86_400_000;
const NOON = Date.parse('2026-11-20T12:00:00Z');
const at = (days: number) => new Date(NOON + days * DAY_MS);
const exec = (text: string, values: readonly unknown[] = []) =>
  pool.query<{ n: number }>({ name: '', text, values });

/** A call `days_ago` of `org` by `app_id` with `model`. */
const call = (org: Id<'org'>, app_id: string, model: string, days_ago: number) => {
  const tenant = { org: { id: org }, live: { id: 'prj_x' }, key_id: 'key_x' } as unknown as Tenant;
  const request_id = ulid(at(-days_ago).getTime()) as RequestId;
  return rowOf(tenant, { app_id, model, request_id, input_tokens: days_ago + 1 });
};
const publish = (now = at(0)) => publishFigures(pool, { now, min_orgs: 1 });
const apps = [
  { org_id: one, app_id: 'notes' },
  { org_id: one, app_id: 'idle' },
  { org_id: two, app_id: 'chat' },
  // Another organization's calls under a name that is not its own.
  { org_id: two, app_id: 'notes' },
];
const shown = apps.slice(0, 3);
const sorted = (sums: readonly object[]) => sums.map((sum) => JSON.stringify(sum)).sort();

/** Requires that every window says what the days do, and returns how many sums that were. */
async function expectEqual(now: Date, of = shown): Promise<number[]> {
  const counts: number[] = [];
  for (const days of [1, 2, 7, 30, 90])
    for (const model of [null, 'acme/fast-1', 'acme/none']) {
      const since = dayBefore(now, days - 1);
      const found = await readAppSums(pool, { apps: of, now, days, model });
      const summed = await sumApps(pool, { apps: of, since, model });
      expect([days, model, ...sorted(found)]).toEqual([days, model, ...sorted(summed)]);
      if (model === null) counts.push(found.length);
    }
  return counts;
}
/** Whether a ranking of the last `days` reads no day. */
const isSummed = async (now: Date, days: number) => {
  const of = { apps: shown, days, since: dayBefore(now, days - 1), model: null };
  return (await readWindow(pool, of)).missing.length === 0;
};

await insertRows(
  pool,
  [0, 1, 6, 7, 29, 30, 89].flatMap((days) => [
    call(one, 'notes', 'acme/fast-1', days),
    call(one, 'notes', `acme/of-${days}`, days),
    call(two, 'chat', 'acme/fast-1', days),
    call(two, 'notes', 'acme/fast-1', days),
  ]),
);
await publish();
await exec(
  `insert into app (slug, org_id, name, first_seen_at, updated_at) values ('idle', $1, 'Idle', $2, $2)`,
  [...[one, at(0)]],
);
await exec(`update app set public = true where slug in ('notes', 'idle', 'chat')`);

test('before a window is summed the days are, and then every window says what they do', async () => {
  await exec('delete from app_window');
  await exec('delete from ranked_window');
  expect(await expectEqual(at(0))).toEqual([3, 4, 5, 7, 9]);
  expect(await isSummed(at(0), 30)).toBe(false);
  await publish();
  expect(await isSummed(at(0), 30)).toBe(true);
  expect(await expectEqual(at(0))).toEqual([3, 4, 5, 7, 9]);
});

test('a ranking of thirty days reads a row for each app that everybody sees, and none of another', async () => {
  await publish();
  const { rows } = await exec(`select org_id, app_id from app_window where days = 30 order by app_id`);
  expect(rows).toEqual([
    { org_id: two, app_id: 'chat' },
    { org_id: one, app_id: 'idle' },
    { org_id: one, app_id: 'notes' },
  ]);
});

test('an app that shows itself since is summed by its days, and beside the others', async () => {
  await exec(`update app set public = false where slug = 'chat'`);
  await publish();
  expect(await isSummed(at(0), 30)).toBe(false);
  await expectEqual(at(0));
  await exec(`update app set public = true where slug = 'chat'`);
  await publish();
  expect(await isSummed(at(0), 30)).toBe(true);
});

test('after midnight, before figures are published again, the days of the new window are summed', async () => {
  await publish();
  expect(await isSummed(at(1), 30)).toBe(false);
  expect(await expectEqual(at(1))).not.toEqual(await expectEqual(at(0)));
  await publish(at(1));
  expect(await isSummed(at(1), 30)).toBe(true);
  await expectEqual(at(1));
  await publish();
});

test('late calls are in the window with the next figures, and ten that publish at once agree', async () => {
  await insertRows(pool, [call(two, 'chat', 'acme/late', 0), call(two, 'chat', 'acme/fast-1', 0)]);
  await Promise.all(Array.from({ length: 10 }, () => publish()));
  expect((await expectEqual(at(0)))[0]).toBe(4);
});

test('of an organization that is erased no window is left, at once and when figures are made from what came late', async () => {
  await publish();
  expect(await deleteAppSums(pool, two)).toBeGreaterThan(0);
  expect((await exec('select 1 as n from app_window where org_id = $1', [two])).rows).toEqual([]);
  expect((await expectEqual(at(0)))[0]).toBe(2);
  await exec(`update org set status = 'closed', closed_at = now() where id = $1`, [two]);
  await insertRows(pool, [call(two, 'chat', 'acme/late', 0)]);
  await publish();
  expect((await exec('select 1 as n from app_window where org_id = $1', [two])).rows).toEqual([]);
  await expectEqual(at(0), shown.slice(0, 2));
});
