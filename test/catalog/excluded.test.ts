// Staff and rankings: an app is kept out and let in again, and figures are made when staff ask for them.
import {
  excludeAppOperation,
  listStaffAppsOperation,
  publishStaffFiguresOperation,
  restoreAppOperation,
} from '@svc/core/figures/index.ts';
import { type Context, machineMs, nowMs, type Operation, shiftClock } from '@svc/core/kernel/index.ts';
import { runOperation } from '@svc/core/operations/index.ts';
import { figureJobs } from '@svc/core/operations/row-jobs.ts';
import { afterEach, expect, test } from 'vitest';
import { noon, startFiguresWorld } from './world.ts';

const world = await startFiguresWorld();
const { a, b, call, memory, pool, publish, write } = world;
noon();
afterEach(noon);
const model = (await call('GET', '/v1/models', { key: a.key })).json().data[0].id as string;
const staff = world.context as Context & { with(change: object): Context };
// biome-ignore lint/suspicious/noExplicitAny: each operation has an answer of its own
const run = (operation: Operation<any, any>, input: object): Promise<any> =>
  runOperation(
    staff.with({ services: { figures_memory: memory, root_key: world.root_key } }),
    operation,
    input,
  );
const ranked = async () =>
  (await call('GET', '/v1/rankings'))
    .json()
    .apps.map(({ id }: { id: string }) => id)
    .sort();
const ofModel = async () =>
  (await call('GET', `/v1/models/${model}/stats`, { key: a.key }))
    .json()
    .apps.map(({ app_id }: { app_id: string }) => app_id)
    .sort();
const audited = async (action: string) =>
  (
    await pool.query<{ reason: string; org_id: string | null }>({
      name: 'test.audited',
      text: 'select reason, org_id from audit_entry where action = $1',
      values: [action],
    })
  ).rows;

for (const [tenant, slug] of [
  [a, 'notes'],
  [b, 'games'],
] as const) {
  await write({ tenant, n: 4, app_id: slug, model });
  await publish();
  await call('PUT', `/v1/apps/${slug}`, { key: tenant.key, body: { public: true } });
}
await publish();

test('an app that staff keep out is named nowhere at once, counts in totals, and is back when it is let in', async () => {
  expect([await ranked(), await ofModel()]).toEqual([
    ['games', 'notes'],
    ['games', 'notes'],
  ]);
  const before = (await call('GET', '/v1/rankings')).json().models;
  const out = await run(excludeAppOperation, { slug: 'games', reason: 'a name that offends' });
  expect(out).toMatchObject({ slug: 'games', excluded_reason: 'a name that offends', org_slug: b.org.slug });
  expect([await ranked(), await ofModel()]).toEqual([['notes'], ['notes']]);
  expect((await call('GET', '/v1/rankings')).json().models).toEqual(before);
  await expect(run(excludeAppOperation, { slug: 'games', reason: 'again' })).rejects.toMatchObject({
    code: 'state_conflict',
  });
  // Its organization cannot let itself in.
  await call('PUT', '/v1/apps/games', { key: b.key, body: { public: true, name: 'Games' } });
  memory.forget();
  expect(await ranked()).toEqual(['notes']);
  const listed = await run(listStaffAppsOperation, {});
  expect(listed.data.map(({ slug, excluded_at }: never) => [slug, excluded_at !== null]).sort()).toEqual([
    ['games', true],
    ['notes', false],
  ]);
  const back = await run(restoreAppOperation, { slug: 'games', reason: 'another name' });
  expect(back).toMatchObject({ excluded_at: null, excluded_reason: null });
  expect(await ranked()).toEqual(['games', 'notes']);
  await expect(run(restoreAppOperation, { slug: 'games', reason: 'again' })).rejects.toMatchObject({
    code: 'state_conflict',
  });
  await expect(run(excludeAppOperation, { slug: 'nobody', reason: 'x' })).rejects.toMatchObject({
    code: 'not_found',
  });
  expect(await audited('staff.apps.exclude')).toEqual([{ reason: 'a name that offends', org_id: b.org.id }]);
  expect(await audited('staff.apps.restore')).toEqual([{ reason: 'another name', org_id: b.org.id }]);
});

test('of ten who keep an app out at once one does', async () => {
  const all = await Promise.allSettled(
    Array.from({ length: 10 }, () => run(excludeAppOperation, { slug: 'notes', reason: 'at once' })),
  );
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await run(restoreAppOperation, { slug: 'notes', reason: 'done' });
});

test('a page of the list goes on where the one before ended', async () => {
  const first = await run(listStaffAppsOperation, { limit: 1 });
  const second = await run(listStaffAppsOperation, { limit: 1, cursor: first.next_cursor });
  expect([first.data[0].slug, second.data[0].slug].sort()).toEqual(['games', 'notes']);
  expect(second.next_cursor).toBe('');
});

test('figures that staff ask for are made by the next look of the job, once', async () => {
  const job = figureJobs({ pool, public_min_orgs: 1 }).find(({ name }) => name === 'publish_asked_figures')!;
  expect(await job.run()).toBe(0);
  await write({ tenant: a, n: 2, app_id: 'notes', model });
  const asked = await run(publishStaffFiguresOperation, { reason: 'rows are back' });
  expect(asked).toMatchObject({ waiting: true });
  shiftClock(nowMs() - machineMs() + 60_000);
  expect(await job.run()).toBeGreaterThan(0);
  memory.forget();
  const notes = (await call('GET', '/v1/rankings'))
    .json()
    .apps.find(({ id }: { id: string }) => id === 'notes');
  expect(notes.requests).toBe(6);
  expect(await job.run()).toBe(0);
  expect(await audited('staff.figures.publish')).toMatchObject([{ reason: 'rows are back' }]);
});
