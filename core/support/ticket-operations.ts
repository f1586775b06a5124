// Tickets as people of an organization write and read them.
import { Type } from 'typebox';
import {
  idOf,
  lineOf,
  oneOf,
  operation,
  orgCaller,
  page,
  pageInput,
  pageOf,
  walkPage,
} from '../kernel/index.ts';
import {
  AnyTicketView,
  Text,
  TicketThread,
  threadExample,
  viewAnyTicket,
  viewThread,
} from './ticket-schema.ts';
import { listTickets } from './ticket-store.ts';
import { openTicket, readThread, withdrawTicket, writeToTicket } from './tickets.ts';
import { ticketKinds, ticketStatuses } from './types.ts';

/** A ticket concerns the organization as a whole, so a sandbox key has no part in it. */
const audience = {
  kind: 'key',
  scopes: ['manage:keys'],
  session: ['owner', 'admin', 'developer', 'billing', 'viewer'],
  sandbox: false,
  // To ask what ends it.
  while_suspended: true,
} as const;
/** Kinds that are written in words; limits are asked for by `POST /v1/limits/requests`. */
const written = ['invoice_correction', 'refund', 'close_org', 'other'] as const;
const DEFAULT_LIMIT = 50;
const byId = Type.Object({ id: idOf('ticket') });
const { messages: _, ...ticketExample } = threadExample;

export const listTicketsOperation = operation({
  name: 'tickets.list',
  method: 'GET',
  path: '/v1/tickets',
  summary: 'List tickets, newest first',
  audience,
  input: Type.Object({
    kind: Type.Optional(oneOf(ticketKinds, 'TicketKind')),
    status: Type.Optional(oneOf(ticketStatuses, 'TicketStatus')),
    ...pageInput(200),
  }),
  output: pageOf(AnyTicketView),
  errors: ['sandbox_key_not_allowed'],
  example: { object: 'list', data: [ticketExample], next_cursor: '' },
  async run(context, input) {
    const { org_id } = orgCaller(context);
    const args = { org_id, kind: input.kind ?? null, status: input.status ?? null };
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `tickets.list ${org_id} ${args.kind} ${args.status}`,
      cursor: input.cursor,
      limit: input.limit ?? DEFAULT_LIMIT,
      read: (after, limit) => listTickets(context.db, { ...args, after, limit }),
      placeOf: (ticket) => ({ at: ticket.created_at.getTime(), id: ticket.id }),
    });
    return page(rows.map(viewAnyTicket), next_cursor, cursorAt);
  },
});

export const getTicketOperation = operation({
  name: 'tickets.get',
  method: 'GET',
  path: '/v1/tickets/:id',
  summary: 'Read a ticket and what was written about it',
  audience,
  input: byId,
  output: TicketThread,
  errors: ['sandbox_key_not_allowed'],
  example: threadExample,
  async run(context, { id }) {
    const { ticket, messages } = await readThread(context, { id, org_id: orgCaller(context).org_id });
    return viewThread(ticket, messages);
  },
});

export const createTicketOperation = operation({
  name: 'tickets.create',
  method: 'POST',
  path: '/v1/tickets',
  summary: 'Write to support',
  audience,
  input: Type.Object({
    subject: lineOf(120),
    body: Text,
    kind: Type.Optional(oneOf(written, 'WrittenTicketKind')),
    invoice_id: Type.Optional(
      Type.String({
        description: 'the document that it is about',
        examples: ['inv_01KACZ3V8S6T5R4Q3P2N1M0K9J'],
      }),
    ),
    topup_id: Type.Optional(
      Type.String({
        description: 'the top-up that it is about',
        examples: ['tup_01KACZ3V8S6T5R4Q3P2N1M0K9J'],
      }),
    ),
  }),
  output: TicketThread,
  errors: ['plan_limit_reached', 'sandbox_key_not_allowed'],
  status: 201,
  idempotent: true,
  request: {
    kind: 'invoice_correction',
    subject: threadExample.subject,
    body: threadExample.body.text,
    invoice_id: threadExample.body.invoice_id,
  },
  example: { ...threadExample, waiting_for: 'staff', messages: [] },
  async run(context, { body, kind = 'other', ...given }) {
    const { ticket, messages } = await openTicket(context, { ...given, kind, text: body });
    return viewThread(ticket, messages);
  },
});

export const replyToTicketOperation = operation({
  name: 'tickets.reply',
  method: 'POST',
  path: '/v1/tickets/:id/messages',
  summary: 'Write more about a ticket; one that was resolved is open again',
  audience,
  input: Type.Object({ id: idOf('ticket'), text: Text }),
  output: TicketThread,
  errors: ['state_conflict', 'sandbox_key_not_allowed'],
  status: 201,
  idempotent: true,
  request: { text: 'It is 14 Baner Road, Pune 411045.' },
  example: { ...threadExample, waiting_for: 'staff' },
  async run(context, input) {
    const { ticket, messages } = await writeToTicket(context, input);
    return viewThread(ticket, messages);
  },
});

export const closeTicketOperation = operation({
  name: 'tickets.close',
  method: 'POST',
  path: '/v1/tickets/:id/close',
  summary: 'Close a ticket that needs nobody any more',
  audience,
  input: byId,
  output: TicketThread,
  errors: ['state_conflict', 'sandbox_key_not_allowed'],
  example: { ...threadExample, status: 'closed', waiting_for: null },
  async run(context, { id }) {
    const { ticket, messages } = await withdrawTicket(context, id);
    return viewThread(ticket, messages);
  },
});

export const ticketOperations = [
  listTicketsOperation,
  getTicketOperation,
  createTicketOperation,
  replyToTicketOperation,
  closeTicketOperation,
] as const;
