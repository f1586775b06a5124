// The staff schema. It has its own builder and shares with the tenant schema the scalars and the runner of
// operations, but no type. Each field runs an operation that only staff may run and that writes to the audit log.
import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import {
  EntryView,
  findOrgsOperation,
  getStaffBalanceOperation,
  getStaffOrgOperation,
  grantCreditOperation,
  LotView,
  listStaffEntriesOperation,
  listStaffLotsOperation,
  lotKinds,
  ReconciliationView,
  StaffOrgView,
  staffReconciliationOperation,
} from '@svc/core/credits/index.ts';
import {
  cursorOf,
  type Operation,
  ServiceError,
  type StaffCaller,
  staffRoles,
} from '@svc/core/kernel/index.ts';
import { ENTRY_KINDS } from '@svc/core/ledger/index.ts';
import {
  BatchView,
  closeBatchOperation,
  createBatchOperation,
  listBatchesOperation,
} from '@svc/core/redeem/index.ts';
import {
  acceptTopupOperation,
  listReviewsOperation,
  ReviewView,
  refuseTopupOperation,
} from '@svc/core/topups/index.ts';
import { type GraphQLSchema, printSchema } from 'graphql';
import type { Static } from 'typebox';
import { Derivation, toWire } from '../derive.ts';
import { type UserError, userErrorNames, userErrorOf } from '../errors.ts';
import { type PageInfoShape, type PageOfRows, pageArgs, pageCost, pageInfoOf, rowsAsked } from '../page.ts';
import type { Runner } from '../run.ts';
import { CountScalar, DateScalar, DateTimeScalar, MicroUsdScalar, MinorScalar } from '../scalars.ts';
import { addAccess } from './access.ts';
import { addAdmission } from './admission.ts';
import { addAnnouncements } from './announcements.ts';
import { addApprovals } from './approvals.ts';
import { addClosing } from './closing.ts';
import { addDesk } from './desk.ts';
import { addLegal } from './legal.ts';
import { addLooks } from './looks.ts';
import { addMails } from './mails.ts';
import { addMoneyBack } from './money-back.ts';
import { addNewOrgs } from './new-orgs.ts';
import { addOperate } from './operate.ts';
import { addOrgErasure } from './org-erasure.ts';
import { addPlans } from './plans.ts';
import { addPrices } from './prices.ts';
import { addRankings } from './rankings.ts';
import { addResellers } from './resellers.ts';
import { addSupport } from './support.ts';
import { addTickets } from './tickets.ts';

interface StaffContext {
  readonly runner: Runner;
}

const builder = new SchemaBuilder<{
  Context: StaffContext;
  DefaultFieldNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    MicroUSD: { Input: number; Output: number };
    Minor: { Input: number; Output: number };
    Count: { Input: number; Output: number };
    Date: { Input: string; Output: string };
    DateTime: { Input: string; Output: string };
  };
}>({
  plugins: [ComplexityPlugin],
  defaultFieldNullability: false,
  complexity: { disabled: true, defaultComplexity: 1, defaultListMultiplier: 10 },
});
builder.addScalarType('MicroUSD', MicroUsdScalar);
builder.addScalarType('Minor', MinorScalar);
builder.addScalarType('Count', CountScalar);
builder.addScalarType('Date', DateScalar);
builder.addScalarType('DateTime', DateTimeScalar);
const derive = new Derivation(builder);

const EnvironmentEnum = derive.enum('Environment', ['live', 'test']);
const StaffRole = derive.enum('StaffRole', staffRoles);
derive.enum('OrganizationKind', ['team', 'personal', 'reseller', 'child']);
derive.enum('OrganizationStatus', ['active', 'suspended', 'closed']);
derive.enum('LedgerEntryKind', ENTRY_KINDS);
derive.enum('LotKind', lotKinds);

const Staff = builder.objectRef<StaffCaller>('Staff').implement({
  fields: (t) => ({
    id: t.id({ nullable: true, resolve: (caller) => caller.staff_id }),
    email: t.string({ resolve: (caller) => caller.name }),
    roles: t.field({ type: [StaffRole], resolve: (caller) => [...caller.roles] }),
  }),
});

const Balance = derive.output('Balance', getStaffBalanceOperation.output);
const LedgerEntry = derive.output('LedgerEntry', EntryView);
const PageInfo = builder.objectRef<PageInfoShape>('PageInfo').implement({
  fields: (t) => ({
    endCursor: t.exposeString('endCursor', { nullable: true }),
    hasNextPage: t.exposeBoolean('hasNextPage'),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage'),
    startCursor: t.exposeString('startCursor', { nullable: true }),
  }),
});
// biome-ignore lint/suspicious/noExplicitAny: rows are of the type that the operation's schema derives
type Any = any;

function connectionType(name: string, node: Any): Any {
  const edge = builder.objectRef<{ page: PageOfRows['page']; at: number }>(`${name}Edge`).implement({
    fields: (t) => ({
      cursor: t.string({ resolve: ({ page, at }) => cursorOf(page, at) }),
      node: t.field({ type: node, resolve: ({ page, at }) => page.data[at] as Any }),
    }),
  });
  return builder.objectRef<PageOfRows>(`${name}Connection`).implement({
    fields: (t) => ({
      edges: t.field({
        type: [edge],
        complexity: { field: 1, multiplier: 1 },
        resolve: ({ page }) => page.data.map((_, at) => ({ page, at })),
      }),
      nodes: t.field({
        type: [node],
        complexity: { field: 1, multiplier: 1 },
        resolve: ({ page }) => [...page.data] as Any,
      }),
      pageInfo: t.field({ type: PageInfo, resolve: pageInfoOf }),
    }),
  });
}

/** A page of what belongs to an organization, by an operation that takes its id. */
function orgPage(t: Any, name: string, operation: Operation<Any, Any>, type: Any): Any {
  return t.field({
    type,
    nullable: true,
    args: {
      ...derive.args(t.arg, name, operation.input, { omit: ['id', 'limit', 'cursor'] }),
      after: t.arg.string(),
      first: t.arg.int(),
    },
    complexity: pageCost,
    extensions: { operation: operation.name },
    resolve: async ({ id }: { id: string }, args: Record<string, unknown>, { runner }: StaffContext) => {
      const given = { ...args, id, first: rowsAsked(args) };
      const page = await runner.run(operation, toWire(operation.input, given, pageArgs));
      return { page, paged: typeof args['after'] === 'string' };
    },
  });
}

const LedgerEntryConnection = connectionType('LedgerEntry', LedgerEntry);
const LotConnection = connectionType('Lot', derive.output('Lot', LotView));
const Reconciliation = derive.output('Reconciliation', ReconciliationView, { omit: ['object'] });

const StaffOrg = derive.output('StaffOrg', StaffOrgView, {
  extra: (t: Any) => ({
    balance: t.field({
      type: Balance,
      nullable: true,
      args: { environment: t.arg({ type: EnvironmentEnum }) },
      extensions: { operation: getStaffBalanceOperation.name },
      resolve: ({ id }: { id: string }, args: Record<string, unknown>, { runner }: StaffContext) =>
        runner.run(getStaffBalanceOperation, toWire(getStaffBalanceOperation.input, { ...args, id })),
    }),
    ledger: orgPage(t, 'Ledger', listStaffEntriesOperation, LedgerEntryConnection),
    lots: orgPage(t, 'Lots', listStaffLotsOperation, LotConnection),
    reconciliation: t.field({
      type: Reconciliation,
      nullable: true,
      args: derive.args(t.arg, 'Reconciliation', staffReconciliationOperation.input, { omit: ['id'] }),
      complexity: { field: 92, multiplier: 1 },
      extensions: { operation: staffReconciliationOperation.name },
      resolve: ({ id }: { id: string }, args: Record<string, unknown>, { runner }: StaffContext) =>
        runner.run(staffReconciliationOperation, toWire(staffReconciliationOperation.input, { ...args, id })),
    }),
  }),
});

const TopupReview = derive.output('TopupReview', ReviewView);
type Decided = Static<typeof acceptTopupOperation.output>;

builder.queryType({
  fields: (t) => ({
    viewer: t.field({
      type: Staff,
      extensions: { operation: null },
      resolve: (_root, _args, { runner }) => runner.caller as StaffCaller,
    }),
    staffOrgs: t.field({
      type: [StaffOrg],
      nullable: true,
      description: 'At most 20, by id, slug or part of the name.',
      args: { q: t.arg.string({ required: true }) },
      complexity: { field: 1, multiplier: 20 },
      extensions: { operation: findOrgsOperation.name },
      resolve: async (_root, { q }, { runner }) => (await runner.run(findOrgsOperation, { q })).data,
    }),
    topupReviews: t.field({
      type: [TopupReview],
      nullable: true,
      description: 'Payments that differ from what was asked, oldest first, at most 200.',
      complexity: { field: 1, multiplier: 200 },
      extensions: { operation: listReviewsOperation.name },
      resolve: async (_root, _args, { runner }) => (await runner.run(listReviewsOperation, {})).data,
    }),
    staffOrg: t.field({
      type: StaffOrg,
      nullable: true,
      args: { id: t.arg.id({ required: true, description: 'id or slug' }) },
      extensions: { operation: getStaffOrgOperation.name },
      resolve: async (_root, { id }, { runner }) => {
        try {
          return await runner.run(getStaffOrgOperation, { id });
        } catch (error) {
          if (error instanceof ServiceError && error.code === 'not_found') return null;
          throw error;
        }
      },
    }),
  }),
});

const UserErrorInterface = builder.interfaceRef<UserError>('UserError').implement({
  fields: (t) => ({
    code: t.exposeString('code'),
    message: t.exposeString('message'),
    path: t.stringList({ nullable: true, resolve: ({ path }) => (path === null ? null : [...path]) }),
    requestId: t.exposeString('requestId'),
  }),
});
const userErrors = userErrorNames.map((name) =>
  builder.objectRef<UserError>(name).implement({ interfaces: [UserErrorInterface] }),
);

/** A mutation that runs one operation: `XxxInput` from its input, `XxxResult` of `XxxPayload` and the refusals. */
function mutation(facts: {
  name: string;
  operation: Operation<Any, Any>;
  description: string;
  rename?: Readonly<Record<string, string>>;
  payload: (t: Any) => Record<string, Any>;
}): void {
  const { name, operation, rename = {} } = facts;
  const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const input = derive.input(`${title}Input`, operation.input, { rename });
  const payload = builder.objectRef<Any>(`${title}Payload`).implement({ fields: (t) => facts.payload(t) });
  const result = builder.unionType(`${title}Result`, {
    types: [payload, ...userErrors],
    resolveType: (value) => (value as UserError).__typename ?? `${title}Payload`,
  });
  builder.mutationField(name, (t) =>
    t.field({
      type: result as Any,
      description: facts.description,
      args: { input: t.arg({ type: input, required: true }) },
      extensions: { operation: operation.name },
      resolve: async (_root: unknown, args: Any, { runner }: StaffContext) => {
        try {
          return await runner.run(operation, toWire(operation.input, args.input, rename));
        } catch (error) {
          const refusal = userErrorOf(error, runner.request.request_id);
          if (refusal === null) throw error;
          return refusal as Any;
        }
      },
    }),
  );
}

builder.mutationType({});

type Granted = Static<typeof grantCreditOperation.output>;
mutation({
  name: 'grantCredit',
  operation: grantCreditOperation,
  description: 'Grants credit, above 100 USD with a second person; `reference` makes it happen once.',
  rename: { id: 'orgId' },
  payload: (t) => ({
    seq: t.field({ type: 'Count', resolve: ({ seq }: Granted) => seq }),
    lotId: t.id({ resolve: ({ lot_id }: Granted) => lot_id }),
    balance: t.field({ type: Balance, resolve: ({ balance }: Granted) => balance }),
    replay: t.boolean({
      description: 'the reference granted this before; nothing moved now',
      resolve: ({ replay }: Granted) => replay,
    }),
  }),
});

const RedeemBatch = derive.output('RedeemBatch', BatchView);
const RedeemBatchConnection = connectionType('RedeemBatch', RedeemBatch);
type MadeBatch = Static<typeof createBatchOperation.output>;

builder.queryField('redeemBatches', (t) =>
  t.field({
    type: RedeemBatchConnection as Any,
    nullable: true,
    description: 'Newest first.',
    args: { after: t.arg.string(), first: t.arg.int() },
    complexity: pageCost,
    extensions: { operation: listBatchesOperation.name },
    resolve: async (_root, args, { runner }) => {
      const given = { ...args, first: rowsAsked(args) };
      const page = await runner.run(
        listBatchesOperation,
        toWire(listBatchesOperation.input, given, pageArgs),
      );
      return { page, paged: typeof args.after === 'string' } as Any;
    },
  }),
);

mutation({
  name: 'createRedeemBatch',
  operation: createBatchOperation,
  description: 'Makes a batch of codes, which are shown here alone.',
  payload: (t) => ({
    batch: t.field({ type: RedeemBatch, resolve: ({ batch }: MadeBatch) => batch }),
    csv: t.string({ resolve: ({ csv }: MadeBatch) => csv }),
  }),
});

mutation({
  name: 'closeRedeemBatch',
  operation: closeBatchOperation,
  description: 'Ends a batch: none of its codes is taken any more.',
  payload: (t) => ({
    name: t.string({ resolve: ({ name }: { name: string }) => name }),
    closedAt: t.field({
      type: 'DateTime',
      nullable: true,
      resolve: ({ closed_at }: { closed_at: string | null }) => closed_at,
    }),
  }),
});

const parts = { builder, derive, connectionType, orgPage, mutation, StaffOrg };
addDesk(parts);
addApprovals(parts);
addMoneyBack(parts);
addSupport(parts);
addAccess(parts);
addAdmission(parts);
addNewOrgs(parts);
addRankings(parts);
addTickets(parts);
addAnnouncements(parts);
addLegal(parts);
addLooks(parts);
addMails(parts);
addClosing(parts);
addOrgErasure(parts);
addPlans(parts);
addPrices(parts);
addResellers(parts);
addOperate(parts);
const decided = (t: Any) => ({
  id: t.exposeID('id'),
  status: t.exposeString('status'),
  creditsMicro: t.field({ type: 'MicroUSD', resolve: ({ credits_micro }: Decided) => credits_micro }),
  invoiceId: t.id({ nullable: true, resolve: ({ invoice_id }: Decided) => invoice_id }),
  invoiceNumber: t.string({ nullable: true, resolve: ({ invoice_number }: Decided) => invoice_number }),
});
mutation({
  name: 'acceptTopup',
  operation: acceptTopupOperation,
  description: 'Books a payment in review for what was paid, at the rate of its quote.',
  payload: decided,
});
mutation({
  name: 'refuseTopup',
  operation: refuseTopupOperation,
  description: 'Gives a payment in review back at the rail.',
  payload: decided,
});

export const staffSchema: GraphQLSchema = builder.toSchema();

/** The schema as committed in staff/schema.graphql. */
export function printStaffSchema(): string {
  return `${printSchema(staffSchema)}\n`;
}
