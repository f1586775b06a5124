// SQL of tickets and requests for higher limits.
import type { Db, Environment, Id } from '../kernel/index.ts';
import type { LimitTicket, TicketStatus } from './types.ts';

const COLUMNS = `
  t.id, t.org_id, t.kind, t.status, t.subject, t.body, t.created_by, t.resolution, t.created_at, t.updated_at,
  r.environment, r.key_id, r.rpm, r.tpm, r.concurrency, r.automatic`;

/** Inserts a ticket of the kind limit_increase and what it asks for. */
export async function insertLimitTicket(
  db: Db,
  ticket: Omit<LimitTicket, 'kind' | 'resolution' | 'updated_at'> & { readonly chain_no: number },
): Promise<void> {
  await db.query({
    name: 'support.insert_limit_ticket',
    text: `
      with made as (
        insert into ticket (id, org_id, kind, status, subject, body, created_by, created_at, updated_at)
        values ($1, $2, 'limit_increase', $3, $4, $5, $6, $7, $7)
        returning id
      )
      insert into limit_request (ticket_id, org_id, environment, key_id, chain_no, rpm, tpm, concurrency, automatic,
                                 created_at)
      select id, $2, $8, $9, $10, $11, $12, $13, $14, $7 from made`,
    values: [
      ...[ticket.id, ticket.org_id, ticket.status, ticket.subject, JSON.stringify(ticket.body)],
      ...[ticket.created_by, ticket.created_at, ticket.environment, ticket.key_id, ticket.chain_no],
      ...[ticket.rpm, ticket.tpm, ticket.concurrency, ticket.automatic],
    ],
  });
}

/** How often the limits of a rotation chain were raised without a person after `since`. */
export async function countRaises(db: Db, args: { chain_no: number; since: Date }): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'support.count_raises',
    text: `
      select count(*)::int as n from limit_request where chain_no = $1 and automatic and created_at > $2`,
    values: [args.chain_no, args.since],
  });
  return rows[0]?.n ?? 0;
}

/** One request of any organization; null when there is none. */
export async function findLimitTicket(db: Db, id: Id<'ticket'>): Promise<LimitTicket | null> {
  const { rows } = await db.query<LimitTicket>({
    name: 'support.find_limit_ticket',
    text: `select ${COLUMNS} from ticket t join limit_request r on r.ticket_id = t.id where t.id = $1`,
    values: [id],
  });
  return rows[0] ?? null;
}

/** As `findLimitTicket`, with the ticket held until the transaction ends: of many decisions one counts. */
export async function lockLimitTicket(db: Db, id: Id<'ticket'>): Promise<LimitTicket | null> {
  const { rows } = await db.query<LimitTicket>({
    name: 'support.lock_limit_ticket',
    text: `
      select ${COLUMNS} from ticket t join limit_request r on r.ticket_id = t.id
       where t.id = $1 for no key update of t`,
    values: [id],
  });
  return rows[0] ?? null;
}

/** Ends a ticket that is open and locked. */
export async function closeTicket(
  db: Db,
  args: { id: Id<'ticket'>; status: TicketStatus; resolution: string; at: Date },
): Promise<void> {
  await db.query({
    name: 'support.close_ticket',
    text: `
      update ticket set status = $2, resolution = $3, updated_at = $4 where id = $1 and status = 'open'`,
    values: [args.id, args.status, args.resolution, args.at],
  });
}

/** A page of an organization's requests, newest first, strictly after `after`. */
export async function listLimitTickets(
  db: Db,
  args: {
    org_id: Id<'org'>;
    environment: Environment | null;
    after: { at: number; id: string } | null;
    limit: number;
  },
): Promise<LimitTicket[]> {
  const { rows } = await db.query<LimitTicket>({
    name: 'support.list_limit_tickets',
    text: `
      select ${COLUMNS} from ticket t join limit_request r on r.ticket_id = t.id
       where t.org_id = $1 and ($2::text is null or r.environment = $2)
         and ($3::timestamptz is null or (t.created_at, t.id) < ($3, $4))
       order by t.created_at desc, t.id desc limit $5`,
    values: [
      args.org_id,
      args.environment,
      args.after === null ? null : new Date(args.after.at),
      args.after?.id ?? null,
      args.limit,
    ],
  });
  return rows;
}

/** A page of the requests that wait for a person, of all organizations, oldest first, strictly after `after`. */
export async function listOpenLimitTickets(
  db: Db,
  args: { after: { at: number; id: string } | null; limit: number },
): Promise<LimitTicket[]> {
  const { rows } = await db.query<LimitTicket>({
    name: 'support.list_open_limit_tickets',
    text: `
      select ${COLUMNS} from ticket t join limit_request r on r.ticket_id = t.id
       where t.kind = 'limit_increase' and t.status = 'open'
         and ($1::timestamptz is null or (t.created_at, t.id) > ($1, $2))
       order by t.created_at, t.id limit $3`,
    values: [args.after === null ? null : new Date(args.after.at), args.after?.id ?? null, args.limit],
  });
  return rows;
}
