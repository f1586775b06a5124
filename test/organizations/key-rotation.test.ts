// How long keys live after a rotation: the new one as long as the old one was made for, the old one no longer than it would have.
import { shiftClock } from '@svc/core/kernel/index.ts';
import { afterEach, expect, test } from 'vitest';
import { codeOf, startHarness } from '../registry/harness.ts';

const harness = await startHarness();
const { a, call } = harness;
const HOUR_MS = 3_600_000;
const owner = await harness.signIn(await harness.makePerson(a, 'owner'));

afterEach(() => shiftClock(0));

async function keyOf(hours: number): Promise<{ id: string; expires_at: string; created_at: string }> {
  const body = { project_id: a.live.id, name: 'job', scopes: ['inference'], expires_in: `${hours}h` };
  const made = await call('POST', '/v1/keys', { key: owner, body });
  expect(made.statusCode, made.body).toBe(201);
  return made.json();
}
const rotate = (id: string, grace_seconds: number, key = owner) =>
  call('POST', `/v1/keys/${id}/rotate`, { key, body: { grace_seconds } });
const read = async (id: string) => (await call('GET', `/v1/keys/${id}`, { key: owner })).json();

test('a key that a person rotates is replaced by one that lives as long as it was made for, from now on', async () => {
  const old = await keyOf(48);
  shiftClock(8 * HOUR_MS);
  const fresh = (await rotate(old.id, 0)).json();
  expect(Date.parse(fresh.expires_at) - Date.parse(fresh.created_at)).toBe(48 * HOUR_MS);
});

test('a key that a key rotates keeps its end', async () => {
  const old = await keyOf(48);
  shiftClock(8 * HOUR_MS);
  expect((await rotate(old.id, 0, a.key)).json().expires_at).toBe(old.expires_at);
});

test('the grace of the old key is no longer than it would have lived', async () => {
  const old = await keyOf(48);
  await rotate(old.id, 3_600);
  const in_grace = await read(old.id);
  expect(in_grace.status).toBe('rotating');
  expect(Date.parse(in_grace.expires_at)).toBeLessThan(Date.parse(old.created_at) + 2 * HOUR_MS);
  const short = await keyOf(1);
  await rotate(short.id, 7_200);
  expect((await read(short.id)).expires_at).toBe(short.expires_at);
});

test.each([-1, 604_801, 1.5])(
  'a grace of %s seconds is refused at its field, and nothing is rotated',
  async (grace) => {
    const old = await keyOf(48);
    const answer = await rotate(old.id, grace);
    expect([answer.statusCode, codeOf(answer), answer.json().error.param]).toEqual([
      ...[400, 'invalid_request', 'grace_seconds'],
    ]);
    expect((await read(old.id)).status).toBe('active');
  },
);

test('a grace of a week is allowed, and a key in its grace is not rotated again', async () => {
  const old = await keyOf(400);
  expect((await rotate(old.id, 604_800)).statusCode).toBe(201);
  const again = await rotate(old.id, 0);
  expect([again.statusCode, codeOf(again)]).toEqual([409, 'state_conflict']);
});
