// Tickets: who writes and reads them, how staff answer, and how they end.
import { createContext } from '@svc/core/operations/index.ts';
import { answerTicket, readThread } from '@svc/core/support/index.ts';
import { expect, test } from 'vitest';
import { codeOf, type Tenant } from '../registry/harness.ts';
import { makeTopup } from '../registry/topup-rows.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { a, b, call, makePerson, makeTenant, pool, signIn } = world;
/** A member of staff, as the staff listener has them. */
const staff = createContext({
  ...{ request_id: world.context.request_id, pool, log: world.context.log, services: {} as never },
  caller: { kind: 'staff', name: 'ann@svc.example', staff_id: null, roles: ['support'] },
});

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly waiting_for: string | null;
  readonly resolution: string;
  readonly body: Record<string, unknown>;
  readonly created_by: string | null;
  readonly messages: readonly { author: string; author_name: string; text: string }[];
}

async function open(key: string, body: object = {}): Promise<Shown> {
  const given = { subject: 'A question', body: 'How does it work?', ...body };
  const made = await call('POST', '/v1/tickets', { key, body: given });
  expect(made.statusCode, made.body).toBe(201);
  return made.json();
}
const reply = (key: string, id: string, text: string) =>
  call('POST', `/v1/tickets/${id}/messages`, { key, body: { text } });
const close = (key: string, id: string) => call('POST', `/v1/tickets/${id}/close`, { key });
const read = async (key: string, id: string): Promise<Shown> =>
  (await call('GET', `/v1/tickets/${id}`, { key })).json();
const answer = (id: string, text: string, resolve = false) => answerTicket(staff, { id, text, resolve });

const rows = async <T>(text: string, values: unknown[]) =>
  (await pool.query<T>({ name: '', text, values })).rows;
const eventsOf = async (id: string) =>
  (
    await rows<{ status: string }>(
      `select payload ->> 'status' as status from outbox
        where topic = 'ticket.updated' and payload ->> 'ticket_id' = $1 order by outbox_id`,
      [id],
    )
  ).map(({ status }) => status);
const mailedFor = async (id: string) =>
  (
    await rows<{ recipient: string }>(
      `select recipient from mail where template = 'ticket_answered' and reference like $1 || '-%' order by created_at`,
      [id],
    )
  ).map(({ recipient }) => recipient);

async function person(tenant: Tenant, role: 'owner' | 'viewer') {
  const made = await makePerson(tenant, role);
  return { ...made, key: await signIn(made) };
}

test('a ticket goes back and forth until staff settle it, and another word opens it again', async () => {
  const viewer = await person(a, 'viewer');
  const { id, ...made } = await open(viewer.key);
  expect(made).toMatchObject({ status: 'open', waiting_for: 'staff', created_by: viewer.id, messages: [] });
  await answer(id, 'Which model?');
  expect(await read(viewer.key, id)).toMatchObject({ status: 'open', waiting_for: 'customer' });
  expect((await reply(viewer.key, id, 'acme/fast-1')).statusCode).toBe(201);
  await answer(id, 'It is mended.', true);
  const settled = await read(viewer.key, id);
  expect(settled).toMatchObject({ status: 'resolved', waiting_for: null, resolution: 'It is mended.' });
  expect(settled.messages.map(({ author_name, text }) => [author_name, text])).toEqual([
    ['Support', 'Which model?'],
    [viewer.email, 'acme/fast-1'],
    ['Support', 'It is mended.'],
  ]);
  const again = (await reply(viewer.key, id, 'It is not.')).json();
  expect(again).toMatchObject({ status: 'open', waiting_for: 'staff', resolution: '' });
  expect(await eventsOf(id)).toEqual(['open', 'resolved', 'open']);
  expect(await mailedFor(id)).toEqual([viewer.email, viewer.email]);
});

test('staff see who of them wrote; customers never do', async () => {
  const owner = await person(a, 'owner');
  const { id } = await open(owner.key);
  await answer(id, 'Hello.');
  const { messages } = await readThread(staff, { id, org_id: null });
  expect(messages.map(({ author_name }) => author_name)).toEqual(['ann@svc.example']);
  expect((await call('GET', `/v1/tickets/${id}`, { key: owner.key })).body).not.toContain('ann@');
});

test('a ticket that was closed takes no more words, and closing it again changes nothing', async () => {
  const owner = await person(a, 'owner');
  const { id } = await open(owner.key);
  expect((await close(owner.key, id)).json().status).toBe('closed');
  expect((await close(owner.key, id)).statusCode).toBe(200);
  expect(codeOf(await reply(owner.key, id, 'one more'))).toBe('state_conflict');
  await expect(answer(id, 'too late')).rejects.toMatchObject({ code: 'state_conflict' });
  expect(await eventsOf(id)).toEqual(['closed']);
  expect(await mailedFor(id)).toEqual([]);
});

test('the answer goes to owners and admins where who asked is a service key or has left', async () => {
  const tenant = await makeTenant('asked-by-key');
  const owner = await person(tenant, 'owner');
  const { id } = await open(tenant.key);
  await answer(id, 'Here it is.');
  expect(await mailedFor(id)).toEqual([owner.email]);
  const leaver = await person(tenant, 'viewer');
  const theirs = await open(leaver.key);
  await call('DELETE', `/v1/orgs/${tenant.org.id}/members/${leaver.id}`, { key: owner.key });
  await answer(theirs.id, 'Here too.');
  expect(await mailedFor(theirs.id)).toEqual([owner.email]);
});

test('a ticket names documents of its own organization alone', async () => {
  const own = await makeTopup(world.context, a);
  const foreign = await makeTopup(world.context, b);
  const made = await open(a.key, { kind: 'invoice_correction', invoice_id: own.invoice_id });
  // People read the number.
  const invoice_number = expect.stringMatching(/^INV\//);
  expect(made.body).toEqual({ text: 'How does it work?', invoice_id: own.invoice_id, invoice_number });
  expect((await open(a.key, { kind: 'refund', topup_id: own.topup_id })).body['topup_id']).toBe(own.topup_id);
  for (const about of [
    { invoice_id: foreign.invoice_id },
    { topup_id: foreign.topup_id },
    { topup_id: 'x' },
  ]) {
    const refused = await call('POST', '/v1/tickets', {
      ...{ key: a.key, body: { subject: 'x', body: 'y', ...about } },
    });
    expect(codeOf(refused)).toBe('not_found');
  }
});

test('lists filter by kind and status, and page', async () => {
  const tenant = await makeTenant('many-tickets');
  const made = [await open(tenant.key), await open(tenant.key, { kind: 'refund' }), await open(tenant.key)];
  await close(tenant.key, (made[2] as Shown).id);
  const list = async (query: string) =>
    (await call('GET', `/v1/tickets?${query}`, { key: tenant.key })).json();
  expect((await list('kind=refund')).data.map(({ id }: Shown) => id)).toEqual([made[1]?.id]);
  expect((await list('status=open')).data).toHaveLength(2);
  const first = await list('limit=2');
  expect(first.data).toHaveLength(2);
  const rest = await list(`limit=2&cursor=${first.next_cursor}`);
  expect(rest.data.map(({ id }: Shown) => id)).toEqual([made[0]?.id]);
  expect(rest.data[0]).not.toHaveProperty('messages');
});

test('a request for higher limits is a ticket that takes words, but is decided where limits are', async () => {
  const tenant = await makeTenant('asks-for-more');
  await pool.query({
    name: '',
    text: `update org set plan_id = 'payg' where id = $1`,
    values: [tenant.org.id],
  });
  const asked = await call('POST', '/v1/limits/requests', {
    ...{ key: tenant.key, body: { key_id: tenant.key_id, rpm: 9_000 } },
  });
  const { id } = asked.json().ticket;
  const [listed] = (await call('GET', '/v1/tickets?kind=limit_increase', { key: tenant.key })).json().data;
  expect(listed).toMatchObject({ id, status: 'open', body: { requested: { rpm: 9_000 } } });
  await answer(id, 'For how long?');
  await expect(answer(id, 'No.', true)).rejects.toMatchObject({ code: 'state_conflict' });
  expect((await close(tenant.key, id)).json().status).toBe('closed');
});

test('words are bounded, limits are not asked for here, and a sandbox key writes none', async () => {
  const post = (body: object, key = a.key) => call('POST', '/v1/tickets', { key, body });
  const given = { subject: 'x', body: 'y' };
  for (const body of [
    { ...given, kind: 'limit_increase' },
    { ...given, body: 'z'.repeat(10_001) },
    { ...given, body: '' },
    { ...given, body: 'a\u0000b' },
    { ...given, subject: 'two\nlines' },
    { ...given, subject: 'x'.repeat(121) },
  ])
    expect(codeOf(await post(body))).toBe('invalid_request');
  expect(codeOf(await post(given, a.test_key))).toBe('sandbox_key_not_allowed');
});

test('of many tickets at once no more than a hundred are open', async () => {
  const tenant = await makeTenant('floods');
  await pool.query({
    name: '',
    text: `insert into ticket (id, org_id, kind, status, subject, body, created_at, updated_at)
           select 'tkt_' || lpad(n::text, 26, '0'), $1, 'other', 'open', 'x', '{}', now(), now()
             from generate_series(1, 95) as n`,
    values: [tenant.org.id],
  });
  const post = () =>
    call('POST', '/v1/tickets', { key: tenant.key, body: { subject: 'one more', body: 'please' } });
  const answers = await Promise.all(Array.from({ length: 12 }, post));
  expect(answers.filter(({ statusCode }) => statusCode === 201)).toHaveLength(5);
  expect(answers.filter(({ statusCode }) => statusCode === 409)).toHaveLength(7);
});

test('every act is an entry of the audit log, which has none of the words', async () => {
  const tenant = await makeTenant('audited-tickets');
  const owner = await person(tenant, 'owner');
  const { id } = await open(owner.key, { body: 'SECRET-WORDS' });
  await reply(owner.key, id, 'SECRET-WORDS');
  await answer(id, 'SECRET-WORDS');
  await close(owner.key, id);
  const entries = await rows<{ action: string; all: string }>(
    `select action, e::text as all from audit_entry e where org_id = $1 and target_id = $2 order by id`,
    [tenant.org.id, id],
  );
  expect(entries.map(({ action }) => action)).toEqual([
    ...['tickets.create', 'tickets.reply', 'staff.tickets.answer', 'tickets.close'],
  ]);
  for (const { all } of entries) expect(all).not.toContain('SECRET-WORDS');
});

test('a ticket is shown with these fields and no other; lists leave the messages out', async () => {
  const person = await makePerson(a, 'developer');
  const key = await signIn(person);
  const made = await open(key, { subject: 'Fields', body: 'Which are there?' });
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  const ticket = {
    ...{ id: expect.stringMatching(/^tkt_[0-9A-HJKMNP-TV-Z]{26}$/), org_id: a.org.id, kind: 'other' },
    ...{ status: 'open', subject: 'Fields', body: { text: 'Which are there?' }, waiting_for: 'staff' },
    ...{ created_by: person.id, resolution: '', created_at: time, updated_at: time },
  };
  expect(made).toEqual({ ...ticket, messages: [] });
  expect(await read(key, made.id)).toEqual({ ...ticket, messages: [] });
  const { data } = (await call('GET', '/v1/tickets', { key })).json();
  expect(data.find(({ id }: { id: string }) => id === made.id)).toEqual(ticket);
  const answered = (await reply(key, made.id, 'One more.')).json();
  expect(answered.messages).toEqual([
    {
      ...{ id: expect.stringMatching(/^\d+$/), author: 'customer', author_name: expect.any(String) },
      ...{ text: 'One more.', at: time },
    },
  ]);
});
