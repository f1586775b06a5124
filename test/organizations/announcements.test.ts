// Announcements: who sees which, and when.
import { shiftClock } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { announce, endAnnouncement } from '@svc/core/support/index.ts';
import { afterEach, expect, test } from 'vitest';
import type { Tenant } from '../registry/harness.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { a, b, call, makePerson, makeTenant, pool, signIn } = world;
const staff = createContext({
  ...{ request_id: world.context.request_id, pool, log: world.context.log, services: {} as never },
  caller: { kind: 'staff', name: 'ann@svc.example', staff_id: null, roles: ['support'] },
});
const HOUR_MS = 3_600_000;

afterEach(() => shiftClock(0));

const say = (title: string, given: Partial<Parameters<typeof announce>[1]> = {}) =>
  announce(staff, { title, body: 'Words.', ...given });
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString();

/** The titles that `key` is shown now, of those that begin with `prefix`. */
async function shown(key: string, prefix: string): Promise<string[]> {
  const answer = await call('GET', '/v1/announcements', { key });
  expect(answer.statusCode, answer.body).toBe(200);
  const titles: string[] = answer.json().data.map(({ title }: { title: string }) => title);
  return titles.filter((title) => title.startsWith(prefix));
}

test('an announcement is shown from its start to its end, and to every kind of caller', async () => {
  const viewer = await signIn(await makePerson(a, 'viewer'));
  await say('window', { starts_at: inHours(1), ends_at: inHours(3) });
  expect(await shown(a.key, 'window')).toEqual([]);
  shiftClock(2 * HOUR_MS);
  for (const key of [a.key, a.test_key, viewer, b.key])
    expect(await shown(key, 'window')).toEqual(['window']);
  shiftClock(3 * HOUR_MS + 1_000);
  expect(await shown(a.key, 'window')).toEqual([]);
});

test('the gravest comes first, then the newest', async () => {
  await say('order info');
  await say('order critical', { severity: 'critical' });
  await say('order warning', { severity: 'warning' });
  await say('order newer', { severity: 'warning' });
  expect(await shown(a.key, 'order')).toEqual([
    ...['order critical', 'order newer', 'order warning', 'order info'],
  ]);
});

test('plans, countries and organizations that are named see it, and others do not', async () => {
  const tenant: Tenant = await makeTenant('addressed');
  const { rowCount } = await pool.query({
    name: '',
    text: `update org set plan_id = 'team', billing_country = 'IN' where id = $1`,
    values: [tenant.org.id],
  });
  expect(rowCount).toBe(1);
  await say('for plan', { audience: 'plans', audience_values: ['team', 'scale'] });
  await say('for country', { audience: 'countries', audience_values: ['IN'] });
  await say('for org', { audience: 'orgs', audience_values: ['addressed'] });
  await say('for resellers', { audience: 'resellers' });
  expect(await shown(tenant.key, 'for')).toEqual(['for org', 'for country', 'for plan']);
  expect(await shown(b.key, 'for')).toEqual([]);
  await pool.query({
    ...{ name: '', text: `update org set kind = 'reseller' where id = $1`, values: [tenant.org.id] },
  });
  expect(await shown(tenant.key, 'for res')).toEqual(['for resellers']);
});

test('one that is ended is shown no more, and its end does not move again; one that has not begun never is', async () => {
  const running = await say('ended running');
  const coming = await say('ended coming', { starts_at: inHours(2), ends_at: inHours(4) });
  const first = await endAnnouncement(staff, running.id);
  await endAnnouncement(staff, coming.id);
  expect(await shown(a.key, 'ended')).toEqual([]);
  shiftClock(3 * HOUR_MS);
  expect(await shown(a.key, 'ended')).toEqual([]);
  expect((await endAnnouncement(staff, running.id)).ends_at).toEqual(first.ends_at);
  await expect(endAnnouncement(staff, 'ann_x')).rejects.toMatchObject({ code: 'not_found' });
});

test('what cannot be meant is refused, with its place', async () => {
  for (const [given, param] of [
    [{ audience: 'plans' }, 'audience_values'],
    [{ audience: 'all', audience_values: ['team'] }, 'audience_values'],
    [{ audience: 'plans', audience_values: ['team', 'gold'] }, 'audience_values[1]'],
    [{ audience: 'countries', audience_values: ['India'] }, 'audience_values[0]'],
    [{ audience: 'orgs', audience_values: ['nobody-here'] }, 'audience_values[0]'],
    [{ starts_at: inHours(2), ends_at: inHours(1) }, 'ends_at'],
    [{ starts_at: inHours(-2), ends_at: inHours(-1) }, 'ends_at'],
  ] as const)
    await expect(say('refused', given as never)).rejects.toMatchObject({ code: 'invalid_request', param });
});

test('the audit log says who of staff made and ended it; customers see no name', async () => {
  const { id } = await say('audited');
  expect((await call('GET', '/v1/announcements', { key: a.key })).body).not.toContain('ann@');
  await endAnnouncement(staff, id);
  const { rows } = await pool.query({
    name: '',
    text: 'select action, actor_type, actor_display from audit_entry where target_id = $1 order by id',
    values: [id],
  });
  expect(rows).toEqual([
    { action: 'staff.announcements.create', actor_type: 'staff', actor_display: 'ann@svc.example' },
    { action: 'staff.announcements.end', actor_type: 'staff', actor_display: 'ann@svc.example' },
  ]);
});
