// What becomes of tickets that are written in words. Each act is an entry of the audit log, which never has the words,
// and what staff do is an event and a mail, in the transaction of the act.
import { actorOf, findMailboxes, writeAudit } from '../identity/index.ts';
import { findInvoice } from '../invoices/index.ts';
import { type Context, type Id, isId, notFound, orgCaller, ServiceError } from '../kernel/index.ts';
import { findKey, roleBehind } from '../keys/index.ts';
import { writeEvent } from '../ledger/index.ts';
import { sendMail } from '../mail/index.ts';
import { findOrg, lockOrg } from '../orgs/index.ts';
import { findTopup } from '../topups/index.ts';
import {
  countOpenTickets,
  findTicket,
  insertMessage,
  insertTicket,
  listMessages,
  lockTicket,
  updateTicket,
} from './ticket-store.ts';
import type { Ticket, TicketKind, TicketMessage, TicketStatus } from './types.ts';

/** Open tickets of an organization, and messages of a ticket: what people write, with room to spare. */
const OPEN_MAX = 100;
const MESSAGES_MAX = 200;

interface Thread {
  readonly ticket: Ticket;
  readonly messages: readonly TicketMessage[];
}

async function messagesOf({ db }: Context, { id }: Ticket): Promise<readonly TicketMessage[]> {
  return (await listMessages(db, [id])).get(id) ?? [];
}

/** A ticket with its messages, as stored now. @throws ServiceError not_found. */
export async function readThread(
  context: Context,
  args: { id: string; org_id: Id<'org'> | null },
): Promise<Thread> {
  const ticket = isId('ticket', args.id) ? await findTicket(context.db, args) : null;
  if (ticket === null) throw notFound();
  return { ticket, messages: await messagesOf(context, ticket) };
}

async function getLocked(context: Context, args: { id: string; org_id: Id<'org'> | null }): Promise<Ticket> {
  const ticket = isId('ticket', args.id) ? await lockTicket(context.db, args) : null;
  if (ticket === null) throw notFound();
  return ticket;
}

function ended(ticket: Ticket, words: string): ServiceError {
  return new ServiceError('state_conflict', `The ticket is ${ticket.status}. ${words}`, {
    details: { state: ticket.status },
  });
}

function record(context: Context, action: string, ticket: Ticket, after: Record<string, unknown>) {
  const { id, org_id, subject } = ticket;
  return writeAudit(context, { action, org_id, target: { type: 'ticket', id, display: subject }, after });
}

/** What subscribers of webhooks hear: staff wrote, or the status changed (docs/webhooks.md#events). */
function announce(context: Context, { id, org_id, kind }: Ticket, status: TicketStatus): Promise<void> {
  const payload = { ticket_id: id, kind, status };
  return writeEvent(context.db, { org_id, topic: 'ticket.updated', payload, at: context.now() });
}

/** Sets the state of `ticket`, which is locked; subscribers hear of a change of status. */
async function move(
  context: Context,
  ticket: Ticket,
  to: Partial<Pick<Ticket, 'status' | 'waiting_for' | 'resolution'>>,
): Promise<void> {
  const next = { ...ticket, ...to };
  await updateTicket(context.db, { ...next, at: context.now() });
  if (next.status !== ticket.status) await announce(context, ticket, next.status);
}

async function append(
  context: Context,
  ticket: Ticket,
  by: Pick<TicketMessage, 'author' | 'author_id' | 'author_name'>,
  text: string,
): Promise<number> {
  const messages = await messagesOf(context, ticket);
  if (messages.length >= MESSAGES_MAX) throw ended(ticket, 'It has grown too long: write a new one.');
  const { id: ticket_id, org_id } = ticket;
  return insertMessage(context.db, { ...by, ticket_id, org_id, text, created_at: context.now() });
}

/** Who writes for the organization: the person by their address, a key by its name. */
async function customerOf(
  context: Context,
): Promise<Pick<TicketMessage, 'author' | 'author_id' | 'author_name'>> {
  const caller = orgCaller(context);
  const { id: author_id, display } = actorOf(caller);
  if (caller.kind === 'session') return { author: 'customer', author_id, author_name: display };
  const { org_id, key_id: id } = caller;
  const key = await findKey(context.db, { org_id, environment: null, id });
  return { author: 'customer', author_id, author_name: key === null ? display : `key ${key.name}` };
}

/** The person who asks; of a key its maker, null for one that is bound to nobody. */
export function askerOf(context: Context): Id<'user'> | null {
  const caller = orgCaller(context);
  if (caller.kind === 'session') return caller.user_id;
  return roleBehind(caller) == null ? null : (caller.maker?.user_id ?? null);
}

interface NewTicket {
  readonly kind: Exclude<TicketKind, 'limit_increase'>;
  readonly subject: string;
  readonly text: string;
  /** A document or a top-up of the organization that it is about. */
  readonly invoice_id?: string;
  readonly topup_id?: string;
}

/**
 * What a ticket is about, with the number of the document that it or its top-up names.
 * @throws ServiceError not_found for a document or top-up that is not the organization's.
 */
async function subjectOf(context: Context, org_id: Id<'org'>, about: NewTicket) {
  const { invoice_id, topup_id } = about;
  let invoice_number: string | null = null;
  if (invoice_id !== undefined) {
    const found =
      isId('invoice', invoice_id) || isId('credit_note', invoice_id)
        ? await findInvoice(context.db, { org_id, id: invoice_id })
        : null;
    if (found === null) throw notFound();
    invoice_number = found.number;
  }
  if (topup_id !== undefined) {
    const found = isId('topup', topup_id) ? await findTopup(context.db, { org_id, id: topup_id }) : null;
    if (found === null) throw notFound();
    invoice_number ??= found.invoice_number;
  }
  return {
    ...(invoice_id === undefined ? {} : { invoice_id }),
    ...(topup_id === undefined ? {} : { topup_id }),
    ...(invoice_number === null ? {} : { invoice_number }),
  };
}

/** Opens a ticket for the caller's organization. @throws ServiceError not_found, plan_limit_reached. */
export function openTicket(context: Context, given: NewTicket): Promise<Thread> {
  return context.transaction(async (context) => {
    const { org_id } = orgCaller(context);
    // Held, so that of many tickets at once no more than the bound are open.
    if ((await lockOrg(context.db, org_id)) === null) throw notFound();
    const about = await subjectOf(context, org_id, given);
    if ((await countOpenTickets(context.db, org_id)) >= OPEN_MAX) {
      const words = `At most ${OPEN_MAX} tickets are open at a time. Close one that is done with.`;
      throw new ServiceError('plan_limit_reached', words, { details: { limit: OPEN_MAX } });
    }
    const { kind, subject, text } = given;
    const body = { text, ...about };
    const id = context.newId('ticket');
    const created_by = askerOf(context);
    await insertTicket(context.db, {
      id,
      org_id,
      kind,
      subject,
      body,
      created_by,
      created_at: context.now(),
    });
    const thread = await readThread(context, { id, org_id });
    await record(context, 'tickets.create', thread.ticket, { kind });
    return thread;
  });
}

/** Opens a ticket that the service itself writes, in the open transaction. Its bound is the caller's. */
export async function openTicketOf(
  context: Context,
  given: Pick<Ticket, 'org_id' | 'subject'> & {
    readonly kind: NewTicket['kind'];
    readonly body: Readonly<Record<string, string>>;
  },
): Promise<Id<'ticket'>> {
  const id = context.newId('ticket');
  const { org_id, kind, subject, body } = given;
  await insertTicket(context.db, {
    ...{ id, org_id, kind, subject, body },
    ...{ created_by: null, created_at: context.now() },
  });
  const ticket = await findTicket(context.db, { id, org_id });
  if (ticket === null) throw new Error('a ticket that was just made is not there');
  await record(context, 'tickets.create', ticket, { kind });
  return id;
}

/**
 * Adds words of the customer to a ticket; one that was resolved is open again.
 * @throws ServiceError not_found, state_conflict once it was closed or decided.
 */
export function writeToTicket(context: Context, args: { id: string; text: string }): Promise<Thread> {
  return context.transaction(async (context) => {
    const { org_id } = orgCaller(context);
    const ticket = await getLocked(context, { id: args.id, org_id });
    if (ticket.status !== 'open' && ticket.status !== 'resolved') throw ended(ticket, 'Write a new one.');
    await append(context, ticket, await customerOf(context), args.text);
    await move(context, ticket, { status: 'open', waiting_for: 'staff', resolution: '' });
    await record(context, 'tickets.reply', ticket, { status: 'open' });
    return readThread(context, { id: ticket.id, org_id });
  });
}

/** Ends a ticket for the customer; one that is closed stays as it is. @throws ServiceError not_found, state_conflict. */
export function withdrawTicket(context: Context, id: string): Promise<Thread> {
  return context.transaction(async (context) => {
    const { org_id } = orgCaller(context);
    const ticket = await getLocked(context, { id, org_id });
    if (ticket.status === 'closed') return readThread(context, { id, org_id });
    if (ticket.status !== 'open' && ticket.status !== 'resolved') throw ended(ticket, 'It was decided.');
    await move(context, ticket, { status: 'closed' });
    await record(context, 'tickets.close', ticket, { status: 'closed' });
    return readThread(context, { id, org_id });
  });
}

/** Who asked hears of it; where that is nobody in particular or has left, owners and admins do. */
async function mailAnswer(
  context: Context,
  ticket: Ticket,
  { message, text, status }: { message: number; text: string; status: TicketStatus },
): Promise<void> {
  const { org_id, created_by } = ticket;
  const org = await findOrg(context.db, org_id);
  if (org === null) return;
  const asked =
    created_by === null ? [] : await findMailboxes(context.db, { org_id, roles: [], also: created_by });
  const to =
    asked.length > 0 ? asked : await findMailboxes(context.db, { org_id, roles: ['owner', 'admin'] });
  await sendMail(context, {
    ...{ template: 'ticket_answered', to, org_id, reference: `${ticket.id}-${message}` },
    data: {
      ...{ org: org.name, slug: org.slug, ticket_id: ticket.id, subject: ticket.subject },
      ...{ status, answer: text },
    },
  });
}

interface Answer {
  readonly id: string;
  /** Null: of any organization, for staff. */
  readonly org_id: Id<'org'> | null;
  readonly by: Pick<TicketMessage, 'author' | 'author_id' | 'author_name'>;
  /** Null: nothing is said, which only an end can be. */
  readonly text: string | null;
  readonly resolve: boolean;
}

/** Writes an answer in the open transaction; who answers says it in the audit log. @throws ServiceError as `answerTicket`. */
async function answer(context: Context, { id, org_id, by, text, resolve }: Answer): Promise<Ticket> {
  const ticket = await getLocked(context, { id, org_id });
  if (ticket.status !== 'open' && ticket.status !== 'resolved') throw ended(ticket, 'It has ended.');
  if (resolve && ticket.kind === 'limit_increase')
    throw ended(ticket, 'It is granted or refused by the service.');
  const message = text === null ? null : await append(context, ticket, by, text);
  const status: TicketStatus = resolve ? 'resolved' : 'open';
  await move(context, ticket, { status, waiting_for: 'customer', resolution: (resolve && text) || '' });
  // A change of status was an event already.
  if (status === ticket.status) await announce(context, ticket, status);
  if (message !== null && text !== null) await mailAnswer(context, ticket, { message, text, status });
  return { ...ticket, status };
}

/**
 * Answers a ticket as staff, and ends it where `resolve` says so.
 * @throws ServiceError not_found, state_conflict once it has ended; also where a request for limits is to be resolved, which
 * is granted or refused.
 */
export function answerTicket(
  context: Context,
  args: { id: string; text: string; resolve: boolean },
): Promise<Thread> {
  return context.transaction(async (context) => {
    const { id: author_id, display: author_name } = actorOf(context.caller);
    const ticket = await answer(context, {
      ...{ ...args, org_id: null, by: { author: 'staff', author_id, author_name } },
    });
    await record(context, 'staff.tickets.answer', ticket, { status: ticket.status });
    return readThread(context, { id: ticket.id, org_id: null });
  });
}

/**
 * The same as the reseller of the organization that wrote it, whose people the customer knows by the reseller's name. The entry
 * of the audit log is the reseller's. @throws ServiceError not_found, state_conflict.
 */
export function answerAsReseller(
  context: Context,
  args: {
    readonly id: string;
    readonly org_id: Id<'org'>;
    readonly reseller: { readonly id: Id<'org'>; readonly name: string };
    readonly text: string | null;
    readonly resolve: boolean;
  },
): Promise<Thread> {
  const { reseller, ...what } = args;
  return context.transaction(async (context) => {
    const by = {
      author: 'reseller',
      author_id: actorOf(context.caller).id,
      author_name: reseller.name,
    } as const;
    const ticket = await answer(context, { ...what, by });
    const { id, subject, status } = ticket;
    await writeAudit(context, {
      ...{ action: `reseller.tickets.${args.resolve ? 'resolve' : 'reply'}`, org_id: reseller.id },
      ...{ target: { type: 'ticket', id, display: subject }, after: { status } },
    });
    return readThread(context, { id, org_id: ticket.org_id });
  });
}
