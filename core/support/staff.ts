// Requests for higher limits as staff see and decide them. Each look and each act is an entry of the audit log.
import { type Static, Type } from 'typebox';
import { getStaffOrg } from '../credits/index.ts';
import { writeAudit } from '../identity/index.ts';
import {
  type Id,
  idOf,
  invalid,
  isId,
  lineOf,
  notFound,
  nullable,
  operation,
  page,
  pageInput,
  pageOf,
  walkPage,
} from '../kernel/index.ts';
import { findKeysOfAll, type KeyRow, type KeyStatus, statusAt } from '../keys/index.ts';
import { findOrgs, limitsOf, type Org } from '../orgs/index.ts';
import { staffAnnouncementOperations } from './announcements.ts';
import { approveRequest, overrideLimits, refuseRequest } from './decide.ts';
import { effective } from './limits.ts';
import { LimitsView, limitMembers, TicketView, ticketExample, viewTicket, Words } from './schema.ts';
import { listOpenLimitTickets } from './store.ts';
import { staffTicketOperations } from './ticket-staff.ts';
import type { LimitTicket } from './types.ts';

const deciders = { kind: 'staff', roles: ['support', 'finance'] } as const;
const PAGE = 50;

export const LimitRequestView = Type.Object({
  ticket: TicketView,
  org_slug: Type.String(),
  org_name: Type.String(),
  plan_id: Type.String(),
  key_name: Type.String(),
  key_status: Type.String(),
  now: Type.Object(LimitsView.properties, { description: 'what holds for the key at present' }),
  most: Type.Object(LimitsView.properties, {
    description: 'plan and overrides of the organization; approving what is above changes the overrides',
  }),
});
type LimitRequestView = Static<typeof LimitRequestView>;

function viewRequest(
  ticket: LimitTicket,
  of: { org: Org | undefined; key: KeyRow | undefined; at: Date },
): LimitRequestView {
  const { org, key, at } = of;
  if (org === undefined || key === undefined) throw new Error(`${ticket.id} has no organization or no key`);
  const { rpm, tpm, concurrency } = limitsOf(org);
  const most = { rpm, tpm, concurrency };
  const key_status: KeyStatus = statusAt(key, at);
  return {
    ticket: viewTicket(ticket),
    ...{ org_slug: org.slug, org_name: org.name, plan_id: org.plan_id },
    ...{ key_name: key.name, key_status, now: effective(key, most), most },
  };
}

function ticketId(text: string): Id<'ticket'> {
  if (!isId('ticket', text)) throw notFound();
  return text;
}

const example: LimitRequestView = {
  ticket: {
    ...ticketExample,
    status: 'open',
    body: { ...ticketExample.body, requested: { rpm: 900, tpm: null, concurrency: null } },
  },
  ...{ org_slug: 'acme', org_name: 'Acme', plan_id: 'payg' },
  ...{ key_name: 'checkout service', key_status: 'active' },
  now: ticketExample.body.current,
  most: ticketExample.body.plan_max,
};

export const listStaffLimitRequestsOperation = operation({
  name: 'staff.limits.list',
  method: 'GET',
  path: '/staff/limits/requests',
  summary: 'List requests for higher limits that wait for a decision, oldest first',
  audience: deciders,
  input: Type.Object(pageInput(200)),
  output: pageOf(LimitRequestView),
  errors: [],
  example: { object: 'list', data: [example], next_cursor: '' },
  run: (context, input) =>
    context.transaction(async (context) => {
      await writeAudit(context, { action: 'staff.limits.list', org_id: null });
      const { rows, next_cursor, cursorAt } = await walkPage(context, {
        bound: 'staff.limits',
        cursor: input.cursor,
        limit: input.limit ?? PAGE,
        read: (after, limit) => listOpenLimitTickets(context.db, { after, limit }),
        placeOf: (ticket) => ({ at: ticket.created_at.getTime(), id: ticket.id }),
      });
      const orgs = await findOrgs(
        context.db,
        rows.map(({ org_id }) => org_id),
      );
      const keys = await findKeysOfAll(
        context.db,
        rows.map(({ key_id }) => key_id),
      );
      const at = context.now();
      const views = rows.map((row) =>
        viewRequest(row, { org: orgs.get(row.org_id), key: keys.get(row.key_id), at }),
      );
      return page(views, next_cursor, cursorAt);
    }),
});

export const approveLimitsOperation = operation({
  name: 'staff.limits.approve',
  method: 'POST',
  path: '/staff/limits/requests/:id/approve',
  summary: 'Grant a request for higher limits, or other values of the limits that it names',
  audience: deciders,
  input: Type.Object({ id: idOf('ticket'), ...limitMembers, answer: Type.Optional(Words) }),
  output: TicketView,
  errors: ['state_conflict'],
  example: ticketExample,
  async run(context, { id, answer = '', ...instead }) {
    return viewTicket(await approveRequest(context, { id: ticketId(id), answer, instead }));
  },
});

export const refuseLimitsOperation = operation({
  name: 'staff.limits.refuse',
  method: 'POST',
  path: '/staff/limits/requests/:id/refuse',
  summary: 'Refuse a request for higher limits, with an answer that the customer reads',
  audience: deciders,
  input: Type.Object({
    id: idOf('ticket'),
    answer: Type.String({ minLength: 1, maxLength: 500, format: 'lines' }),
  }),
  output: TicketView,
  errors: ['state_conflict'],
  example: { ...ticketExample, status: 'rejected', resolution: 'Please move to the plan team.' },
  async run(context, { id, answer }) {
    return viewTicket(await refuseRequest(context, { id: ticketId(id), answer }));
  },
});

const Override = nullable(limitMembers.rpm);
const Overrides = Type.Object({
  rpm: nullable(Type.Integer()),
  tpm: nullable(Type.Integer()),
  concurrency: nullable(Type.Integer()),
});

export const overrideLimitsOperation = operation({
  name: 'staff.limits.override',
  method: 'POST',
  path: '/staff/orgs/:id/limits',
  summary: 'Set what an organization may use beyond its plan; null withdraws it',
  audience: deciders,
  input: Type.Object({
    id: Type.String(),
    rpm: Type.Optional(Override),
    tpm: Type.Optional(Override),
    concurrency: Type.Optional(Override),
    reason: lineOf(500),
  }),
  output: Overrides,
  errors: [],
  example: { rpm: 900, tpm: null, concurrency: null },
  async run(context, { id, reason, ...limits }) {
    if (Object.values(limits).every((limit) => limit === undefined)) {
      throw invalid('rpm', 'missing', 'Name at least one of rpm, tpm and concurrency.');
    }
    const org = await getStaffOrg(context, id);
    const { rpm, tpm, concurrency } = await overrideLimits(context, { org_id: org.id, limits, reason });
    return { rpm: rpm ?? null, tpm: tpm ?? null, concurrency: concurrency ?? null };
  },
});

export const staffSupportOperations = [
  listStaffLimitRequestsOperation,
  approveLimitsOperation,
  refuseLimitsOperation,
  overrideLimitsOperation,
  ...staffTicketOperations,
  ...staffAnnouncementOperations,
] as const;
