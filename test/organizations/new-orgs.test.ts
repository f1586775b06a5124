// Limits against abuse of organizations that people make themselves: who has them, what lifts them, and what staff change.
import { changeNewOrgLimits, signInSettings } from '@svc/core/identity/index.ts';
import { type Id, microUsd, readConfig, shiftClock } from '@svc/core/kernel/index.ts';
import { credit } from '@svc/core/ledger/index.ts';
import { findOrg, findProject, type Org, type Project, readNewOrgLimits } from '@svc/core/orgs/index.ts';
import { overrideLimits } from '@svc/core/support/index.ts';
import { afterEach, expect, test } from 'vitest';
import { codeOf, type Tenant } from '../registry/harness.ts';
import { payTopup } from '../registry/topup-rows.ts';
import { staffContext } from '../support/provision.ts';
import { startWorld } from './world.ts';

const sign_in = signInSettings(readConfig({ SVC_SIGNUP: 'open' }), 'http://127.0.0.1:8080');
const world = await startWorld({ services: { sign_in } });
const { a, b, call, context, keys, makePerson, makeTenant, pool, signIn } = world;
const staff = staffContext(pool);
const HOUR_MS = 3_600_000;
const TRIAL = { rpm: 20, tpm: null, concurrency: null };
afterEach(() => shiftClock(0));

const rows = async <Row>(text: string, values: readonly unknown[] = []) =>
  (await pool.query<Row>({ name: '', text, values })).rows;

interface Founded extends Pick<Tenant, 'org' | 'live' | 'test'> {
  readonly owner: string;
}

let founded = 0;
/** An organization that a person makes by signing up. */
async function found(): Promise<Founded> {
  const stranger = await signIn(await makePerson(b, 'viewer'));
  const body = { name: 'Made', slug: `made-${++founded}`, billing_country: 'US' };
  const made = await call('POST', '/v1/orgs', { key: stranger, body });
  expect(made.statusCode, made.body).toBe(201);
  const { id } = made.json() as { id: Id<'org'> };
  const entered = await call('POST', '/v1/auth/session/org', { key: stranger, body: { org_id: id } });
  const { token: owner } = entered.json() as { token: string };
  const projects = await rows<{ id: Id<'project'> }>(
    `select id from project where org_id = $1 order by environment`,
    [id],
  );
  const [live, play] = await Promise.all(
    projects.map(({ id: project }) => findProject(pool, { org_id: id, id: project })),
  );
  return { org: (await findOrg(pool, id)) as Org, live: live as Project, test: play as Project, owner };
}
const create = ({ live, owner }: Founded, name: string, headers: Record<string, string> = {}) =>
  call('POST', '/v1/keys', {
    ...{ key: owner, headers },
    body: { project_id: live.id, name, scopes: ['inference', 'read:usage'], environment: 'live' },
  });
const secretOf = async (org: Founded, name: string) =>
  ((await create(org, name)).json() as { secret: string }).secret;
const marksOf = async ({ org }: Pick<Founded, 'org'>) =>
  (
    await rows<{ self_made: boolean; awaits_topup: boolean }>(
      'select self_made, awaits_topup from org where id = $1',
      [org.id],
    )
  )[0];
const trialOf = async (secret: string) => (await keys.verify(secret)).limits.trial;
const shownTo = async (key: string) => (await call('GET', '/v1/limits', { key })).json().new_org;

test('an organization made by signing up is bound until it pays; those of staff are not, and test keys keep theirs', async () => {
  const made = await found();
  expect(await marksOf(made)).toEqual({ self_made: true, awaits_topup: true });
  const secret = await secretOf(made, 'first');
  expect(await trialOf(secret)).toEqual(TRIAL);
  expect(await shownTo(secret)).toEqual({ rpm: 20, rpm_until: 'first_topup_paid', keys_per_hour: 20 });
  const play = await call('POST', '/v1/keys', {
    key: made.owner,
    body: {
      project_id: made.test.id,
      name: 'play',
      scopes: ['inference', 'read:usage'],
      environment: 'test',
    },
  });
  const { secret: play_secret } = play.json() as { secret: string };
  expect(await trialOf(play_secret)).toBeNull();
  expect(await shownTo(play_secret)).toEqual({ rpm: null, rpm_until: null, keys_per_hour: 20 });
  const by_staff = await makeTenant('by-staff');
  expect(await marksOf(by_staff)).toEqual({ self_made: false, awaits_topup: false });
  expect(await trialOf(by_staff.key)).toBeNull();
  expect(await shownTo(a.key)).toEqual({ rpm: null, rpm_until: null, keys_per_hour: null });
});

test('the first payment lifts it in its own transaction, within a second in a key ring; credit that was given does not', async () => {
  const made = await found();
  const secret = await secretOf(made, 'paying');
  await credit(pool, {
    ...{ book_id: made.org.live_book_id, kind: 'grant', granted: true, expires_at: null },
    ...{ amount_micro_usd: microUsd(5_000_000), ref_type: 'staff', ref_id: 'a gift' },
  });
  const undone = new Error('undone');
  await expect(payTopup(context, made, undone)).rejects.toBe(undone);
  expect(await marksOf(made)).toEqual({ self_made: true, awaits_topup: true });
  expect(await trialOf(secret)).toEqual(TRIAL);
  await payTopup(context, made);
  expect(await marksOf(made)).toEqual({ self_made: true, awaits_topup: false });
  await expect.poll(() => trialOf(secret), { timeout: 5_000 }).toBeNull();
  expect(await shownTo(secret)).toEqual({ rpm: null, rpm_until: null, keys_per_hour: 20 });
  // A second payment finds nothing to lift, and an organization of staff is as it was.
  await payTopup(context, made);
  await payTopup(context, a);
  expect(await marksOf(a)).toEqual({ self_made: false, awaits_topup: false });
});

test('what staff grant an organization for its requests lifts it too', async () => {
  const made = await found();
  const secret = await secretOf(made, 'granted');
  expect(await trialOf(secret)).toEqual(TRIAL);
  await overrideLimits(staff, { org_id: made.org.id, limits: { rpm: 400 }, reason: 'a known company' });
  await expect.poll(() => trialOf(secret), { timeout: 5_000 }).toBeNull();
  expect((await keys.verify(secret)).limits.plan.rpm).toBe(400);
});

test('of thirty keys at once twenty are made, and one more when the first is an hour old; revoking makes no room', async () => {
  const made = await found();
  const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => create(made, `key ${n}`)));
  const refused = answers.filter(({ statusCode }) => statusCode === 429);
  expect([answers.filter(({ statusCode }) => statusCode === 201).length, refused.length]).toEqual([20, 10]);
  expect(refused[0]?.json()).toMatchObject({
    error: {
      code: 'rate_limit_exceeded',
      message: 'This organization can create 20 keys in an hour.',
      details: { limit: 'keys_per_hour', scope: 'org', limit_value: 20 },
    },
  });
  expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThan(3_000);
  const first = answers.find(({ statusCode }) => statusCode === 201)?.json() as { id: string };
  expect((await call('DELETE', `/v1/keys/${first.id}`, { key: made.owner })).statusCode).toBe(200);
  expect(codeOf(await create(made, 'in its place'))).toBe('rate_limit_exceeded');
  const other = answers.filter(({ statusCode }) => statusCode === 201)[1]?.json() as { id: string };
  const rotated = await call('POST', `/v1/keys/${other.id}/rotate`, { key: made.owner, body: {} });
  expect(rotated.statusCode, rotated.body).toBe(201);
  shiftClock(HOUR_MS + 1_000);
  const late = await signIn(await makePerson({ ...made, key: '', key_id: 'key_', test_key: '' }, 'owner'));
  expect((await create({ ...made, owner: late }, 'later')).statusCode).toBe(201);
});

test('a request that is repeated under its key makes one key and counts once', async () => {
  const made = await found();
  const headers = { 'idempotency-key': 'the-same' };
  const one = await create(made, 'once', headers);
  for (let n = 0; n < 25; n++) {
    const again = await create(made, 'once', headers);
    expect([again.statusCode, again.json().id]).toEqual([201, one.json().id]);
  }
  for (let n = 0; n < 19; n++) expect((await create(made, `more ${n}`)).statusCode).toBe(201);
  expect(codeOf(await create(made, 'too many'))).toBe('rate_limit_exceeded');
});

test('an organization of staff creates as many keys as its plan has', async () => {
  const by_staff = await makeTenant('many-keys');
  const owner = await signIn(await makePerson(by_staff, 'owner'));
  for (let n = 0; n < 22; n++)
    expect((await create({ ...by_staff, owner }, `key ${n}`)).statusCode).toBe(201);
});

test('staff change both limits, key rings follow within a second, and the audit log keeps the reason', async () => {
  const made = await found();
  const secret = await secretOf(made, 'followed');
  expect(await trialOf(secret)).toEqual(TRIAL);
  expect(await changeNewOrgLimits(staff, { first_rpm: 7, reason: 'a wave of sign-ups' })).toEqual({
    ...{ first_rpm: 7, keys_per_hour: 20 },
  });
  await expect.poll(() => trialOf(secret), { timeout: 5_000 }).toEqual({ ...TRIAL, rpm: 7 });
  await changeNewOrgLimits(staff, { first_rpm: null, keys_per_hour: 2, reason: 'over' });
  await expect.poll(() => trialOf(secret), { timeout: 5_000 }).toBeNull();
  expect(await readNewOrgLimits(pool)).toEqual({ first_rpm: null, keys_per_hour: 2 });
  expect((await create(made, 'second')).statusCode).toBe(201);
  expect(codeOf(await create(made, 'third'))).toBe('rate_limit_exceeded');
  await changeNewOrgLimits(staff, { first_rpm: 20, keys_per_hour: null, reason: 'as before' });
  expect((await create(made, 'third')).statusCode).toBe(201);
  const entries = await rows<{ reason: string }>(
    `select reason from audit_entry where action = 'staff.new_orgs.set' order by id`,
  );
  expect(entries.map(({ reason }) => reason)).toEqual(['a wave of sign-ups', 'over', 'as before']);
  expect(world.defects).toEqual([]);
});
