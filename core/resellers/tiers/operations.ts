// Tiers over REST.
import { type Static, Type } from 'typebox';
import { idOf, lineOf, listOf, Nothing, named, operation, Time } from '../../kernel/index.ts';
import { holders, resellerCaller } from '../audience.ts';
import { listTiers, type Tier } from './store.ts';
import { changeTier, endTier, makeTier, TIERS_MAX } from './tiers.ts';

const MARKUP_MAX_BPS = 10_000;
const readers = holders('reseller.read');
const writers = holders('reseller.write');
export const MarkupIn = Type.Integer({
  minimum: 0,
  maximum: MARKUP_MAX_BPS,
  description: 'what customers pay above catalog prices; 1250 is 12.5 %',
});

export const TierView = named(
  'ResellerTier',
  Type.Object({
    id: idOf('tier'),
    name: Type.String(),
    markup_bps: Type.Integer(),
    customers: Type.Integer({ description: 'how many pay it' }),
    is_default: Type.Boolean({ description: 'customers that are made without a tier get it' }),
    created_at: Time,
  }),
);
type TierView = Static<typeof TierView>;

const example: TierView = {
  ...{ id: 'tier_01KACZ3V8S6T5R4Q3P2N1M0K9J', name: 'Standard', markup_bps: 1_250, customers: 12 },
  ...{ is_default: true, created_at: '2026-11-21T10:00:00.000Z' },
};

function viewTier({ org_id: _, created_at, ...tier }: Tier): TierView {
  return { ...tier, created_at: created_at.toISOString() };
}

export const listTiersOperation = operation({
  name: 'reseller.tiers.list',
  method: 'GET',
  path: '/v1/reseller/tiers',
  summary: `List the tiers of the reseller, oldest first; at most ${TIERS_MAX}`,
  audience: readers,
  input: Type.Object({}),
  output: listOf(TierView),
  errors: ['grant_required'],
  example: { object: 'list', data: [example] },
  async run(context) {
    const tiers = await listTiers(context.db, resellerCaller(context).org_id);
    return { object: 'list' as const, data: tiers.map(viewTier) };
  },
});

export const createTierOperation = operation({
  name: 'reseller.tiers.create',
  method: 'POST',
  path: '/v1/reseller/tiers',
  summary: 'Make a tier: what its customers pay above catalog prices',
  audience: writers,
  input: Type.Object({ name: lineOf(120), markup_bps: MarkupIn }),
  output: TierView,
  errors: ['grant_required', 'already_exists', 'plan_limit_reached', 'csrf_failed'],
  status: 201,
  // The prices of the tier are stored first, under a lock of their own; stored again they are the same.
  own_transactions: true,
  request: { name: 'Standard', markup_bps: 1_250 },
  example: { ...example, customers: 0, is_default: false },
  run: async (context, input) => viewTier(await makeTier(context, resellerCaller(context).org_id, input)),
});

export const updateTierOperation = operation({
  name: 'reseller.tiers.update',
  method: 'PATCH',
  path: '/v1/reseller/tiers/:id',
  summary: 'Change a tier; calls that begin afterwards pay it',
  audience: writers,
  input: Type.Object({
    id: idOf('tier'),
    name: Type.Optional(lineOf(120)),
    markup_bps: Type.Optional(MarkupIn),
    is_default: Type.Optional(Type.Boolean()),
  }),
  output: TierView,
  errors: ['grant_required', 'already_exists', 'csrf_failed'],
  own_transactions: true,
  request: { markup_bps: 1_500 },
  example: { ...example, markup_bps: 1_500 },
  run: async (context, input) => viewTier(await changeTier(context, resellerCaller(context).org_id, input)),
});

export const deleteTierOperation = operation({
  name: 'reseller.tiers.delete',
  method: 'DELETE',
  path: '/v1/reseller/tiers/:id',
  summary: 'Delete a tier that nobody pays',
  audience: writers,
  input: Type.Object({ id: idOf('tier') }),
  output: Nothing,
  errors: ['grant_required', 'in_use', 'csrf_failed'],
  status: 204,
  example: {},
  async run(context, { id }) {
    await endTier(context, resellerCaller(context).org_id, id);
    return {};
  },
});

export const tierOperations = [
  listTiersOperation,
  createTierOperation,
  updateTierOperation,
  deleteTierOperation,
] as const;
