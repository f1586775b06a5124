// The desk of staff: an organization's top-ups, documents and acts, and the queue of what a person must look at.
import { putAccessRequest } from '@svc/core/identity/access/store.ts';
import { newId } from '@svc/core/kernel/index.ts';
import { sendMail } from '@svc/core/mail/index.ts';
import { overrideLimits } from '@svc/core/support/index.ts';
import { putStaffItem } from '@svc/core/topups/index.ts';
import { moveTopup } from '@svc/core/topups/store.ts';
import { beforeAll, expect, test } from 'vitest';
import { makeTopup } from '../registry/topup-rows.ts';
import { withClient } from '../support/books.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { harness, staff } = world;
const { a, b } = harness;
let finance = '';
let support = '';
let catalog = '';
let topup = '';

const put = (kind: string, subject: string, details: Record<string, string | number>) =>
  putStaffItem(harness.pool, { kind, subject, details, at: harness.context.now() });

beforeAll(async () => {
  finance = await world.signInStaff(['finance']);
  support = await world.signInStaff(['support']);
  catalog = await world.signInStaff(['catalog']);
  topup = (await makeTopup(harness.context, a)).topup_id;
});

const items = `query($org: ID, $after: String, $first: Int) { staffItems(orgId: $org, after: $after, first: $first) {
  nodes { id kind subject topupId orgId inReview details { name value } } pageInfo { hasNextPage endCursor } } }`;
const resolve = `mutation($input: ResolveStaffItemInput!) { resolveStaffItem(input: $input) { __typename
  ... on ResolveStaffItemPayload { replay item { id resolvedAt } } ... on UserError { code message path } } }`;

test('top-ups and documents of an organization are shown to finance and support, and never where one is paid', async () => {
  const query = `{ staffOrg(id: "${a.org.slug}") { topups { nodes { id status totalMinor checkoutUrl } }
    documents { nodes { number kind totalMinor topupId irnStatus irn } } } }`;
  const read = await world.ask(staff, support, query);
  expect(read.errors).toEqual([]);
  expect(read.data.staffOrg).toMatchObject({
    topups: { nodes: [{ id: topup, status: 'PENDING', totalMinor: '2500', checkoutUrl: null }] },
    documents: {
      nodes: [{ totalMinor: '2500', topupId: topup, irnStatus: 'not_applicable', irn: null }],
    },
  });
  const blind = await world.ask(staff, catalog, query);
  expect(blind.data.staffOrg).toEqual({ topups: null, documents: null });
});

test('the queue is oldest first, in pages, and of one organization where one is named', async () => {
  for (const day of ['2026-11-01', '2026-11-02', '2026-11-03']) {
    const org = day === '2026-11-02' ? b.org : a.org;
    await put('reconciliation_variance', `${org.id} ${day}`, { org_id: org.id, day, variance_micro: 7 });
  }
  const first = await world.ask(staff, support, items, { first: 2 });
  const after = first.data.staffItems.pageInfo.endCursor;
  const second = await world.ask(staff, support, items, { first: 2, after });
  const days = [first, second].flatMap(({ data }) =>
    data.staffItems.nodes.map(({ subject }: { subject: string }) => subject.slice(-10)),
  );
  expect(days).toEqual(['2026-11-01', '2026-11-02', '2026-11-03']);
  expect(second.data.staffItems.pageInfo.hasNextPage).toBe(false);
  const of_b = await world.ask(staff, support, items, { org: b.org.slug });
  expect(of_b.data.staffItems.nodes).toMatchObject([
    {
      orgId: b.org.id,
      topupId: null,
      details: expect.arrayContaining([{ name: 'variance_micro', value: '7' }]),
    },
  ]);
});

test('of many who end an item at once one does, with a note in the audit log of its organization', async () => {
  await put('second_payment', 'rail-b pay_2', { topup_id: topup, amount_minor: 2_500 });
  const { data } = await world.ask(staff, finance, items, { org: a.org.id });
  const item = data.staffItems.nodes.find(({ kind }: { kind: string }) => kind === 'second_payment');
  expect(item).toMatchObject({ topupId: topup, orgId: a.org.id, inReview: false });
  const input = { id: item.id, note: 'given back at the rail' };
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => world.ask(staff, finance, resolve, { input })),
  );
  const replays = answers.map(({ data }) => data.resolveStaffItem.replay);
  expect(replays.sort()).toEqual([false, true, true, true, true, true]);
  const left = await world.ask(staff, finance, items, { org: a.org.id });
  expect(left.data.staffItems.nodes.map(({ id }: { id: string }) => id)).not.toContain(item.id);
  const acts = await world.ask(
    staff,
    support,
    `{ staffOrg(id: "${a.org.slug}") { acts { nodes { action reason actor after { name value } } } } }`,
  );
  expect(acts.data.staffOrg.acts.nodes).toEqual([
    {
      action: 'staff.items.resolve',
      reason: 'given back at the rail',
      actor: 'staff1@svc.example',
      after: [
        { name: 'kind', value: 'second_payment' },
        { name: 'subject', value: 'rail-b pay_2' },
      ],
    },
  ]);
});

test('an item about a top-up in review stays until that is decided', async () => {
  const at = harness.context.now();
  await moveTopup(harness.pool, { id: topup as never, status: 'review', payment_ref: 'pay_3', at });
  await put('amount_mismatch', topup, { paid_minor: 2_400, expected_minor: 2_500 });
  const { data } = await world.ask(staff, finance, items, { org: a.org.id });
  const item = data.staffItems.nodes.find(({ kind }: { kind: string }) => kind === 'amount_mismatch');
  expect(item).toMatchObject({ topupId: topup, inReview: true });
  const input = { id: item.id, note: 'seen' };
  const refused = await world.ask(staff, finance, resolve, { input });
  expect(refused.data.resolveStaffItem).toMatchObject({
    __typename: 'ConflictError',
    code: 'state_conflict',
  });
});

test('only finance ends items, with a note, and only those that there are', async () => {
  const id = await withClient(harness.url, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      `select staff_item_id::text as id from staff_item where kind = 'reconciliation_variance' limit 1`,
    );
    return rows[0]?.id;
  });
  const asked = async (token: string, input: object) =>
    (await world.ask(staff, token, resolve, { input })).data.resolveStaffItem;
  expect(await asked(support, { id, note: 'no' })).toMatchObject({ code: 'permission_denied' });
  expect(await asked(finance, { id, note: '' })).toMatchObject({
    code: 'invalid_request',
    path: ['input', 'note'],
  });
  expect(await asked(finance, { id: '999999999', note: 'x' })).toMatchObject({ code: 'not_found' });
  expect(await asked(finance, { id: '1; drop', note: 'x' })).toMatchObject({ code: 'not_found' });
});

test('looks are in the log too, when they are asked for', async () => {
  const acts = await world.ask(
    staff,
    support,
    `{ staffOrg(id: "${b.org.slug}") { acts(looks: true) { nodes { action reason } } } }`,
  );
  expect(acts.data.staffOrg.acts.nodes).toContainEqual({ action: 'staff.items.list', reason: null });
});

test('mails are found by address, organization, id and reference, without what they say, and each search is written down', async () => {
  const data = { org: 'Acme', slug: 'acme', available: '$1.00', threshold: '$5.00' };
  await sendMail(harness.context, {
    ...{ template: 'low_balance', to: ['Asha@Acme.example'], org_id: a.org.id, reference: 'evt_low', data },
  });
  const search = `query($q: String!) { mails(q: $q) { nodes {
    id orgId template reference recipient status attempts answer sentAt } } }`;
  const found = async (q: string, token = support) => {
    const { data } = await world.ask(staff, token, search, { q });
    return data.mails?.nodes ?? null;
  };
  const [mail] = await found('asha@acme.example');
  expect(mail).toMatchObject({
    ...{ orgId: a.org.id, template: 'low_balance', reference: 'evt_low', recipient: 'Asha@Acme.example' },
    ...{ status: 'queued', attempts: 0, answer: '', sentAt: null },
  });
  for (const q of [mail.id, 'evt_low', a.org.slug, a.org.id, ' asha@acme.example ']) {
    expect((await found(q)).map(({ id }: { id: string }) => id)).toContain(mail.id);
  }
  for (const q of ['asha@acme', 'evt_', b.org.slug, '%']) expect(await found(q)).toEqual([]);
  expect(await found('evt_low', catalog)).toBe(null);
  const looked = await withClient(harness.url, async (client) => {
    const { rows } = await client.query(
      `select after from audit_entry where action = 'staff.mails.find' and org_id = '' order by id limit 1`,
    );
    return rows;
  });
  expect(looked).toEqual([{ after: { by: 'address', value: 'asha@acme.example' } }]);
});

test('limits and budgets of an organization stand on its page, with what was granted beyond the plan', async () => {
  const at = { key: a.key };
  const project = await harness.call('PATCH', `/v1/projects/${a.live.id}`, {
    ...{ ...at, body: { budget: { monthly_micro: 9_000_000, hard: false } } },
  });
  const key = await harness.call('PATCH', `/v1/keys/${a.key_id}`, {
    ...{ ...at, body: { budget: { daily_micro: 5_000 }, limits: { rpm: 60 } } },
  });
  expect([project.statusCode, key.statusCode]).toEqual([200, 200]);
  await overrideLimits(harness.context, { org_id: a.org.id, limits: { rpm: 900 }, reason: 'agreed' });
  const query = `{ staffOrg(id: "${a.org.slug}") { budgets { limits { rpm } overrides { rpm tpm }
    lines { scope id budgetMicro hard spendMicro pausedUntil limits { rpm } } } } }`;
  const { data } = await world.ask(staff, finance, query);
  const { limits, overrides, lines } = data.staffOrg.budgets;
  // By agreement: the plan has no bound, and the grant does not make one.
  expect([limits, overrides]).toEqual([{ rpm: null }, { rpm: 900, tpm: null }]);
  expect(lines).toContainEqual({
    ...{ scope: 'PROJECT', id: a.live.id, budgetMicro: '9000000', hard: false, spendMicro: '0' },
    ...{ pausedUntil: null, limits: { rpm: null } },
  });
  expect(lines).toContainEqual({
    ...{ scope: 'KEY', id: a.key_id, budgetMicro: '5000', hard: true, spendMicro: null },
    ...{ pausedUntil: null, limits: { rpm: 60 } },
  });
  expect((await world.ask(staff, catalog, query)).data.staffOrg).toEqual({ budgets: null });
});

test('support grants and refuses requests for higher limits; a decided one cannot be decided again', async () => {
  await withClient(harness.url, (client) =>
    client.query(`update org set plan_id = 'payg' where id = $1`, [b.org.id]),
  );
  const ask = async (rpm: number) => {
    const body = { key_id: b.key_id, rpm };
    const reply = await harness.call('POST', '/v1/limits/requests', { key: b.key, body });
    return reply.json().ticket.id as string;
  };
  const ids = [await ask(700), await ask(800)];
  const list = '{ limitRequests { nodes { orgSlug keyStatus most { rpm } ticket { id status } } } }';
  const { data } = await world.ask(staff, support, list);
  expect(data.limitRequests.nodes).toMatchObject([
    { orgSlug: b.org.slug, keyStatus: 'active', most: { rpm: 300 }, ticket: { id: ids[0], status: 'OPEN' } },
    { ticket: { id: ids[1] } },
  ]);
  const act = (name: string, input: object, token = support) =>
    world.ask(
      ...([staff, token] as const),
      `mutation($input: ${name[0]?.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) {
        __typename ... on UserError { code path } } }`,
      { input },
    );
  const granted = await act('approveLimits', { id: ids[0], rpm: 600, answer: 'For the sale.' });
  expect(granted.data.approveLimits.__typename).toBe('ApproveLimitsPayload');
  const again = await act('refuseLimits', { id: ids[0], answer: 'no' });
  expect(again.data.refuseLimits).toMatchObject({ __typename: 'ConflictError', code: 'state_conflict' });
  const wordless = await act('refuseLimits', { id: ids[1], answer: '' });
  expect(wordless.data.refuseLimits).toMatchObject({ code: 'invalid_request', path: ['input', 'answer'] });
  const denied = await act('refuseLimits', { id: ids[1], answer: 'no' }, catalog);
  expect(denied.data.refuseLimits).toMatchObject({ code: 'permission_denied' });
  const withdrawn = await act('overrideLimits', { orgId: b.org.slug, rpm: null, reason: 'over' });
  expect(withdrawn.data.overrideLimits.__typename).toBe('OverrideLimitsPayload');
  expect((await world.ask(staff, support, list)).data.limitRequests.nodes).toHaveLength(1);
});

test('a mail that did not arrive is sent again once its address is lifted, and never one that waits or has gone', async () => {
  const recipient = 'gone@acme.example';
  const data = { org: 'Acme', slug: 'acme', available: '$1.00', threshold: '$5.00' };
  await sendMail(harness.context, {
    ...{ template: 'low_balance', to: [recipient], org_id: a.org.id, reference: 'evt_back', data },
  });
  const { data: found } = await world.ask(
    staff,
    support,
    '{ mails(q: "evt_back") { nodes { id refused } } }',
  );
  const [{ id }] = found.mails.nodes;
  const act = async (name: 'resendMail' | 'releaseMailAddress', input: object, token = support) => {
    const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input!`;
    const text = `mutation($input: ${type}) { ${name}(input: $input) { __typename ... on UserError { code message } } }`;
    return (await world.ask(staff, token, text, { input })).data[name];
  };
  const again = (token?: string) => act('resendMail', { id, reason: 'the customer called' }, token);
  const lift = () => act('releaseMailAddress', { address: recipient, reason: 'the box is back' });
  expect(await again()).toMatchObject({
    code: 'state_conflict',
    message: 'The mail waits to be sent already.',
  });
  const run = (sql: string, values: unknown[] = [id]) =>
    withClient(harness.url, async (client) => (await client.query(sql, values)).rows);
  await run(`update mail set status = 'sent', sent_at = created_at where id = $1`);
  expect(await again()).toMatchObject({ code: 'state_conflict' });
  await run(`update mail set status = 'bounced', answer = '550 no such user' where id = $1`);
  await run(`insert into mail_address values ($2, 'bounced', '550 no such user', $1, now())`, [
    id,
    recipient,
  ]);
  expect(await again()).toMatchObject({ message: expect.stringContaining('Lift that first') });
  expect(await lift()).toMatchObject({ __typename: 'ReleaseMailAddressPayload' });
  expect(await lift()).toMatchObject({ code: 'not_found' });
  expect(await again(catalog)).toMatchObject({ code: 'permission_denied' });
  expect(await again()).toMatchObject({ __typename: 'ResendMailPayload' });
  expect(await run('select status, attempts, answer, sent_at from mail where id = $1')).toEqual([
    { status: 'queued', attempts: 0, answer: '', sent_at: null },
  ]);
  await run(`update mail set status = 'failed', expires_at = created_at where id = $1`);
  expect(await again()).toMatchObject({ message: expect.stringContaining('too old') });
  await run(`update mail set template = 'password_reset' where id = $1`);
  expect(await again()).toMatchObject({ message: expect.stringContaining('Its link is gone') });
  expect(
    await run(
      `select action, reason, before from audit_entry where action like 'staff.mails.re%' order by id`,
      [],
    ),
  ).toEqual([
    { action: 'staff.mails.release', reason: 'the box is back', before: null },
    {
      action: 'staff.mails.resend',
      reason: 'the customer called',
      before: { status: 'bounced', answer: '550 no such user' },
    },
  ]);
});

test('finance puts an organization on a plan, support only reads it', async () => {
  const set = `mutation($input: SetOrgPlanInput!) { setOrgPlan(input: $input) { __typename
    ... on SetOrgPlanPayload { plan { plan { id } freeUntil nextChargeMicro } } ... on UserError { code path } } }`;
  const input = { orgId: b.org.slug, planId: 'TEAM', applies: 'NOW', freeMonths: 1, reason: 'a pilot' };
  const denied = await world.ask(staff, support, set, { input });
  expect(denied.data.setOrgPlan).toMatchObject({ code: 'permission_denied' });
  const wordless = await world.ask(staff, finance, set, { input: { ...input, reason: '' } });
  expect(wordless.data.setOrgPlan).toMatchObject({ code: 'invalid_request', path: ['input', 'reason'] });
  const done = await world.ask(staff, finance, set, { input });
  expect(done.data.setOrgPlan).toMatchObject({ plan: { plan: { id: 'TEAM' }, nextChargeMicro: '0' } });
  const read = await world.ask(
    staff,
    support,
    `{ staffOrg(id: "${b.org.slug}") { plan { plan { id } freeUntil } } }`,
  );
  expect(read.data.staffOrg.plan).toEqual({
    plan: { id: 'TEAM' },
    freeUntil: done.data.setOrgPlan.plan.freeUntil,
  });
});

test('finance sets what the platform pays for shadows of an organization, support only reads it', async () => {
  const set = `mutation($input: SetShadowAllowanceInput!) { setShadowAllowance(input: $input) { __typename
    ... on SetShadowAllowancePayload { allowance { dailyMicroUsd todayMicroUsd } } ... on UserError { code path } } }`;
  const input = { orgId: b.org.slug, dailyMicroUsd: '5000000', reason: 'a trial' };
  const denied = await world.ask(staff, support, set, { input });
  expect(denied.data.setShadowAllowance).toMatchObject({ code: 'permission_denied' });
  const wordless = await world.ask(staff, finance, set, { input: { ...input, reason: '' } });
  expect(wordless.data.setShadowAllowance).toMatchObject({
    ...{ code: 'invalid_request', path: ['input', 'reason'] },
  });
  const done = await world.ask(staff, finance, set, { input });
  const allowance = { dailyMicroUsd: '5000000', todayMicroUsd: '0' };
  expect(done.data.setShadowAllowance).toMatchObject({ allowance });
  const read = `{ staffOrg(id: "${b.org.slug}") { shadowAllowance { dailyMicroUsd todayMicroUsd } } }`;
  expect((await world.ask(staff, support, read)).data.staffOrg.shadowAllowance).toEqual(allowance);
  const ended = await world.ask(staff, finance, set, { input: { ...input, dailyMicroUsd: null } });
  expect(ended.data.setShadowAllowance).toMatchObject({ allowance: { dailyMicroUsd: null } });
  const acts = await withClient(harness.url, (client) =>
    client.query(
      `select before, after, reason from audit_entry where action = 'staff.orgs.shadow_allowance.set' order by id`,
    ),
  );
  expect(acts.rows).toEqual([
    { before: { daily_micro_usd: null }, after: { daily_micro_usd: 5_000_000 }, reason: 'a trial' },
    { before: { daily_micro_usd: 5_000_000 }, after: { daily_micro_usd: null }, reason: 'a trial' },
  ]);
});

test('requests for access wait for support, the oldest first, and are approved or declined once', async () => {
  const at = (minute: number) => new Date(Date.UTC(2026, 10, 1, 10, minute));
  const facts = { name: 'Mira', company: 'Alone', use_case: 'Answers.', job_title: '', country: '' };
  for (const n of [2, 0, 1]) {
    const email = `mira${n}@alone.example`;
    const request = { ...facts, id: newId('access_request'), email, email_key: email, at: at(n) };
    await putAccessRequest(harness.pool, { ...request, website: '', monthly_spend: '' });
  }
  const list = `query($after: String) { accessRequests(first: 2, after: $after) {
    nodes { id email useCase status reviewedBy } pageInfo { hasNextPage endCursor } } }`;
  const first = await world.ask(staff, support, list);
  const { nodes, pageInfo } = first.data.accessRequests;
  const second = await world.ask(staff, support, list, { after: pageInfo.endCursor });
  const rows: { id: string; email: string }[] = [...nodes, ...second.data.accessRequests.nodes];
  expect(rows.map(({ email }) => email)).toEqual([0, 1, 2].map((n) => `mira${n}@alone.example`));
  expect(nodes[0]).toMatchObject({ useCase: 'Answers.', status: 'RECEIVED', reviewedBy: null });
  expect((await world.ask(staff, catalog, list)).data.accessRequests).toBeNull();

  const act = (name: string, type: string, input: object, token = support) =>
    world.ask(
      staff,
      token,
      `mutation($input: ${type}Input!) { ${name}(input: $input) { __typename
        ... on ${type}Payload { email status } ... on UserError { code } } }`,
      { input },
    );
  const id = rows[0]?.id;
  const refused = await act('approveAccess', 'ApproveAccess', { id, reason: 'x' }, catalog);
  expect(refused.data.approveAccess).toMatchObject({ code: 'permission_denied' });
  const approved = await act('approveAccess', 'ApproveAccess', { id, reason: 'a partner' });
  expect(approved.data.approveAccess).toMatchObject({ email: 'mira0@alone.example', status: 'approved' });
  const again = await act('declineAccess', 'DeclineAccess', { id, reason: 'x', sendMail: true });
  expect(again.data.declineAccess).toMatchObject({ code: 'state_conflict' });
  const other = { id: rows[1]?.id, reason: 'no use', sendMail: false };
  const declined = await act('declineAccess', 'DeclineAccess', other);
  expect(declined.data.declineAccess).toMatchObject({ status: 'declined' });
  const left = await world.ask(staff, support, list);
  expect(left.data.accessRequests.nodes).toHaveLength(1);
});
