// SQL of tickets of every kind, and of what is written about them.
import type { Db, Id } from '../kernel/index.ts';
import type { Ticket, TicketKind, TicketMessage, TicketStatus } from './types.ts';

const COLUMNS = `
  t.id, t.org_id, t.kind, t.status, t.subject, t.body, t.waiting_for, t.created_by, t.resolution, t.created_at,
  t.updated_at`;

/** Inserts an open ticket. */
export async function insertTicket(
  db: Db,
  ticket: Pick<Ticket, 'id' | 'org_id' | 'kind' | 'subject' | 'body' | 'created_by' | 'created_at'>,
): Promise<void> {
  await db.query({
    name: 'support.insert_ticket',
    text: `
      insert into ticket (id, org_id, kind, status, subject, body, created_by, created_at, updated_at)
      values ($1, $2, $3, 'open', $4, $5, $6, $7, $7)`,
    values: [
      ...[ticket.id, ticket.org_id, ticket.kind, ticket.subject, JSON.stringify(ticket.body)],
      ...[ticket.created_by, ticket.created_at],
    ],
  });
}

/** A ticket; `org_id` null: of any organization, for staff. Null when there is none. */
export async function findTicket(
  db: Db,
  args: { id: string; org_id: Id<'org'> | null },
): Promise<Ticket | null> {
  const { rows } = await db.query<Ticket>({
    name: 'support.find_ticket',
    text: `select ${COLUMNS} from ticket t where t.id = $1 and ($2::text is null or t.org_id = $2)`,
    values: [args.id, args.org_id],
  });
  return rows[0] ?? null;
}

/** As `findTicket`, with the ticket held until the transaction ends: messages and ends take turns. */
export async function lockTicket(
  db: Db,
  args: { id: string; org_id: Id<'org'> | null },
): Promise<Ticket | null> {
  const { rows } = await db.query<Ticket>({
    name: 'support.lock_ticket',
    text: `
      select ${COLUMNS} from ticket t
       where t.id = $1 and ($2::text is null or t.org_id = $2) for no key update`,
    values: [args.id, args.org_id],
  });
  return rows[0] ?? null;
}

/** Sets what changes about a ticket, which is locked. */
export async function updateTicket(
  db: Db,
  ticket: Pick<Ticket, 'id' | 'status' | 'waiting_for' | 'resolution'> & { readonly at: Date },
): Promise<void> {
  await db.query({
    name: 'support.update_ticket',
    text: `
      update ticket set status = $2, waiting_for = $3, resolution = $4, updated_at = $5 where id = $1`,
    values: [ticket.id, ticket.status, ticket.waiting_for, ticket.resolution, ticket.at],
  });
}

/** How many tickets of an organization are open. */
export async function countOpenTickets(db: Db, org_id: Id<'org'>): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'support.count_open_tickets',
    text: `select count(*)::int as n from ticket where org_id = $1 and status = 'open'`,
    values: [org_id],
  });
  return rows[0]?.n ?? 0;
}

/** A page of an organization's tickets, newest first, strictly after `after`. */
export async function listTickets(
  db: Db,
  args: {
    org_id: Id<'org'>;
    kind: TicketKind | null;
    status: TicketStatus | null;
    after: { at: number; id: string } | null;
    limit: number;
  },
): Promise<Ticket[]> {
  const { rows } = await db.query<Ticket>({
    name: 'support.list_tickets',
    text: `
      select ${COLUMNS} from ticket t
       where t.org_id = $1 and ($2::text is null or t.kind = $2) and ($3::text is null or t.status = $3)
         and ($4::timestamptz is null or (t.created_at, t.id) < ($4, $5))
       order by t.created_at desc, t.id desc limit $6`,
    values: [
      ...[args.org_id, args.kind, args.status],
      ...[args.after === null ? null : new Date(args.after.at), args.after?.id ?? null, args.limit],
    ],
  });
  return rows;
}

/** A page of the tickets of several organizations, newest first, strictly after `after`. */
export async function listTicketsOf(
  db: Db,
  args: {
    org_ids: readonly Id<'org'>[];
    status: TicketStatus | null;
    after: { at: number; id: string } | null;
    limit: number;
  },
): Promise<Ticket[]> {
  const { rows } = await db.query<Ticket>({
    name: 'support.list_tickets_of',
    text: `
      select ${COLUMNS} from ticket t
       where t.org_id = any ($1) and ($2::text is null or t.status = $2)
         and ($3::timestamptz is null or (t.created_at, t.id) < ($3, $4))
       order by t.created_at desc, t.id desc limit $5`,
    values: [
      ...[args.org_ids, args.status],
      ...[args.after === null ? null : new Date(args.after.at), args.after?.id ?? null, args.limit],
    ],
  });
  return rows;
}

/** How many tickets of `org_ids` wait for an answer of ours or of their reseller. */
export async function countWaiting(db: Db, org_ids: readonly Id<'org'>[]): Promise<number> {
  const { rows } = await db.query<{ waiting: number }>({
    name: 'support.count_waiting',
    text: `
      select count(*)::int as waiting from ticket
       where org_id = any ($1) and status = 'open' and waiting_for = 'staff'`,
    values: [org_ids],
  });
  return rows[0]?.waiting ?? 0;
}

/**
 * A page of the open tickets of all organizations, oldest first, strictly after `after`; without `answered` those alone
 * that wait for staff. A request for higher limits is among them once somebody wrote about it: it has a list of its own.
 */
export async function listOpenTickets(
  db: Db,
  args: { answered: boolean; after: { at: number; id: string } | null; limit: number },
): Promise<Ticket[]> {
  const { rows } = await db.query<Ticket>({
    name: 'support.list_open_tickets',
    text: `
      select ${COLUMNS} from ticket t
       where t.status = 'open' and ($1 or t.waiting_for = 'staff')
         and (t.kind <> 'limit_increase'
              or exists (select from ticket_message m where m.ticket_id = t.id))
         and ($2::timestamptz is null or (t.created_at, t.id) > ($2, $3))
       order by t.created_at, t.id limit $4`,
    values: [
      args.answered,
      ...[args.after === null ? null : new Date(args.after.at), args.after?.id ?? null, args.limit],
    ],
  });
  return rows;
}

/** Appends a message to a ticket, which is locked; returns its number. */
export async function insertMessage(
  db: Db,
  message: Omit<TicketMessage, 'ticket_message_id'> & { readonly ticket_id: Id<'ticket'>; org_id: Id<'org'> },
): Promise<number> {
  const { rows } = await db.query<{ ticket_message_id: number }>({
    name: 'support.insert_message',
    text: `
      insert into ticket_message (ticket_id, org_id, author, author_id, author_name, text, created_at)
      values ($1, $2, $3, $4, $5, $6, $7) returning ticket_message_id`,
    values: [
      ...[message.ticket_id, message.org_id, message.author, message.author_id, message.author_name],
      ...[message.text, message.created_at],
    ],
  });
  return (rows[0] as { ticket_message_id: number }).ticket_message_id;
}

/** What was written about tickets, by ticket, oldest first; the messages of each are bounded. */
export async function listMessages(
  db: Db,
  ticket_ids: readonly Id<'ticket'>[],
): Promise<ReadonlyMap<string, readonly TicketMessage[]>> {
  const { rows } = await db.query<TicketMessage & { readonly ticket_id: string }>({
    name: 'support.list_messages',
    text: `
      select ticket_message_id, ticket_id, author, author_id, author_name, text, created_at
        from ticket_message where ticket_id = any ($1) order by ticket_message_id`,
    values: [ticket_ids],
  });
  return Map.groupBy(rows, ({ ticket_id }) => ticket_id);
}
