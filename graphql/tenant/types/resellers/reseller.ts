// A reseller: its people's grants, its tiers and its customers. Null for members of other organizations.

import { codeStates } from '@svc/core/identity/index.ts';
import { resellerGrants } from '@svc/core/kernel/index.ts';
import {
  AccrualView,
  AllocationView,
  accrualStates,
  ChildUsageView,
  ChildView,
  childGroupings,
  childUsageOperation,
  createAllocationOperation,
  createChildOperation,
  createResellerAnnouncementOperation,
  createResellerInviteOperation,
  createTierOperation,
  deleteResellerAnnouncementOperation,
  deleteResellerInviteOperation,
  deleteTierOperation,
  getChildOperation,
  listAccrualsOperation,
  listAllocationsOperation,
  listChildrenOperation,
  listResellerAnnouncementsOperation,
  listResellerInvitesOperation,
  listResellerStaffOperation,
  listResellerTicketsOperation,
  listTiersOperation,
  ResellerAnnouncementView,
  ResellerInviteView,
  ResellerOverview,
  ResellerStaffView,
  ResellerTicketView,
  reclaimOperation,
  replyToResellerTicketOperation,
  resellerOverviewOperation,
  resellerUsageOperation,
  resolveResellerTicketOperation,
  setChildTierOperation,
  setResellerStaffOperation,
  TierPriceList,
  TierView,
  tierPricesOperation,
  updateChildOperation,
  updateResellerAnnouncementOperation,
  updateTierOperation,
} from '@svc/core/resellers/index.ts';
import { Type } from 'typebox';
import { toWire } from '../../../derive.ts';
import { builder, derive } from '../../builder.ts';
import { connectionType, pageField } from '../../connection.ts';
import { nullWhenMissing } from '../../missing.ts';
import { mutation } from '../../mutation.ts';

derive.enum('ResellerGrant', resellerGrants);
derive.enum('ResellerChildStatus', ['active', 'suspended']);

derive.enum('ResellerUsageGrouping', childGroupings);

const Usage = derive.output('ResellerUsage', ChildUsageView, {
  names: {
    ...{ range: 'ResellerUsageWindow', serie: 'ResellerUsageBucket', series: 'ResellerUsageBucket' },
    ...{ group: 'ResellerUsageGroupRow', group_serie: 'ResellerUsageGroupBucket' },
  },
  omit: ['object'],
});
const Tier = derive.output('ResellerTier', TierView);
const Child = derive.output('ResellerChild', ChildView);
const Allocation = derive.output('ResellerAllocation', AllocationView);
const AllocationConnection = connectionType('ResellerAllocation', Allocation);
derive.enum('ResellerAccrualStatus', accrualStates);
const Accrual = derive.output('ResellerAccrual', AccrualView);
const AccrualConnection = connectionType('ResellerAccrual', Accrual);
const Announcement = derive.output('ResellerAnnouncement', ResellerAnnouncementView);
const AnnouncementConnection = connectionType('ResellerAnnouncement', Announcement);
derive.enum('InviteCodeStatus', codeStates);
const Invite = derive.output('ResellerInvite', ResellerInviteView);
const InviteConnection = connectionType('ResellerInvite', Invite);
const Ticket = derive.output('ResellerTicket', ResellerTicketView);
const TicketConnection = connectionType('ResellerTicket', Ticket);
const ChildConnection = connectionType('ResellerChild', Child);
const Overview = derive.output('ResellerOverview', ResellerOverview, {
  names: { this_month: 'ResellerMonth', named_without_credit: 'ResellerChildName' },
});
const TierPrices = derive.output('ResellerTierPrices', TierPriceList, {
  names: { data: 'ResellerTierPrice' },
  omit: ['object'],
});
const StaffMember = derive.output('ResellerStaff', ResellerStaffView);

/** The parts of a reseller; each field runs its own operation, and is null where that is refused. */
export const Reseller = builder.objectRef<object>('Reseller').implement({
  fields: (t) => ({
    tiers: t.field({
      type: [Tier],
      nullable: true,
      description: 'What customers pay above catalog prices, oldest first.',
      extensions: { operation: listTiersOperation.name },
      resolve: async (_root, _args, { runner }) => (await runner.run(listTiersOperation, {})).data,
    }),
    staff: t.field({
      type: [StaffMember],
      nullable: true,
      description: 'Members with what each may do; for owners and admins.',
      extensions: { operation: listResellerStaffOperation.name },
      resolve: async (_root, _args, { runner }) => (await runner.run(listResellerStaffOperation, {})).data,
    }),
    children: pageField(t, 'ResellerChildren', {
      operation: listChildrenOperation,
      type: ChildConnection,
      description: 'Customers, newest first.',
      options: () => ({}),
    }),
    announcements: pageField(t, 'ResellerAnnouncements', {
      operation: listResellerAnnouncementsOperation,
      type: AnnouncementConnection,
      description: 'What is said to customers, newest first.',
      options: () => ({}),
    }),
    invites: pageField(t, 'ResellerInvites', {
      operation: listResellerInvitesOperation,
      type: InviteConnection,
      description: 'Invite codes, newest first; a code itself is shown once, when it is made.',
      options: () => ({}),
    }),
    accruals: pageField(t, 'ResellerAccruals', {
      operation: listAccrualsOperation,
      type: AccrualConnection,
      description: 'Markup earned per month and customer, newest month first.',
      options: () => ({}),
    }),
    allocations: pageField(t, 'ResellerAllocations', {
      operation: listAllocationsOperation,
      type: AllocationConnection,
      description: 'Credit that a customer was given, newest first; `id` is the customer.',
      options: () => ({}),
    }),
    child: t.field({
      type: Child,
      nullable: true,
      description: 'A customer, by id.',
      args: { id: t.arg.id({ required: true }) },
      extensions: { operation: getChildOperation.name },
      resolve: (_root, { id }, { runner }) =>
        nullWhenMissing(runner.run(getChildOperation, { id: id as never })),
    }),
  }),
});

builder.objectFields(Reseller, (t) => ({
  overview: t.field({
    type: Overview,
    nullable: true,
    description: 'How the customers stand, what can be given, what this month earns and what waits.',
    extensions: { operation: resellerOverviewOperation.name },
    resolve: (_root, _args, { runner }) => runner.run(resellerOverviewOperation, {}),
  }),
  tierPrices: t.field({
    type: TierPrices,
    nullable: true,
    description: 'What models would cost customers at a markup, and what of it is earned.',
    args: derive.args(t.arg, 'ResellerTierPrices', tierPricesOperation.input) as Record<string, never>,
    complexity: { field: 20 },
    extensions: { operation: tierPricesOperation.name },
    resolve: (_root, args, { runner }) =>
      runner.run(tierPricesOperation, toWire(tierPricesOperation.input, args as Record<string, unknown>)),
  }),
  tickets: pageField(t, 'ResellerTickets', {
    operation: listResellerTicketsOperation,
    type: TicketConnection,
    description: 'Tickets of customers with what was written, newest first.',
    options: () => ({}),
  }),
  usage: t.field({
    type: Usage,
    nullable: true,
    description: 'Sums of the live calls of all customers, or of the one that `id` names.',
    args: {
      ...(derive.args(t.arg, 'ResellerUsage', Type.Omit(resellerUsageOperation.input, ['format'])) as Record<
        string,
        never
      >),
      id: t.arg.id(),
    },
    complexity: { field: 20 },
    extensions: { operation: resellerUsageOperation.name },
    resolve: async (_root, { id, ...args }, { runner }) => {
      const input = toWire(resellerUsageOperation.input, args as Record<string, unknown>);
      return id == null
        ? runner.run(resellerUsageOperation, input)
        : nullWhenMissing(runner.run(childUsageOperation, { ...input, id: id as never }));
    },
  }),
}));

builder.queryFields((t) => ({
  reseller: t.field({
    type: Reseller,
    nullable: true,
    description: 'What a reseller sees of its customers; null in other organizations.',
    extensions: { operation: listTiersOperation.name },
    resolve: (_root, _args, { runner: { caller } }) =>
      caller.kind === 'session' && caller.reseller_grants !== undefined ? {} : null,
  }),
}));

interface Payload {
  readonly answer: unknown;
}
type Fields = Parameters<Parameters<typeof mutation>[0]['payload']>[0];
const tier = (t: Fields) => ({
  tier: t.field({ type: Tier, resolve: ({ answer }: Payload) => answer }),
});
const child = (t: Fields) => ({
  child: t.field({ type: Child, resolve: ({ answer }: Payload) => answer }),
});
const done = (t: Fields) => ({ ok: t.boolean({ resolve: () => true }) });

mutation({
  name: 'createResellerTier',
  operation: createTierOperation,
  input: createTierOperation.input,
  description: 'Makes a tier: what its customers pay above catalog prices.',
  payload: tier,
});

mutation({
  name: 'updateResellerTier',
  operation: updateTierOperation,
  input: updateTierOperation.input,
  description: 'Changes a tier; calls that begin afterwards pay it.',
  payload: tier,
});

mutation({
  name: 'deleteResellerTier',
  operation: deleteTierOperation,
  input: deleteTierOperation.input,
  description: 'Deletes a tier that nobody pays.',
  payload: done,
});

mutation({
  name: 'createResellerChild',
  operation: createChildOperation,
  input: createChildOperation.input,
  description: 'Makes a customer; its owner gets an invitation by mail.',
  payload: child,
});

mutation({
  name: 'updateResellerChild',
  operation: updateChildOperation,
  input: updateChildOperation.input,
  description: 'Names a customer, suspends it or lets it go on.',
  payload: child,
});

mutation({
  name: 'setResellerChildTier',
  operation: setChildTierOperation,
  input: setChildTierOperation.input,
  description: 'Puts a customer on a tier; calls that begin afterwards pay it.',
  payload: child,
});

mutation({
  name: 'setResellerStaff',
  operation: setResellerStaffOperation,
  input: setResellerStaffOperation.input,
  description: 'Says what a member of the reseller may do; an empty list takes all back.',
  payload: (t) => ({ staff: t.field({ type: StaffMember, resolve: ({ answer }: Payload) => answer }) }),
});

const allocation = (t: Fields) => ({
  allocation: t.field({ type: Allocation, resolve: ({ answer }: Payload) => answer }),
});

mutation({
  name: 'createResellerAllocation',
  operation: createAllocationOperation,
  input: createAllocationOperation.input,
  description: "Gives a customer credit out of the reseller's paid credit.",
  payload: allocation,
});

mutation({
  name: 'reclaimResellerAllocation',
  operation: reclaimOperation,
  input: reclaimOperation.input,
  description: 'Takes back what a customer has not used of an allocation, and no call holds.',
  payload: allocation,
});

const announcement = (t: Fields) => ({
  announcement: t.field({ type: Announcement, resolve: ({ answer }: Payload) => answer }),
});

mutation({
  name: 'createResellerAnnouncement',
  operation: createResellerAnnouncementOperation,
  input: createResellerAnnouncementOperation.input,
  description: 'Says something to all customers for a time.',
  payload: announcement,
});

mutation({
  name: 'updateResellerAnnouncement',
  operation: updateResellerAnnouncementOperation,
  input: updateResellerAnnouncementOperation.input,
  description: 'Changes an announcement; an end that has passed ends it.',
  payload: announcement,
});

mutation({
  name: 'deleteResellerAnnouncement',
  operation: deleteResellerAnnouncementOperation,
  input: deleteResellerAnnouncementOperation.input,
  description: 'Deletes an announcement; nobody sees it any more.',
  payload: done,
});

mutation({
  name: 'createResellerInvite',
  operation: createResellerInviteOperation,
  input: createResellerInviteOperation.input,
  description: 'Makes an invite code, which is shown in this answer alone.',
  payload: (t) => ({
    invite: t.field({ type: Invite, resolve: ({ answer }: Payload) => answer }),
    code: t.string({ resolve: ({ answer }: Payload) => (answer as { readonly code: string }).code }),
  }),
});

mutation({
  name: 'deleteResellerInvite',
  operation: deleteResellerInviteOperation,
  input: deleteResellerInviteOperation.input,
  description: 'Revokes an invite code; customers that were made with it stay.',
  payload: done,
});

const ticket = (t: Fields) => ({
  ticket: t.field({ type: Ticket, resolve: ({ answer }: Payload) => answer }),
});

mutation({
  name: 'replyToResellerTicket',
  operation: replyToResellerTicketOperation,
  input: replyToResellerTicketOperation.input,
  description: 'Answers a ticket of a customer; who asked is told by mail.',
  payload: ticket,
});

mutation({
  name: 'resolveResellerTicket',
  operation: resolveResellerTicketOperation,
  input: resolveResellerTicketOperation.input,
  description: 'Says that the matter of a customer is settled; the customer can reopen it.',
  payload: ticket,
});
