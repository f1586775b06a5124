// Tickets of customers in the staff schema.
import {
  answerTicketOperation,
  getStaffTicketOperation,
  listStaffTicketsOperation,
  StaffTicketView,
  ticketAuthors,
  ticketKinds,
  ticketSides,
} from '@svc/core/support/index.ts';
import { toWire } from '../derive.ts';
import { pageArgs, pageCost, rowsAsked } from '../page.ts';
import type { Runner } from '../run.ts';
import type { Parts } from './parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, this part of the schema does not
type Any = any;

/** Adds the tickets, and their answers. */
export function addTickets({ builder, derive, connectionType, mutation }: Parts): void {
  derive.enum('TicketKind', ticketKinds);
  derive.enum('TicketAuthor', ticketAuthors);
  derive.enum('TicketSide', ticketSides);
  const StaffTicket = derive.output('StaffTicket', StaffTicketView, { names: { ticket: 'Ticket' } });
  const Tickets = connectionType('StaffTicket', StaffTicket);
  builder.queryField('tickets', (t: Any) =>
    t.field({
      type: Tickets,
      nullable: true,
      description: 'Open tickets, oldest first; those that wait for the customer only with `answered`.',
      args: { answered: t.arg.boolean(), after: t.arg.string(), first: t.arg.int() },
      complexity: pageCost,
      extensions: { operation: listStaffTicketsOperation.name },
      resolve: async (_root: unknown, args: Record<string, unknown>, { runner }: { runner: Runner }) => {
        const given = toWire(listStaffTicketsOperation.input, { ...args, first: rowsAsked(args) }, pageArgs);
        const page = await runner.run(listStaffTicketsOperation, given);
        return { page, paged: typeof args['after'] === 'string' };
      },
    }),
  );
  builder.queryField('ticket', (t: Any) =>
    t.field({
      type: StaffTicket,
      nullable: true,
      args: { id: t.arg.id({ required: true }) },
      description: 'A ticket of any organization.',
      extensions: { operation: getStaffTicketOperation.name },
      resolve: (_root: unknown, { id }: { id: string }, { runner }: { runner: Runner }) =>
        runner.run(getStaffTicketOperation, { id }),
    }),
  );
  mutation({
    name: 'answerTicket',
    operation: answerTicketOperation,
    description: 'Answers a ticket, and ends it where that settles the matter.',
    payload: (t) => ({
      ticket: t.field({ type: StaffTicket, resolve: (answer: unknown) => answer }),
    }),
  });
}
