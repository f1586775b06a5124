// What the organization has written to support, and what was answered.
import {
  AnyTicketView,
  closeTicketOperation,
  createTicketOperation,
  getTicketOperation,
  listTicketsOperation,
  replyToTicketOperation,
  TicketThread,
  ticketAuthors,
  ticketKinds,
  ticketSides,
} from '@svc/core/support/index.ts';
import { builder, derive } from '../builder.ts';
import { connectionType, pageField } from '../connection.ts';
import { mutation } from '../mutation.ts';

derive.enum('TicketKind', ticketKinds);
derive.enum('TicketAuthor', ticketAuthors);
derive.enum('TicketSide', ticketSides);
derive.enum(
  'WrittenTicketKind',
  ticketKinds.filter((kind) => kind !== 'limit_increase'),
);

const Ticket = derive.output('Ticket', AnyTicketView);
const Thread = derive.output('TicketThread', TicketThread, { names: { body: 'TicketThreadBody' } });
const TicketConnection = connectionType('Ticket', Ticket);

builder.queryFields((t) => ({
  tickets: pageField(t, 'Tickets', {
    operation: listTicketsOperation,
    type: TicketConnection,
    description: 'Tickets of the organization, newest first.',
    options: () => ({}),
  }),
  ticket: t.field({
    type: Thread,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    description: 'A ticket and what was written about it.',
    extensions: { operation: getTicketOperation.name },
    resolve: (_root, { id }, { runner }) => runner.run(getTicketOperation, { id: String(id) }),
  }),
}));

interface Payload {
  readonly answer: unknown;
}
type Fields = Parameters<Parameters<typeof mutation>[0]['payload']>[0];
const withTicket = (t: Fields) => ({
  ticket: t.field({ type: Thread, resolve: ({ answer }: Payload) => answer }),
});

mutation({
  name: 'createTicket',
  operation: createTicketOperation,
  input: createTicketOperation.input,
  description: 'Writes to support.',
  payload: withTicket,
});

mutation({
  name: 'replyToTicket',
  operation: replyToTicketOperation,
  input: replyToTicketOperation.input,
  description: 'Writes more about a ticket; one that was resolved is open again.',
  payload: withTicket,
});

mutation({
  name: 'closeTicket',
  operation: closeTicketOperation,
  input: closeTicketOperation.input,
  description: 'Closes a ticket that needs nobody any more.',
  payload: withTicket,
});
