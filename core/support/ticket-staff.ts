// Tickets as staff read and answer them. Each look and each answer is an entry of the audit log.
import { type Static, Type } from 'typebox';
import { writeAudit } from '../identity/index.ts';
import { type Context, idOf, operation, page, pageInput, pageOf, walkPage } from '../kernel/index.ts';
import { findOrgs } from '../orgs/index.ts';
import { Text, TicketThread, threadExample, viewThread } from './ticket-schema.ts';
import { listMessages, listOpenTickets } from './ticket-store.ts';
import { answerTicket, readThread } from './tickets.ts';
import type { Ticket, TicketMessage } from './types.ts';

const audience = { kind: 'staff', roles: ['support', 'finance'] } as const;
const PAGE = 50;

export const StaffTicketView = Type.Object({
  ticket: TicketThread,
  org_slug: Type.String(),
  org_name: Type.String(),
  plan_id: Type.String(),
});
type StaffTicketView = Static<typeof StaffTicketView>;

const example: StaffTicketView = {
  ticket: { ...threadExample, waiting_for: 'staff', messages: [] },
  ...{ org_slug: 'acme', org_name: 'Acme', plan_id: 'payg' },
};

type Thread = readonly [ticket: Ticket, messages: readonly TicketMessage[]];

/** Tickets with whose they are, in as many statements for many as for one. */
async function viewAll({ db }: Context, threads: readonly Thread[]): Promise<StaffTicketView[]> {
  const orgs = await findOrgs(
    db,
    threads.map(([{ org_id }]) => org_id),
  );
  return threads.map(([ticket, messages]) => {
    const org = orgs.get(ticket.org_id);
    if (org === undefined) throw new Error(`${ticket.id} has no organization`);
    return {
      ticket: viewThread(ticket, messages, { names: true }),
      ...{ org_slug: org.slug, org_name: org.name, plan_id: org.plan_id },
    };
  });
}

async function view(context: Context, ...thread: Thread): Promise<StaffTicketView> {
  return (await viewAll(context, [thread]))[0] as StaffTicketView;
}

export const listStaffTicketsOperation = operation({
  name: 'staff.tickets.list',
  method: 'GET',
  path: '/staff/tickets',
  summary: 'List open tickets that wait for staff, oldest first',
  audience,
  input: Type.Object({
    answered: Type.Optional(Type.Boolean({ description: 'also those that wait for the customer' })),
    ...pageInput(200),
  }),
  output: pageOf(StaffTicketView),
  errors: [],
  example: { object: 'list', data: [example], next_cursor: '' },
  run: (context, input) =>
    context.transaction(async (context) => {
      const answered = input.answered ?? false;
      await writeAudit(context, { action: 'staff.tickets.list', org_id: null });
      const { rows, next_cursor, cursorAt } = await walkPage(context, {
        bound: `staff.tickets ${answered}`,
        cursor: input.cursor,
        limit: input.limit ?? PAGE,
        read: (after, limit) => listOpenTickets(context.db, { answered, after, limit }),
        placeOf: (ticket) => ({ at: ticket.created_at.getTime(), id: ticket.id }),
      });
      const messages = await listMessages(
        context.db,
        rows.map(({ id }) => id),
      );
      const threads = rows.map((row) => [row, messages.get(row.id) ?? []] as const);
      return page(await viewAll(context, threads), next_cursor, cursorAt);
    }),
});

export const getStaffTicketOperation = operation({
  name: 'staff.tickets.get',
  method: 'GET',
  path: '/staff/tickets/:id',
  summary: 'Read a ticket of any organization',
  audience,
  input: Type.Object({ id: idOf('ticket') }),
  output: StaffTicketView,
  errors: [],
  example,
  run: (context, { id }) =>
    context.transaction(async (context) => {
      const { ticket, messages } = await readThread(context, { id, org_id: null });
      const target = { type: 'ticket', id: ticket.id, display: ticket.subject };
      await writeAudit(context, { action: 'staff.tickets.get', org_id: ticket.org_id, target });
      return view(context, ticket, messages);
    }),
});

export const answerTicketOperation = operation({
  name: 'staff.tickets.answer',
  method: 'POST',
  path: '/staff/tickets/:id/messages',
  summary: 'Answer a ticket, and end it where that settles the matter',
  audience,
  input: Type.Object({
    id: idOf('ticket'),
    text: Text,
    resolve: Type.Optional(
      Type.Boolean({ description: 'the matter is settled; the customer can reopen it' }),
    ),
  }),
  output: StaffTicketView,
  errors: ['state_conflict'],
  example: { ...example, ticket: threadExample },
  async run(context, { id, text, resolve = false }) {
    const { ticket, messages } = await answerTicket(context, { id, text, resolve });
    return view(context, ticket, messages);
  },
});

export const staffTicketOperations = [
  listStaffTicketsOperation,
  getStaffTicketOperation,
  answerTicketOperation,
] as const;
