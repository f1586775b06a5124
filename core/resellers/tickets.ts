// Tickets of a reseller's customers: read and answered by the reseller's people, beside our staff.
import { type Static, Type } from 'typebox';
import {
  type Context,
  type Id,
  idOf,
  isId,
  named,
  notFound,
  oneOf,
  operation,
  page,
  pageInput,
  pageOf,
  walkPage,
} from '../kernel/index.ts';
import { findOrg, findOrgs } from '../orgs/index.ts';
import {
  answerAsReseller,
  findTicket,
  listMessages,
  listTicketsOf,
  Text,
  TicketThread,
  threadExample,
  ticketStatuses,
  viewThread,
} from '../support/index.ts';
import { getChild, holders, resellerCaller } from './audience.ts';
import { findChild, listChildIds } from './children/store.ts';

const supporters = holders('reseller.support');
const PAGE = 50;

export const ResellerTicketView = named(
  'ResellerTicket',
  Type.Object({ ticket: TicketThread, org_slug: Type.String(), org_name: Type.String() }),
);
type ResellerTicketView = Static<typeof ResellerTicketView>;
type Thread = Awaited<ReturnType<typeof answerAsReseller>>;

const example: ResellerTicketView = {
  ticket: { ...threadExample, waiting_for: 'staff', messages: [] },
  ...{ org_slug: 'northwind', org_name: 'Northwind' },
};

async function viewAll(context: Context, threads: readonly Thread[]): Promise<ResellerTicketView[]> {
  const ids = threads.map(({ ticket }) => ticket.org_id);
  const orgs = await findOrgs(context.acrossOrgs.db, ids);
  return threads.map(({ ticket, messages }) => {
    const org = orgs.get(ticket.org_id);
    if (org === undefined) throw new Error(`${ticket.id} has no organization`);
    return { ticket: viewThread(ticket, messages), org_slug: org.slug, org_name: org.name };
  });
}

export const listResellerTicketsOperation = operation({
  name: 'reseller.tickets.list',
  method: 'GET',
  path: '/v1/reseller/tickets',
  summary: 'List the tickets of customers with what was written, newest first',
  audience: supporters,
  input: Type.Object({
    status: Type.Optional(oneOf(ticketStatuses, 'TicketStatus')),
    child_org_id: Type.Optional(Type.String({ description: 'those of this customer alone' })),
    ...pageInput(200),
  }),
  output: pageOf(ResellerTicketView),
  errors: ['grant_required'],
  example: { object: 'list', data: [example], next_cursor: '' },
  async run(context, { status = null, child_org_id = null, cursor, limit }) {
    const { org_id } = resellerCaller(context);
    const { db } = context.acrossOrgs;
    const org_ids =
      child_org_id === null ? await listChildIds(db, org_id) : [(await getChild(context, child_org_id)).id];
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `reseller.tickets ${org_id} ${status} ${child_org_id}`,
      cursor,
      limit: limit ?? PAGE,
      read: (after, limit) => listTicketsOf(db, { org_ids, status, after, limit }),
      placeOf: (ticket) => ({ at: ticket.created_at.getTime(), id: ticket.id }),
    });
    const messages = await listMessages(
      db,
      rows.map(({ id }) => id),
    );
    const threads = rows.map((ticket) => ({ ticket, messages: messages.get(ticket.id) ?? [] }));
    return page(await viewAll(context, threads), next_cursor, cursorAt);
  },
});

/** Whose ticket it is, where that is a customer of the reseller. @throws ServiceError not_found. */
async function customerOf(context: Context, parent_org_id: Id<'org'>, id: string): Promise<Id<'org'>> {
  const { db } = context.acrossOrgs;
  const ticket = isId('ticket', id) ? await findTicket(db, { id, org_id: null }) : null;
  const child = ticket === null ? null : await findChild(db, { parent_org_id, id: ticket.org_id });
  if (child === null) throw notFound();
  return child.id;
}

async function write(
  context: Context,
  said: { id: string; text: string | null; resolve: boolean },
): Promise<ResellerTicketView> {
  const { org_id: parent_org_id } = resellerCaller(context);
  const org_id = await customerOf(context, parent_org_id, said.id);
  const reseller = await findOrg(context.db, parent_org_id);
  if (reseller === null) throw notFound();
  const thread = await answerAsReseller(context.acrossOrgs, { ...said, org_id, reseller });
  return (await viewAll(context, [thread]))[0] as ResellerTicketView;
}

export const replyToResellerTicketOperation = operation({
  name: 'reseller.tickets.reply',
  method: 'POST',
  path: '/v1/reseller/tickets/:id/reply',
  summary: 'Answer a ticket of a customer; who asked is told by mail',
  audience: supporters,
  input: Type.Object({ id: idOf('ticket'), text: Text }),
  output: ResellerTicketView,
  errors: ['grant_required', 'state_conflict', 'csrf_failed'],
  status: 201,
  idempotent: true,
  request: { text: 'It is on its way.' },
  example: { ...example, ticket: threadExample },
  run: (context, { id, text }) => write(context, { id, text, resolve: false }),
});

export const resolveResellerTicketOperation = operation({
  name: 'reseller.tickets.resolve',
  method: 'POST',
  path: '/v1/reseller/tickets/:id/resolve',
  summary:
    'Say that the matter of a customer is settled, with a last word or without; the customer can reopen it',
  audience: supporters,
  input: Type.Object({ id: idOf('ticket'), text: Type.Optional(Text) }),
  output: ResellerTicketView,
  errors: ['grant_required', 'state_conflict', 'csrf_failed'],
  idempotent: true,
  request: { text: 'The address is corrected.' },
  example: { ...example, ticket: { ...threadExample, status: 'resolved', waiting_for: null } },
  run: (context, { id, text }) => write(context, { id, text: text ?? null, resolve: true }),
});

export const resellerTicketOperations = [
  listResellerTicketsOperation,
  replyToResellerTicketOperation,
  resolveResellerTicketOperation,
] as const;
