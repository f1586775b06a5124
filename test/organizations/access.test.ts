// Requests for access: what whoever asks learns, what staff decide, and what the link of an approval does.
import {
  approveAccess,
  declineAccess,
  listWaitingAccess,
  purgeSignIn,
  signInSettings,
} from '@svc/core/identity/index.ts';
import { type Id, readConfig, shiftClock } from '@svc/core/kernel/index.ts';
import { afterEach, expect, test } from 'vitest';
import { codeOf } from '../registry/harness.ts';
import { startChallengeSim } from '../sim/challenge.ts';
import { startWorld } from './world.ts';

const sim = await startChallengeSim({ provider: 'hcaptcha', secret: 'secret of the site' });
const settings = readConfig({
  ...{ SVC_CHALLENGE: 'hcaptcha', SVC_CHALLENGE_SITE_KEY: 'site', SVC_CHALLENGE_URL: sim.url },
  SVC_CHALLENGE_SECRET: 'secret of the site',
});
const world = await startWorld({ services: { sign_in: signInSettings(settings, 'http://127.0.0.1:8080') } });
const { a, call, context, linkOf, mailsTo, makePerson, pool, root_key, signIn } = world;
const PASSWORD = 'seven quiet rivers';
const DAY = 86_400_000;

afterEach(() => shiftClock(0));

let places = 0;
const somewhere = () => `198.51.100.${++places}`;
const facts = {
  name: 'Asha Rao',
  company: 'Acme',
  use_case: 'Answers in nine languages.',
  accept_terms: true,
};
const ask = (email: string, more: object = {}, ip = somewhere()) =>
  call('POST', '/v1/access-requests', {
    ...{ ip, body: { email, ...facts, ...more } },
    headers: { 'x-svc-challenge': sim.solve() },
  });
const look = (token: string, ip = somewhere()) =>
  call('POST', '/v1/access-requests/activation', { body: { token }, ip });
const activate = (token: string, password = PASSWORD, ip = somewhere()) =>
  call('POST', '/v1/access-requests/activate', { body: { token, password }, ip });
const approve = (id: Id<'access_request'>) => approveAccess(context, { id, reason: 'a partner', root_key });
const decline = (id: Id<'access_request'>, tells = true) =>
  declineAccess(context, { id, reason: 'no use case', tells });

async function waiting(email: string) {
  const rows = await listWaitingAccess(pool, { after: null, limit: 200 });
  return rows.filter((row) => row.email === email);
}

/** Asks, and returns what staff see. */
async function asked(email: string) {
  expect((await ask(email)).statusCode).toBe(201);
  const [row] = await waiting(email);
  if (row === undefined) throw new Error('nothing waits');
  return row;
}

test('a person asks, is approved, sets a password, signs in and makes an organization', async () => {
  const email = 'Asha@Partners.example';
  const answer = await ask(email, { country: 'IN', monthly_spend: '1,000 to 5,000 USD' });
  expect([answer.statusCode, answer.json()]).toEqual([201, { status: 'received' }]);
  const [row] = await waiting(email);
  expect(row).toMatchObject({ email, company: 'Acme', country: 'IN', website: '', reviewed_by: null });
  const approved = await approve(row?.id as Id<'access_request'>);
  expect([approved.status, approved.reviewed_by]).toEqual(['approved', 'test']);
  const token = await linkOf('access_approved', email);
  expect((await look(token)).json()).toEqual({
    ...{ email, name: 'Asha Rao', expires_at: approved.expires_at?.toISOString() },
  });
  expect(codeOf(await activate(token, 'password1234'))).toBe('weak_password');
  const activated = await activate(token);
  expect([activated.statusCode, activated.json()]).toEqual([200, { email, status: 'activated' }]);
  const key = await signIn({ email: 'asha@partners.example', password: PASSWORD });
  const body = { name: 'Partners', slug: 'partners', billing_country: 'IN' };
  expect((await call('POST', '/v1/orgs', { key, body })).statusCode).toBe(201);
  for (const answer of [await look(token), await activate(token)])
    expect(codeOf(answer)).toBe('token_invalid');
});

test('an address has one request, which says what was said last, however many ask at once', async () => {
  const email = 'many@partners.example';
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, n) =>
      ask(n % 2 === 0 ? email : email.toUpperCase(), { company: `No ${n}` }),
    ),
  );
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(6).fill(201));
  await ask(email, { company: 'The last' });
  expect((await waiting(email)).map(({ company }) => company)).toEqual(['The last']);
});

test('for an address with an account the answer is the same, staff see nothing, and its mailbox learns of it', async () => {
  const member = await makePerson(a, 'viewer');
  const answer = await ask(member.email);
  expect([answer.statusCode, answer.json()]).toEqual([201, { status: 'received' }]);
  expect(await waiting(member.email)).toEqual([]);
  expect(await mailsTo('account_exists', member.email)).toBe(1);
});

test('without consent, an answer to the challenge or an address nothing is stored; five a day come from one network', async () => {
  const email = 'strict@partners.example';
  const ip = somewhere();
  expect((await ask(email, { accept_terms: false })).json().error.param).toBe('accept_terms');
  expect((await ask('nobody')).json().error.param).toBe('email');
  const unsolved = await call('POST', '/v1/access-requests', { ip, body: { email, ...facts } });
  expect(codeOf(unsolved)).toBe('challenge_failed');
  expect(await waiting(email)).toEqual([]);
  const answers = [];
  for (let n = 0; n < 6; n++) answers.push(await ask(`n${n}@partners.example`, {}, ip));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([...Array(5).fill(201), 429]);
  shiftClock(DAY + 1_000);
  expect((await ask(email, {}, ip)).statusCode).toBe(201);
});

test('of approving and declining at once one wins, and one mail says which', async () => {
  for (let round = 0; round < 6; round++) {
    const email = `race${round}@partners.example`;
    const { id } = await asked(email);
    const ends = await Promise.allSettled([approve(id), decline(id)]);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const mails = [await mailsTo('access_approved', email), await mailsTo('access_declined', email)];
    expect(mails).toEqual(ends[0]?.status === 'fulfilled' ? [1, 0] : [0, 1]);
  }
});

test('one link of an approval used by eight at once makes one account', async () => {
  const email = 'eight@partners.example';
  await approve((await asked(email)).id);
  const token = await linkOf('access_approved', email);
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) => activate(token, `quiet river number ${n}`)),
  );
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, ...Array(7).fill(400)]);
  const won = answers.findIndex(({ statusCode }) => statusCode === 200);
  expect(await signIn({ email, password: `quiet river number ${won}` })).toMatch(/^svc-sess-/);
});

test('a link lives three days; then it is approved again, or asked for again, and the old one leads nowhere', async () => {
  const email = 'late@partners.example';
  const { id } = await asked(email);
  await approve(id);
  const old = await linkOf('access_approved', email);
  await expect(approve(id)).rejects.toMatchObject({ code: 'state_conflict' });
  shiftClock(3 * DAY);
  for (const answer of [await look(old), await activate(old)]) expect(codeOf(answer)).toBe('token_expired');
  await approve(id);
  const fresh = await linkOf('access_approved', email);
  expect(codeOf(await look(old))).toBe('token_invalid');
  expect((await look(fresh)).statusCode).toBe(200);
  shiftClock(7 * DAY);
  expect((await asked(email)).id).toBe(id);
  expect(codeOf(await look(fresh))).toBe('token_invalid');
});

test('a declined person hears of it or does not, may ask again, and is forgotten after half a year', async () => {
  const email = 'no@partners.example';
  const { id } = await asked(email);
  await decline(id, false);
  expect([await mailsTo('access_declined', email), await waiting(email)]).toEqual([0, []]);
  await ask(email, { company: 'Another one' });
  expect((await waiting(email)).map((row) => [row.id, row.company])).toEqual([[id, 'Another one']]);
  await decline(id);
  expect(await mailsTo('access_declined', email)).toBe(1);
  await purgeSignIn(pool, new Date(Date.now() + 179 * DAY));
  await expect(decline(id)).rejects.toMatchObject({ code: 'state_conflict' });
  await purgeSignIn(pool, new Date(Date.now() + 181 * DAY));
  await expect(decline(id)).rejects.toMatchObject({ code: 'not_found' });
});

test('an account that was made meanwhile is not made twice', async () => {
  const email = 'viewer99@acme.example';
  await approve((await asked(email)).id);
  const token = await linkOf('access_approved', email);
  await pool.query({
    name: 'test.person',
    text: `insert into person (id, email, email_key, name, password_hash, password_changed_at, created_at, updated_at)
           select $1, $2, $2, '', password_hash, $3, $3, $3 from person limit 1`,
    values: [context.newId('user'), email, new Date()],
  });
  expect(codeOf(await activate(token))).toBe('already_exists');
});

test('the log of acts has who decided and why, and nothing of a token', async () => {
  const email = 'logged@partners.example';
  await approve((await asked(email)).id);
  const { rows } = await pool.query<{ actor_display: string; reason: string; text: string }>({
    name: 'test.acts',
    text: `select actor_display, reason, entry::text as text from audit_entry entry
            where action = 'staff.access.approve' order by id desc limit 1`,
  });
  expect(rows[0]).toMatchObject({ actor_display: 'test', reason: 'a partner' });
  expect(rows[0]?.text).not.toContain(await linkOf('access_approved', email));
});

test('nobody met a defect', () => {
  expect(world.defects).toEqual([]);
});
