// Allocations over REST.
import { type Static, Type } from 'typebox';
import {
  idOf,
  lineOf,
  named,
  nullable,
  operation,
  page,
  pageInput,
  pageOf,
  Time,
  walkPage,
} from '../../kernel/index.ts';
import { getChild, holders, resellerCaller } from '../audience.ts';
import { allocate, reclaim } from './allocate.ts';
import { type Allocation, listAllocations } from './store.ts';

const PAGE = 50;
const DAYS_DEFAULT = 365;
const DAYS_MAX = 3_650;

export const AllocationView = named(
  'ResellerAllocation',
  Type.Object({
    id: idOf('allocation'),
    parent_org_id: idOf('org'),
    child_org_id: idOf('org'),
    amount_micro_usd: Type.Integer(),
    reclaimed_micro_usd: Type.Integer({ description: 'what of it was taken back' }),
    note: Type.String({ description: 'for the reseller alone; empty when it has none' }),
    ledger_seq: nullable(Type.Integer({ description: 'the entry of the reseller' })),
    child_ledger_seq: nullable(Type.Integer({ description: 'the entry of the customer' })),
    expires_at: Time,
    created_by: Type.String(),
    created_at: Time,
  }),
);
type AllocationView = Static<typeof AllocationView>;

const example: AllocationView = {
  ...{ id: 'alc_01KACZ3V8S6T5R4Q3P2N1M0K9J', parent_org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J' },
  ...{ child_org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9K', amount_micro_usd: 25_000_000 },
  ...{ reclaimed_micro_usd: 0, note: 'November', ledger_seq: 41, child_ledger_seq: 3 },
  ...{ expires_at: '2027-11-21T10:00:00.000Z', created_by: 'ravi@acme.example' },
  created_at: '2026-11-21T10:00:00.000Z',
};

function viewAllocation(allocation: Allocation): AllocationView {
  const { org_id, status: _, lot_id: _lot, expires_at, created_at, ...rest } = allocation;
  return {
    ...rest,
    parent_org_id: org_id,
    expires_at: expires_at.toISOString(),
    created_at: created_at.toISOString(),
  };
}

export const listAllocationsOperation = operation({
  name: 'reseller.allocations.list',
  method: 'GET',
  path: '/v1/reseller/children/:id/allocations',
  summary: 'List the credit that a customer was given, newest first',
  audience: holders('reseller.read'),
  input: Type.Object({ id: idOf('org'), ...pageInput(200) }),
  output: pageOf(AllocationView),
  errors: ['grant_required'],
  example: { object: 'list', data: [example], next_cursor: '' },
  async run(context, { id, cursor, limit }) {
    const { org_id } = resellerCaller(context);
    const child = await getChild(context, id);
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `reseller.allocations ${org_id} ${child.id}`,
      cursor,
      limit: limit ?? PAGE,
      read: (after, limit) => listAllocations(context.db, { org_id, child_org_id: child.id, after, limit }),
      placeOf: (row) => ({ at: row.created_at.getTime(), id: row.id }),
    });
    return page(rows.map(viewAllocation), next_cursor, cursorAt);
  },
});

export const createAllocationOperation = operation({
  name: 'reseller.allocations.create',
  method: 'POST',
  path: '/v1/reseller/children/:id/allocations',
  summary: "Give a customer credit out of the reseller's paid credit",
  audience: holders('reseller.write'),
  input: Type.Object({
    id: idOf('org'),
    amount_micro_usd: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    note: Type.Optional(lineOf(500, 0)),
    expires_days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: DAYS_MAX, description: `${DAYS_DEFAULT} unless given` }),
    ),
  }),
  output: AllocationView,
  errors: [
    ...(['grant_required', 'insufficient_credits', 'payment_hold', 'state_conflict'] as const),
    ...(['service_unavailable', 'csrf_failed'] as const),
  ],
  status: 201,
  idempotent: true,
  // The credit is taken after the commit. Asked again under its key it goes on with the same row (`Context.once`).
  own_transactions: true,
  request: { amount_micro_usd: 25_000_000, note: 'November' },
  example,
  async run(context, { id, note = '', expires_days = DAYS_DEFAULT, amount_micro_usd }) {
    const wanted = { child: id, amount_micro_usd, note, expires_days };
    return viewAllocation(await allocate(context, resellerCaller(context).org_id, wanted));
  },
});

export const reclaimOperation = operation({
  name: 'reseller.allocations.reclaim',
  method: 'POST',
  path: '/v1/reseller/children/:id/allocations/:allocation/reclaim',
  summary: 'Take back what a customer has not used of an allocation, and no call holds',
  audience: holders('reseller.write'),
  input: Type.Object({ id: idOf('org'), allocation: idOf('allocation') }),
  output: AllocationView,
  errors: ['grant_required', 'service_unavailable', 'csrf_failed'],
  idempotent: true,
  // Again it takes what has become unused since, and nothing twice.
  own_transactions: true,
  example: { ...example, reclaimed_micro_usd: 10_000_000 },
  async run(context, { id, allocation }) {
    const { org_id } = resellerCaller(context);
    return viewAllocation(await reclaim(context, { org_id, child: id, allocation }));
  },
});

export const allocationOperations = [
  listAllocationsOperation,
  createAllocationOperation,
  reclaimOperation,
] as const;
