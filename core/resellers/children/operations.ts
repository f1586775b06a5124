// Customers of a reseller over REST: what an organization is called and pays, sums of its use, its balance; never its
// keys, its calls or what they say.
import { type Static, Type } from 'typebox';
import { readerOf } from '../../analytics/index.ts';
import { EmailIn } from '../../identity/index.ts';
import {
  type Context,
  idOf,
  lineOf,
  named,
  nullable,
  oneOf,
  operation,
  page,
  pageInput,
  pageOf,
  Time,
  walkPage,
} from '../../kernel/index.ts';
import { readBalances } from '../../ledger/index.ts';
import { SlugIn } from '../../orgs/index.ts';
import { getChild, holders, resellerCaller } from '../audience.ts';
import { changeChild, makeChild, moveChild } from './children.ts';
import { type Child, listChildren } from './store.ts';

const readers = holders('reseller.read');
const writers = holders('reseller.write');
const DAY_MS = 86_400_000;
const PAGE = 50;
const Text = nullable(Type.String());
const childStates = ['active', 'suspended', 'closed'] as const;

export const ChildView = named(
  'ResellerChild',
  Type.Object({
    id: idOf('org'),
    slug: Type.String(),
    name: Type.String(),
    status: oneOf(childStates, 'OrganizationStatus'),
    plan_id: Type.String(),
    billing_country: Type.String({ description: 'ISO 3166-1 alpha-2' }),
    billing_currency: Type.String({ description: 'ISO 4217' }),
    legal_name: Text,
    gstin: Text,
    tax_status: Type.String({ description: 'as it says itself' }),
    billing_email: Text,
    billing_address: nullable(Type.Object({}, { additionalProperties: true })),
    tier_id: nullable(idOf('tier')),
    available_micro_usd: Type.Integer(),
    held_micro_usd: Type.Integer(),
    usage_30d_micro: Type.Integer({ description: 'what its live calls of the last 30 days cost it' }),
    created_at: Time,
    closed_at: nullable(Time),
  }),
);
type ChildView = Static<typeof ChildView>;

const childExample: ChildView = {
  ...{ id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J', slug: 'northwind', name: 'Northwind', status: 'active' },
  ...{ plan_id: 'payg', billing_country: 'IN', billing_currency: 'INR', legal_name: null, gstin: null },
  ...{ tax_status: 'unregistered', billing_email: null, billing_address: null },
  tier_id: 'tier_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  ...{ available_micro_usd: 24_998_747, held_micro_usd: 0, usage_30d_micro: 1_253 },
  ...{ created_at: '2026-11-21T10:00:00.000Z', closed_at: null },
};

async function viewChildren(context: Context, children: readonly Child[]): Promise<ChildView[]> {
  const to = context.now();
  const from = new Date(to.getTime() - 30 * DAY_MS);
  const org_ids = children.map(({ id }) => id);
  const reader = readerOf({ ...context, db: context.acrossOrgs.db });
  const sums = await reader.sumOrgs({ org_ids, from, to }, { starts: [from.getTime()], group: 'org' });
  const costs = new Map(sums.map(({ key, cost_micro }) => [key, cost_micro]));
  const balances = new Map<number, { available_micro_usd: number; held_micro_usd: number }>();
  for (const shard of new Set(children.map((child) => child.shard))) {
    const books = children.filter((child) => child.shard === shard).map(({ live_book_id }) => live_book_id);
    for (const [book, balance] of await readBalances(context.shards.at(shard), books))
      balances.set(book, balance);
  }
  return children.map((child) => {
    const { suspended_by_parent: _, shard: _shard, live_book_id, reseller_tier_id, ...rest } = child;
    const balance = balances.get(live_book_id);
    return {
      ...rest,
      tier_id: reseller_tier_id,
      available_micro_usd: balance?.available_micro_usd ?? 0,
      held_micro_usd: balance?.held_micro_usd ?? 0,
      usage_30d_micro: costs.get(child.id) ?? 0,
      created_at: child.created_at.toISOString(),
      closed_at: child.closed_at?.toISOString() ?? null,
    };
  });
}

async function viewChild(context: Context, child: Child): Promise<ChildView> {
  return (await viewChildren(context, [child]))[0] as ChildView;
}

export const listChildrenOperation = operation({
  name: 'reseller.children.list',
  method: 'GET',
  path: '/v1/reseller/children',
  summary: 'List the customers of the reseller, newest first',
  audience: readers,
  input: Type.Object({
    q: Type.Optional(lineOf(120)),
    tier_id: Type.Optional(Type.String()),
    status: Type.Optional(oneOf(childStates, 'OrganizationStatus')),
    ...pageInput(200),
  }),
  output: pageOf(ChildView),
  errors: ['grant_required'],
  example: { object: 'list', data: [childExample], next_cursor: '' },
  async run(context, { q = null, tier_id = null, status = null, cursor, limit }) {
    const { org_id: parent_org_id } = resellerCaller(context);
    const filter = { q, tier_id, status };
    const { db } = context.acrossOrgs;
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `reseller.children ${parent_org_id} ${JSON.stringify([q, tier_id, status])}`,
      cursor,
      limit: limit ?? PAGE,
      read: (after, limit) => listChildren(db, { parent_org_id, filter, after, limit }),
      placeOf: ({ created_at, id }) => ({ at: created_at.getTime(), id }),
    });
    return page(await viewChildren(context, rows), next_cursor, cursorAt);
  },
});

export const getChildOperation = operation({
  name: 'reseller.children.get',
  method: 'GET',
  path: '/v1/reseller/children/:id',
  summary: 'Read a customer of the reseller',
  audience: readers,
  input: Type.Object({ id: idOf('org') }),
  output: ChildView,
  errors: ['grant_required'],
  example: childExample,
  run: async (context, { id }) => viewChild(context, await getChild(context, id)),
});

export const createChildOperation = operation({
  name: 'reseller.children.create',
  method: 'POST',
  path: '/v1/reseller/children',
  summary: 'Make a customer; its owner gets an invitation by mail',
  audience: writers,
  input: Type.Object({
    name: lineOf(120),
    slug: SlugIn,
    owner_email: EmailIn,
    billing_country: Type.String({ pattern: '^[A-Z]{2}$', description: 'ISO 3166-1 alpha-2' }),
    tier_id: Type.Optional(
      nullable(Type.String({ description: 'null: catalog prices; absent: the default tier' })),
    ),
  }),
  output: ChildView,
  errors: ['grant_required', 'already_exists', 'state_conflict', 'csrf_failed'],
  status: 201,
  idempotent: true,
  request: {
    ...{
      name: 'Northwind',
      slug: 'northwind',
      owner_email: 'owner@northwind.example',
      billing_country: 'IN',
    },
  },
  example: { ...childExample, available_micro_usd: 0, usage_30d_micro: 0 },
  async run(context, input) {
    return viewChild(context, await makeChild(context, resellerCaller(context).org_id, input));
  },
});

export const updateChildOperation = operation({
  name: 'reseller.children.update',
  method: 'PATCH',
  path: '/v1/reseller/children/:id',
  summary:
    'Name a customer, suspend it or let it go on; while suspended its calls are refused and its console reads',
  audience: writers,
  input: Type.Object({
    id: idOf('org'),
    name: Type.Optional(lineOf(120)),
    status: Type.Optional(oneOf(['active', 'suspended'], 'ResellerChildStatus')),
  }),
  output: ChildView,
  errors: ['grant_required', 'state_conflict', 'csrf_failed'],
  request: { status: 'suspended' },
  example: { ...childExample, status: 'suspended' },
  async run(context, input) {
    return viewChild(context, await changeChild(context, resellerCaller(context).org_id, input));
  },
});

export const setChildTierOperation = operation({
  name: 'reseller.children.tier',
  method: 'PUT',
  path: '/v1/reseller/children/:id/tier',
  summary: 'Put a customer on a tier; calls that begin afterwards pay it',
  audience: writers,
  input: Type.Object({
    id: idOf('org'),
    tier_id: nullable(Type.String({ description: 'null: catalog prices' })),
  }),
  output: ChildView,
  errors: ['grant_required', 'csrf_failed'],
  request: { tier_id: childExample.tier_id },
  example: childExample,
  async run(context, input) {
    return viewChild(context, await moveChild(context, resellerCaller(context).org_id, input));
  },
});

export const childOperations = [
  listChildrenOperation,
  getChildOperation,
  createChildOperation,
  updateChildOperation,
  setChildTierOperation,
] as const;
