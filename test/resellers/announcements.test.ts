// What a reseller says to its customers, and who sees it.
import { expect, test } from 'vitest';
import { clockAt } from '../credits/world.ts';
import type { Tenant } from '../registry/harness.ts';
import { startResellers } from './world.ts';

const world = await startResellers();
const { ask, refused, harness } = world;
const acme = await world.reseller('acme-says');
const other = await world.reseller('other-says');
const north = await world.child(acme, 'north-says');
const theirs = await world.child(other, 'theirs-says');
const PATH = '/v1/reseller/announcements';

interface Said {
  readonly id: string;
  readonly title: string;
  readonly severity: string;
  readonly ends_at: string | null;
}
const say = (title: string, more: object = {}) =>
  ask<Said>('POST', PATH, acme.token, { title, body: 'Words.', ...more }, 201);
const shown = async (tenant: Tenant) =>
  (await ask<{ data: Said[] }>('GET', '/v1/announcements', tenant.key)).data.map(({ title }) => title);

test('its customers see it among those of the service, the gravest first; nobody else does', async () => {
  await say('a word');
  await say('a warning', { severity: 'warning' });
  expect(await shown(north)).toEqual(['a warning', 'a word']);
  for (const tenant of [theirs, other, acme]) expect(await shown(tenant)).toEqual([]);
  const seen = await harness.call('GET', '/v1/announcements', { key: north.key });
  expect(seen.body).not.toContain('@');
});

test('it is shown from its start to its end, and what is changed or deleted is seen at once', async () => {
  const from = Date.now() + 3_600_000;
  const at = (ms: number) => new Date(ms).toISOString();
  const made = await say('later', { starts_at: at(from), ends_at: at(from + 3_600_000) });
  const listed = async () => (await shown(north)).includes('later');
  expect(await listed()).toBe(false);
  clockAt(at(from + 1_000));
  expect(await listed()).toBe(true);
  await ask('PATCH', `${PATH}/${made.id}`, acme.token, { severity: 'critical', ends_at: null });
  expect((await shown(north))[0]).toBe('later');
  await ask('DELETE', `${PATH}/${made.id}`, acme.token, undefined, 204);
  expect(await listed()).toBe(false);
});

test('an end before the start is refused, as is what is not the reseller’s', async () => {
  const made = await say('mine');
  const backwards = { ends_at: '2020-01-01T00:00:00Z' };
  expect(await refused('POST', PATH, acme.token, { title: 't', body: 'b', ...backwards })).toEqual([
    ...[400, 'invalid_request'],
  ]);
  expect(await refused('PATCH', `${PATH}/${made.id}`, acme.token, backwards)).toEqual([
    400,
    'invalid_request',
  ]);
  expect(await refused('DELETE', `${PATH}/${made.id}`, other.token)).toEqual([404, 'not_found']);
  const all = await ask<{ data: Said[] }>('GET', PATH, acme.token);
  expect(all.data[0]).toMatchObject({ id: made.id, title: 'mine' });
});
