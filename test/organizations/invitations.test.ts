// Invitations: by mail, for one address, accepted once.
import { shiftClock } from '@svc/core/kernel/index.ts';
import { afterEach, expect, test } from 'vitest';
import { codeOf } from '../registry/harness.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { a, b, call, makePerson, makeTenant, signIn, linkOf, roleOf } = world;
const owner = await signIn(await makePerson(a, 'owner'));
const PATH = `/v1/orgs/${a.org.id}/invitations`;
const PASSWORD = 'seven quiet rivers';

afterEach(() => shiftClock(0));

const invite = (email: string, role = 'developer', key = owner) =>
  call('POST', PATH, { key, body: { email, role } });
const lookUp = (token: string, ip?: string) =>
  call('POST', '/v1/invitations/lookup', { body: { token }, ...(ip === undefined ? {} : { ip }) });
const accept = (key: string, token: string) =>
  call('POST', '/v1/invitations/accept', { key, body: { token } });
const register = (email: string, token: string, more: object = {}) =>
  call('POST', '/v1/auth/register', {
    body: {
      ...{ email, password: PASSWORD, name: 'Ravi', accept_terms: true, invitation_token: token },
      ...more,
    },
  });

test('a person without an account registers with the link and is a member at once', async () => {
  const email = 'Ravi@new.example';
  const made = await invite(email);
  expect([made.statusCode, made.json().status]).toEqual([201, 'pending']);
  const token = await linkOf('invitation', email);
  const offer = (await lookUp(token)).json();
  expect(offer).toMatchObject({ email, role: 'developer', has_account: false, org: { name: 'acme' } });
  const registered = await register('ravi@NEW.example', token);
  expect([registered.statusCode, registered.json()]).toEqual([201, { status: 'registered' }]);
  const session = await signIn({ email, password: PASSWORD });
  const state = (await call('GET', '/v1/auth/session', { key: session })).json();
  expect([state.role, state.org.slug]).toEqual(['developer', 'acme']);
  expect((await register(email, token)).json().error.code).toBe('token_invalid');
  const [first] = (await call('GET', PATH, { key: owner })).json().data;
  expect([first.id, first.status]).toEqual([made.json().id, 'accepted']);
});

test('a person of another organization accepts, and has both', async () => {
  const guest = await makePerson(b, 'viewer');
  await invite(guest.email, 'billing');
  const token = await linkOf('invitation', guest.email);
  expect((await lookUp(token)).json().has_account).toBe(true);
  expect(codeOf(await register(guest.email, token))).toBe('already_exists');
  const session = await signIn(guest);
  const accepted = await accept(session, token);
  expect([accepted.statusCode, accepted.json()]).toEqual([
    200,
    { org: { id: a.org.id, slug: 'acme', name: 'acme' }, role: 'billing' },
  ]);
  expect([await roleOf(a.org.id, guest), await roleOf(b.org.id, guest)]).toEqual(['billing', 'viewer']);
});

test('the link is for the person who was invited and for nobody else', async () => {
  const guest = await makePerson(b, 'viewer');
  const thief = await makePerson(b, 'owner');
  await invite(guest.email);
  const token = await linkOf('invitation', guest.email);
  const stolen = await accept(await signIn(thief), token);
  expect([stolen.statusCode, codeOf(stolen)]).toEqual([403, 'permission_denied']);
  const other = await register('somebody@else.example', token);
  expect([other.statusCode, codeOf(other)]).toEqual([403, 'permission_denied']);
  expect(await roleOf(a.org.id, thief)).toBeNull();
  const { rows } = await world.pool.query<{ n: number }>({
    name: 'test.people',
    text: 'select count(*)::int as n from person where email_key = $1',
    values: ['somebody@else.example'],
  });
  expect(rows[0]?.n).toBe(0);
});

test('accepted twice at once it is accepted once, and subscribers hear of one member', async () => {
  const guest = await makePerson(b, 'viewer');
  await invite(guest.email);
  const token = await linkOf('invitation', guest.email);
  const session = await signIn(guest);
  const answers = await Promise.all(Array.from({ length: 8 }, () => accept(session, token)));
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, ...Array(7).fill(400)]);
  const { rows } = await world.pool.query<{ n: number }>({
    name: 'test.joined',
    text: `select count(*)::int as n from outbox where topic = 'member.added' and payload ->> 'user_id' = $1
            and org_id = $2`,
    values: [guest.id, a.org.id],
  });
  expect(rows[0]?.n).toBe(1);
});

test('of accepting and revoking at once one wins, and the list says which', async () => {
  for (let round = 0; round < 6; round++) {
    const guest = await makePerson(b, 'viewer');
    const { id } = (await invite(guest.email)).json();
    const token = await linkOf('invitation', guest.email);
    const session = await signIn(guest);
    const [accepted, revoked] = await Promise.all([
      accept(session, token),
      call('DELETE', `${PATH}/${id}`, { key: owner }),
    ]);
    const is_member = (await roleOf(a.org.id, guest)) !== null;
    expect([accepted.statusCode, revoked.statusCode]).toEqual(is_member ? [200, 409] : [400, 204]);
    const listed = (await call('GET', PATH, { key: owner })).json().data;
    expect(listed[0].status).toBe(is_member ? 'accepted' : 'revoked');
  }
});

test('sent again it has a new link for a week, and the old link leads nowhere', async () => {
  const email = 'late@new.example';
  const { id } = (await invite(email)).json();
  const old = await linkOf('invitation', email);
  shiftClock(8 * 86_400_000);
  const late = await signIn(await makePerson(a, 'owner'));
  expect(codeOf(await lookUp(old))).toBe('token_expired');
  expect(codeOf(await register(email, old))).toBe('token_expired');
  const listed = (await call('GET', PATH, { key: late })).json().data as { id: string; status: string }[];
  expect(listed.find((row) => row.id === id)?.status).toBe('expired');
  const again = await call('POST', `${PATH}/${id}/resend`, { key: late });
  expect([again.statusCode, again.json().status]).toEqual([200, 'pending']);
  const fresh = await linkOf('invitation', email);
  expect(fresh).not.toBe(old);
  expect(codeOf(await lookUp(old))).toBe('token_invalid');
  expect((await lookUp(fresh)).statusCode).toBe(200);
});

test('an address has one invitation that waits; a lapsed one makes room', async () => {
  const email = 'twice@new.example';
  const answers = await Promise.all([invite(email), invite(email), invite(email)]);
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([201, 409, 409]);
  shiftClock(8 * 86_400_000);
  const late = await signIn(await makePerson(a, 'owner'));
  expect((await invite(email, 'viewer', late)).statusCode).toBe(201);
});

test('members are not invited, and an admin invites no owner', async () => {
  const member = await makePerson(a, 'viewer');
  const admin = await signIn(await makePerson(a, 'admin'));
  const there = await invite(member.email);
  expect([there.statusCode, codeOf(there)]).toEqual([409, 'already_exists']);
  const above = await invite('boss@new.example', 'owner', admin);
  expect([above.statusCode, codeOf(above)]).toEqual([403, 'permission_denied']);
  expect((await invite('peer@new.example', 'admin', admin)).statusCode).toBe(201);
});

test('an organization sends a hundred invitations in a day, those sent again among them', async () => {
  const { org } = await makeTenant('many');
  const key = await signIn(await makePerson({ ...a, org }, 'owner'));
  const path = `/v1/orgs/${org.id}/invitations`;
  const { id } = (await call('POST', path, { key, body: { email: 'x0@y.example', role: 'viewer' } })).json();
  for (let n = 0; n < 99; n++)
    expect((await call('POST', `${path}/${id}/resend`, { key })).statusCode).toBe(200);
  const over = await call('POST', path, { key, body: { email: 'x1@y.example', role: 'viewer' } });
  expect([over.statusCode, codeOf(over)]).toEqual([429, 'rate_limit_exceeded']);
  expect((await call('POST', `${path}/${id}/resend`, { key })).statusCode).toBe(429);
  shiftClock(86_400_000 + 60_000);
  const later = await signIn(await makePerson({ ...a, org }, 'owner'));
  expect((await call('POST', `${path}/${id}/resend`, { key: later })).statusCode).toBe(200);
});

test('guessed links end the tries of their address, and cost nothing of another one', async () => {
  const email = 'guess@new.example';
  await invite(email);
  const token = await linkOf('invitation', email);
  const ip = '203.0.113.77';
  const wrong = `svc-inv-${'A'.repeat(43)}`;
  const answers = await Promise.all(Array.from({ length: 12 }, () => lookUp(wrong, ip)));
  expect(answers.filter(({ statusCode }) => statusCode === 400)).toHaveLength(10);
  const locked = await lookUp(token, ip);
  expect([locked.statusCode, codeOf(locked)]).toEqual([429, 'too_many_attempts']);
  for (let n = 0; n < 15; n++) expect((await lookUp(token, '203.0.113.78')).statusCode).toBe(200);
});

test('without an invitation nobody registers, and a refused password costs the link nothing', async () => {
  const alone = await call('POST', '/v1/auth/register', {
    body: { email: 'x@new.example', password: PASSWORD, name: 'X', accept_terms: true },
  });
  expect([alone.statusCode, codeOf(alone)]).toEqual([403, 'invite_required']);
  const email = 'weak@new.example';
  await invite(email);
  const token = await linkOf('invitation', email);
  expect(codeOf(await register(email, token, { password: 'password1234' }))).toBe('weak_password');
  const refused = await register(email, token, { accept_terms: false });
  expect(refused.json().error.param).toBe('accept_terms');
  expect((await register(email, token)).statusCode).toBe(201);
});

test('nobody met a defect', () => {
  expect(world.defects).toEqual([]);
});

test('an invitation is shown with these fields and no other, and nowhere with its link', async () => {
  const inviter = await makePerson(a, 'owner');
  const key = await signIn(inviter);
  const made = await invite('fields@new.example', 'viewer', key);
  const shown = {
    ...{ id: expect.stringMatching(/^ivt_[0-9A-HJKMNP-TV-Z]{26}$/), org_id: a.org.id },
    ...{ email: 'fields@new.example', role: 'viewer', status: 'pending', invited_by: inviter.id },
    ...{ expires_at: expect.any(String), created_at: expect.any(String) },
  };
  expect(made.json()).toEqual(shown);
  const { expires_at, created_at } = made.json();
  expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(7 * 86_400_000);
  const listed = await call('GET', PATH, { key });
  expect(listed.json().data.find(({ id }: { id: string }) => id === made.json().id)).toEqual(shown);
  expect(listed.body + made.body).not.toContain(await linkOf('invitation', 'fields@new.example'));
});
