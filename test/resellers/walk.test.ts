// Who sees what of whom: a reseller, its customers and a stranger, over every operation and every root of GraphQL. The list of
// operations is the registry, so a new one is walked too.
import { microUsd, type Operation } from '@svc/core/kernel/index.ts';
import { credit } from '@svc/core/ledger/index.ts';
import { operations } from '@svc/core/operations/index.ts';
import { changeTerms } from '@svc/core/orgs/index.ts';
import { tenantSchema } from '@svc/graphql/tenant/schema.ts';
import {
  type GraphQLField,
  type GraphQLOutputType,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { expect, test } from 'vitest';
import { startWorld } from '../graphql/world.ts';
import { codeOf, type Method, type Tenant } from '../registry/harness.ts';
import { makeResellerRows } from '../registry/reseller-rows.ts';
import { rowOf } from '../registry/rows.ts';

const world = await startWorld();
const { harness } = world;

/** An organization with a person, a call and money of its own, and everything by which it could be told. */
async function party(slug: string, micro: number, parent?: Tenant) {
  const tenant = await harness.makeTenant(slug);
  if (parent !== undefined)
    await harness.pool.query({
      name: '',
      text: `update org set kind = 'child', parent_org_id = $2 where id = $1`,
      values: [tenant.org.id, parent.org.id],
    });
  else await changeTerms(harness.context, tenant.org.id, { kind: 'reseller' });
  const row = rowOf(tenant, { app_id: `app-${slug}`, model: `vendor/${slug}-model` });
  harness.request_log.write(row);
  await credit(harness.pool, {
    ...{ book_id: tenant.org.live_book_id, kind: 'topup', granted: false, amount_micro_usd: microUsd(micro) },
    ...{ expires_at: null, ref_type: 'topup', ref_id: slug },
  });
  const person = await harness.makePerson(tenant, 'owner');
  const token = await harness.signIn(person);
  /** What of it no parent may see either. */
  const inner = [
    tenant.key_id,
    tenant.live.id,
    tenant.test.id,
    row.request_id,
    `app-${slug}`,
    `${slug}-model`,
  ];
  return { ...tenant, row, person, token, inner, outer: [tenant.org.id, slug, String(micro), person.email] };
}
const parent = await party('parentreseller', 77_123_457);
const child = await party('childcustomer', 55_123_457, parent);
const sibling = await party('siblingcustomer', 33_123_457, parent);
const stranger = await party('strangerreseller', 11_123_457);
const rows = await makeResellerRows(harness, parent);
await makeResellerRows(harness, stranger);
await harness.pool.query({
  name: '',
  text: `update org set reseller_tier_id = $2 where id = $1`,
  values: [child.org.id, rows.tier],
});
await harness.request_log.flush();

/** What a customer may not learn of its reseller, of other customers and of what they pay. */
const hidden_from_child = [
  ...[
    ...parent.inner,
    ...parent.outer,
    ...sibling.inner,
    ...sibling.outer,
    ...stranger.inner,
    ...stranger.outer,
  ],
  ...[rows.tier, rows.allocation, rows.child],
];
/** What a reseller may not learn: what is inside a customer, and anything of a stranger. */
const hidden_from_parent = [
  ...[...child.inner, child.person.email, ...sibling.inner, sibling.person.email],
  ...[...stranger.inner, ...stranger.outer],
];

function found(body: string, hidden: readonly string[]): string[] {
  return hidden.filter((text) => body.includes(text));
}

/** A path with the ids of `of` in it, as somebody would try them. */
function pathTo({ path }: Operation, of: typeof child): string {
  const ids: Record<string, string> = {
    ...{ '/v1/keys': of.key_id, '/v1/requests': of.row.request_id, '/v1/generation': of.row.request_id },
    ...{ '/v1/projects': of.live.id, '/v1/orgs': of.org.id },
    ...{ '/v1/reseller/tiers': rows.tier, '/v1/reseller/children': of.org.id },
    ...{ '/v1/reseller/announcements': rows.announcement },
  };
  const base = path.slice(0, path.indexOf('/:'));
  return path
    .replace(':id', ids[base] ?? of.org.id)
    .replace(':user_id', of.person.id)
    .replace(':allocation', rows.allocation)
    .replaceAll(/:[a-z_]+/g, 'nothing');
}

const callers = [
  {
    who: 'the customer',
    own: child,
    tokens: [child.token, child.key, child.test_key],
    hidden: hidden_from_child,
  },
  {
    who: 'the reseller',
    own: parent,
    tokens: [parent.token, parent.key, parent.test_key],
    hidden: hidden_from_parent,
  },
] as const;

test.each(callers)(
  '$who reads nothing that is hidden from it, in any operation that reads',
  async ({ own, tokens, hidden }) => {
    let answered = 0;
    for (const operation of operations.filter(({ method }) => method === 'GET')) {
      for (const key of tokens) {
        const reply = await harness.call('GET', pathTo(operation, own), { key });
        if (reply.statusCode === 200) answered++;
        expect([operation.name, found(reply.body, hidden)]).toEqual([operation.name, []]);
      }
    }
    expect(answered).toBeGreaterThan(80);
  },
);

test('whoever is not the reseller reaches none of its customers, tiers and allocations, by any operation', async () => {
  const of_resellers = operations.filter(({ path }) => path.startsWith('/v1/reseller'));
  expect(of_resellers.length).toBeGreaterThan(12);
  for (const operation of of_resellers) {
    const body = ['POST', 'PUT', 'PATCH'].includes(operation.method) ? { ...operation.request } : undefined;
    const ask = (key: string) =>
      harness.call(operation.method as Method, pathTo(operation, child), { key, ...(body && { body }) });
    for (const key of [child.token, sibling.token]) {
      const reply = await ask(key);
      expect([operation.name, reply.statusCode, codeOf(reply)]).toEqual([
        operation.name,
        403,
        'permission_denied',
      ]);
    }
    for (const key of [parent.key, child.key]) {
      const reply = await ask(key);
      expect([operation.name, codeOf(reply)]).toEqual([operation.name, 'session_required']);
    }
    if (!operation.path.includes(':')) continue;
    const reply = await ask(stranger.token);
    expect([operation.name, reply.statusCode, codeOf(reply)]).toEqual([operation.name, 404, 'not_found']);
  }
});

test('a reseller reaches nothing inside a customer by the ids of its keys, projects and calls', async () => {
  const inside = operations.filter(
    ({ path }) =>
      /^\/v1\/(?:keys|requests|generation|projects|orgs)\/:/.test(path) && !path.includes('/children'),
  );
  expect(inside.length).toBeGreaterThan(15);
  for (const operation of inside) {
    const body = ['POST', 'PUT', 'PATCH'].includes(operation.method) ? { ...operation.request } : undefined;
    for (const key of [parent.token, parent.key]) {
      const reply = await harness.call(operation.method as Method, pathTo(operation, child), {
        ...{ key, ...(body && { body }) },
      });
      expect([operation.name, reply.statusCode >= 400 && reply.statusCode < 500]).toEqual([
        operation.name,
        true,
      ]);
      expect([operation.name, found(reply.body, child.inner)]).toEqual([operation.name, []]);
    }
  }
});

/** Everything of `type` that needs no argument, so many levels deep. */
function selectionOf(type: GraphQLOutputType, depth: number): string {
  const named = getNamedType(type);
  if (isLeafType(named)) return '';
  if (!isObjectType(named) && !isInterfaceType(named)) return '{ __typename }';
  const parts = Object.values(named.getFields()).flatMap((field) => {
    if (field.args.some(({ type, defaultValue }) => isNonNullType(type) && defaultValue === undefined))
      return [];
    if (isLeafType(getNamedType(field.type))) return [field.name];
    if (depth === 0) return [];
    return [`${field.name} ${selectionOf(field.type, depth - 1)}`];
  });
  return `{ __typename ${parts.join(' ')} }`;
}

/** A root with its required arguments as ids of the customer. */
function rootOf(field: GraphQLField<unknown, unknown>): string {
  const needed = field.args.filter(({ type }) => isNonNullType(type));
  const args = needed.map(({ name }) => `${name}: ${JSON.stringify(child.org.id)}`).join(', ');
  return `${field.name}${args === '' ? '' : `(${args})`}`;
}

test('GraphQL shows the customer and the reseller nothing more, in any root of the schema', async () => {
  const roots = Object.values(tenantSchema.getQueryType()?.getFields() ?? {});
  for (const { who, tokens, hidden } of callers) {
    let answered = 0;
    for (const root of roots) {
      // As deep as the limits of a query let it be.
      for (const depth of [3, 2, 1, 0]) {
        const query = `{ ${rootOf(root)} ${selectionOf(root.type, depth)} }`;
        const { data, errors } = await world.ask(world.tenant, tokens[0], query);
        expect([who, root.name, found(JSON.stringify([data, errors]), hidden)]).toEqual([who, root.name, []]);
        if (data === null) continue;
        answered++;
        break;
      }
    }
    expect([who, answered > 20]).toEqual([who, true]);
  }
  const { data } = await world.ask(world.tenant, child.token, '{ reseller { tiers { id } } }');
  expect(data).toEqual({ reseller: null });
  const own = await world.ask(
    ...([
      world.tenant,
      parent.token,
      '{ reseller { children { nodes { slug } } tiers { markupBps } } }',
    ] as const),
  );
  expect(JSON.stringify(own.data)).toContain('childcustomer');
});

test('no caller of the walk met a defect', () => {
  expect([harness.defects, world.defects]).toEqual([[], []]);
});
