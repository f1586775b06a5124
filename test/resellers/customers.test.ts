// Becoming a reseller, what its people may do, and its customers (docs/resellers/customers.md).
import { setOrgKindOperation } from '@svc/core/resellers/index.ts';
import { expect, test } from 'vitest';
import { type ChildView, startResellers } from './world.ts';

const world = await startResellers();
const { harness, ask, refused } = world;
const acme = await world.reseller('acme-resells');
const other = await world.reseller('other-resells');

const kind = (id: string, to: 'team' | 'reseller') =>
  setOrgKindOperation.run(harness.context, { id, kind: to, reason: 'asked' });
const create = (slug: string, more: object = {}) =>
  ask<ChildView>('POST', '/v1/reseller/children', acme.token, childOf(slug, more), 201);
const childOf = (slug: string, more: object = {}) => ({
  ...{ name: slug, slug, owner_email: `owner@${slug}.example`, billing_country: 'IN' },
  ...more,
});

test('one level only: a child becomes no reseller, and a reseller with children stays one', async () => {
  const { id } = await create('level');
  await expect(kind(id, 'reseller')).rejects.toMatchObject({ code: 'state_conflict' });
  await expect(kind(id, 'team')).rejects.toMatchObject({ code: 'state_conflict' });
  await expect(kind(acme.org.id, 'team')).rejects.toMatchObject({ code: 'in_use' });
  // What holds it below the product's own rules.
  const parent = `update org set kind = 'child', parent_org_id = $2 where id = $1`;
  await expect(world.rows(parent, [other.org.id, id])).rejects.toThrow('the parent is no reseller');
  const ordinary = `update org set kind = 'team' where id = $1`;
  await expect(world.rows(ordinary, [acme.org.id])).rejects.toThrow('the reseller has children');
  const alone = await world.reseller('alone');
  expect(await kind(alone.org.id, 'team')).toMatchObject({ kind: 'team' });
});

test('of a customer that is made and a reseller that is unmade at once one is refused, and no child has an ordinary parent', async () => {
  for (let round = 0; round < 5; round++) {
    const racing = await world.reseller(`racing-${round}`);
    const [made] = await Promise.allSettled([
      harness.call('POST', '/v1/reseller/children', {
        ...{ key: racing.token, body: childOf(`raced-${round}`) },
      }),
      kind(racing.org.id, 'team'),
    ]);
    const [parent] = await world.rows<{ kind: string; children: number }>(
      `select kind, (select count(*)::int from org c where c.parent_org_id = org.id) as children
         from org where id = $1`,
      [racing.org.id],
    );
    const was_made = made.status === 'fulfilled' && made.value.statusCode === 201;
    expect(parent).toEqual(was_made ? { kind: 'reseller', children: 1 } : { kind: 'team', children: 0 });
  }
});

test('a customer is made with the default tier, and its owner gets an invitation that leads into it', async () => {
  const tier = await ask<{ id: string }>(
    ...(['POST', '/v1/reseller/tiers', acme.token, { name: 'Default', markup_bps: 500 }, 201] as const),
  );
  await ask('PATCH', `/v1/reseller/tiers/${tier.id}`, acme.token, { is_default: true });
  const made = await create('northwind');
  expect(made).toMatchObject({ status: 'active', tier_id: tier.id, available_micro_usd: 0 });
  expect((await create('southwind', { tier_id: null })).tier_id).toBeNull();
  const [invited] = await world.rows(`select role, email, status from invitation where org_id = $1`, [
    made.id,
  ]);
  expect(invited).toEqual({ role: 'owner', email: 'owner@northwind.example', status: 'pending' });
  const [org] = await world.rows('select kind, parent_org_id from org where id = $1', [made.id]);
  expect(org).toEqual({ kind: 'child', parent_org_id: acme.org.id });
  expect(await refused('POST', '/v1/reseller/children', acme.token, childOf('northwind'))).toEqual([
    ...[409, 'already_exists'],
  ]);
  expect(
    await refused('POST', '/v1/reseller/children', acme.token, childOf('bad', { tier_id: 'tier_x' })),
  ).toEqual([400, 'invalid_request']);
  expect(await refused('DELETE', `/v1/reseller/tiers/${tier.id}`, acme.token)).toEqual([409, 'in_use']);
});

test('customers are listed newest first, in pages, by what they are called, their tier and their state', async () => {
  const lists = await world.reseller('lists');
  for (let n = 0; n < 5; n++)
    await ask('POST', '/v1/reseller/children', lists.token, childOf(`listed-${n}`), 201);
  const slugs: string[] = [];
  let cursor = '';
  do {
    const page = await ask<{ data: ChildView[]; next_cursor: string }>(
      ...(['GET', `/v1/reseller/children?limit=2&cursor=${cursor}`, lists.token] as const),
    );
    slugs.push(...page.data.map(({ slug }) => slug));
    cursor = page.next_cursor;
  } while (cursor !== '');
  expect(slugs).toEqual(['listed-4', 'listed-3', 'listed-2', 'listed-1', 'listed-0']);
  const found = await ask<{ data: ChildView[] }>('GET', '/v1/reseller/children?q=LISTED-3', lists.token);
  expect(found.data.map(({ slug }) => slug)).toEqual(['listed-3']);
  await ask('PATCH', `/v1/reseller/children/${found.data[0]?.id}`, lists.token, { status: 'suspended' });
  const suspended = await ask<{ data: ChildView[] }>(
    'GET',
    '/v1/reseller/children?status=suspended',
    lists.token,
  );
  expect(suspended.data.map(({ slug }) => slug)).toEqual(['listed-3']);
});

test('a suspended customer makes no call, its people still read, and only its reseller’s own suspension is the reseller’s to lift', async () => {
  const child = await world.child(acme, 'suspendable');
  const person = await harness.signIn(await harness.makePerson(child, 'owner'));
  const path = `/v1/reseller/children/${child.org.id}`;
  await ask('PATCH', path, acme.token, { status: 'suspended' });
  await expect
    .poll(async () => (await harness.call('GET', '/v1/keys', { key: child.key })).statusCode)
    .toBe(403);
  expect(await refused('GET', '/v1/keys', child.key)).toEqual([403, 'org_inactive']);
  await ask('GET', '/v1/credits', person);
  expect(await refused('POST', '/v1/credits/checkin', person)).toEqual([403, 'org_inactive']);
  await ask('PATCH', path, acme.token, { status: 'active' });
  await expect
    .poll(async () => (await harness.call('GET', '/v1/keys', { key: child.key })).statusCode)
    .toBe(200);
  await world.rows(`update org set status = 'suspended' where id = $1`, [child.org.id]);
  expect(await refused('PATCH', path, acme.token, { status: 'active' })).toEqual([409, 'state_conflict']);
});

test('a grant is given by owners and admins to whoever else is a member, and ends with the membership', async () => {
  const viewer = await harness.makePerson(acme, 'viewer');
  const token = await harness.signIn(viewer);
  const path = `/v1/reseller/staff/${viewer.id}`;
  expect(await refused('GET', '/v1/reseller/tiers', token)).toEqual([403, 'grant_required']);
  await ask('PUT', path, acme.token, { grants: ['reseller.read'] });
  await ask('GET', '/v1/reseller/tiers', token);
  expect(await refused('POST', '/v1/reseller/tiers', token, { name: 'Mine', markup_bps: 1 })).toEqual([
    ...[403, 'grant_required'],
  ]);
  expect(await refused('PUT', path, token, { grants: ['reseller.write'] })).toEqual([
    403,
    'permission_denied',
  ]);
  expect(await refused('PUT', path, acme.token, { grants: ['reseller.everything'] })).toEqual([
    ...[400, 'invalid_request'],
  ]);
  expect(await refused('PUT', `/v1/reseller/staff/${other.owner.id}`, acme.token, { grants: [] })).toEqual([
    ...[404, 'not_found'],
  ]);
  const listed = await ask<{ data: { user_id: string; grants: string[] }[] }>(
    ...(['GET', '/v1/reseller/staff', acme.token] as const),
  );
  const grantsOf = (id: string) => listed.data.find(({ user_id }) => user_id === id)?.grants;
  expect([grantsOf(viewer.id), grantsOf(acme.owner.id)?.length]).toEqual([['reseller.read'], 5]);
  await ask('PUT', path, acme.token, { grants: [] });
  expect(await refused('GET', '/v1/reseller/tiers', token)).toEqual([403, 'grant_required']);
  await ask('PUT', path, acme.token, { grants: ['reseller.write'] });
  await ask('DELETE', `/v1/orgs/${acme.org.id}/members/${viewer.id}`, acme.token, undefined, 204);
  expect(await world.rows('select grants from org_member where user_id = $1', [viewer.id])).toEqual([]);
});

test('a markup is never below zero, nor above what the price is', async () => {
  for (const markup_bps of [-1, 10_001, 1.5, '5']) {
    const body = { name: `m ${markup_bps}`, markup_bps };
    expect(await refused('POST', '/v1/reseller/tiers', acme.token, body)).toEqual([400, 'invalid_request']);
  }
  const below = `insert into reseller_tier values ($1, $2, 'below', -1, now(), now())`;
  await expect(world.rows(below, ['tier_01KACZ3V8S6T5R4Q3P2N1M0K9J', acme.org.id])).rejects.toThrow(
    'reseller_tier_adds_and_never_takes',
  );
});

test('no caller met a defect', () => {
  expect(harness.defects).toEqual([]);
});
