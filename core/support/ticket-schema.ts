// Wire shapes of tickets of every kind.
import { type Static, Type } from 'typebox';
import { documented, idOf, named, nullable, oneOf, Time } from '../kernel/index.ts';
import { LimitsView } from './schema.ts';
import {
  type Ticket,
  type TicketMessage,
  ticketAuthors,
  ticketKinds,
  ticketSides,
  ticketStatuses,
} from './types.ts';

/** What people write about a ticket. */
export const Text = Type.String({ minLength: 1, maxLength: 10_000, format: 'lines' });
/** What members of staff are called to customers. */
const STAFF_NAME = 'Support';

const Message = named(
  'TicketMessage',
  Type.Object({
    id: Type.String(),
    author: oneOf(ticketAuthors, 'TicketAuthor'),
    author_name: Type.String({ description: 'who wrote it; members of staff are called Support' }),
    text: Type.String(),
    at: Time,
  }),
);

const Body = Type.Object(
  {
    text: Type.Optional(Type.String()),
    invoice_id: Type.Optional(idOf('invoice')),
    invoice_number: Type.Optional(Type.String({ description: 'what people call that document' })),
    topup_id: Type.Optional(idOf('topup')),
    key_id: Type.Optional(idOf('key')),
    requested: Type.Optional(LimitsView),
    current: Type.Optional(LimitsView),
    plan_max: Type.Optional(LimitsView),
    reason: Type.Optional(Type.String()),
  },
  { description: 'what was asked for, by kind; text where it was written in words' },
);

export const AnyTicketView = named(
  'Ticket',
  Type.Object({
    id: idOf('ticket'),
    org_id: idOf('org'),
    kind: oneOf(ticketKinds, 'TicketKind'),
    status: oneOf(ticketStatuses, 'TicketStatus'),
    subject: Type.String(),
    body: Body,
    waiting_for: documented(nullable(oneOf(ticketSides, 'TicketSide')), {
      description: 'whose turn it is; null once the ticket has ended',
    }),
    created_by: nullable(Type.String({ description: 'the person; null for a key that is bound to nobody' })),
    resolution: Type.String({ description: 'what it ended with; empty until then' }),
    created_at: Time,
    updated_at: Time,
  }),
);
type AnyTicketView = Static<typeof AnyTicketView>;

/** A ticket with all that was written about it, oldest first. */
export const TicketThread = named(
  'TicketThread',
  Type.Intersect([AnyTicketView, Type.Object({ messages: Type.Array(Message) })]),
);
export type TicketThread = Static<typeof TicketThread>;

export const threadExample = {
  id: 'tkt_01KACZ3V8S6T5R4Q3P2N1M0K9G',
  org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9H',
  kind: 'invoice_correction',
  status: 'open',
  subject: 'An invoice has the wrong address',
  body: {
    text: 'We have moved to Pune.',
    invoice_id: 'inv_01KACZ3V8S6T5R4Q3P2N1M0K9J',
    invoice_number: 'INV/26-27/00001',
  },
  waiting_for: 'customer',
  created_by: 'usr_01KACZ3V8S6T5R4Q3P2N1M0K9K',
  resolution: '',
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T11:00:00.000Z',
  messages: [
    {
      id: '41',
      author: 'staff',
      author_name: STAFF_NAME,
      text: 'What is the full address?',
      at: '2026-11-21T11:00:00.000Z',
    },
  ],
} satisfies TicketThread;

/** A ticket on the wire. */
export function viewAnyTicket(ticket: Ticket): AnyTicketView {
  const { id, org_id, kind, status, subject, body, waiting_for, created_by, resolution } = ticket;
  return {
    ...{ id, org_id, kind, status, subject, created_by, resolution },
    body: body as AnyTicketView['body'],
    waiting_for: status === 'open' ? waiting_for : null,
    created_at: ticket.created_at.toISOString(),
    updated_at: ticket.updated_at.toISOString(),
  };
}

/** A ticket with its messages; `names` shows who of staff wrote, which is for staff alone. */
export function viewThread(
  ticket: Ticket,
  messages: readonly TicketMessage[],
  { names = false }: { names?: boolean } = {},
): TicketThread {
  return {
    ...viewAnyTicket(ticket),
    messages: messages.map(({ ticket_message_id, author, author_name, text, created_at }) => ({
      id: String(ticket_message_id),
      author,
      author_name: author === 'staff' && !names ? STAFF_NAME : author_name,
      text,
      at: created_at.toISOString(),
    })),
  };
}
