// The desk of staff: an organization's top-ups, documents and acts, and the queue of what a person must look at.
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
    documents { nodes { number kind totalMinor topupId } } } }`;
  const read = await world.ask(staff, support, query);
  expect(read.errors).toEqual([]);
  expect(read.data.staffOrg).toMatchObject({
    topups: { nodes: [{ id: topup, status: 'PENDING', totalMinor: '2500', checkoutUrl: null }] },
    documents: { nodes: [{ totalMinor: '2500', topupId: topup }] },
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
