// Ask for higher limits of a key, and see what became of it.
import { Type } from 'typebox';
import {
  idOf,
  invalid,
  isId,
  named,
  notFound,
  oneOf,
  operation,
  orgCaller,
  page,
  pageInput,
  pageOf,
  walkPage,
} from '../kernel/index.ts';
import { sightOf } from '../keys/index.ts';
import { listAnnouncementsOperation } from './announcements.ts';
import { requestLimits } from './limit-request.ts';
import {
  LimitsView,
  limitMembers,
  limitsIn,
  TicketView,
  ticketExample,
  viewTicket,
  Words,
} from './schema.ts';
import { listLimitTickets } from './store.ts';
import { ticketOperations } from './ticket-operations.ts';

const audience = { kind: 'key', scopes: ['manage:keys'], session: ['owner', 'admin', 'developer'] } as const;
const DEFAULT_LIMIT = 50;

export const requestLimitsOperation = operation({
  name: 'limits.requests.create',
  method: 'POST',
  path: '/v1/limits/requests',
  summary: 'Ask for higher limits of a key; what the plan allows is granted at once',
  audience,
  input: Type.Object({ key_id: idOf('key'), ...limitMembers, reason: Type.Optional(Words) }),
  output: named(
    'LimitRequestAnswer',
    Type.Object({
      status: oneOf(['approved', 'open'], 'LimitRequestStatus'),
      applied: Type.Object(LimitsView.properties, {
        description: 'what holds for the key now; null: no bound',
      }),
      ticket: TicketView,
    }),
  ),
  errors: [],
  status: 201,
  idempotent: true,
  request: { key_id: ticketExample.body.key_id, rpm: 240, reason: 'the sale begins on Friday' },
  example: {
    status: 'approved',
    applied: { rpm: 240, tpm: 1_000_000, concurrency: 20 },
    ticket: ticketExample,
  },
  run: (context, { key_id, reason = '', ...limits }) =>
    context.transaction(async (context) => {
      if (!isId('key', key_id)) throw notFound();
      if (Object.values(limits).every((limit) => limit === undefined)) {
        throw invalid('rpm', 'missing', 'Name at least one of rpm, tpm and concurrency.');
      }
      const requested = limitsIn(limits);
      const { ticket, applied } = await requestLimits(context, { key_id, requested, reason });
      context.afterCommit(() => context.services.key_ring.forget(key_id));
      const status: 'approved' | 'open' = ticket.automatic ? 'approved' : 'open';
      return { status, applied, ticket: viewTicket(ticket) };
    }),
});

export const listLimitRequestsOperation = operation({
  name: 'limits.requests.list',
  method: 'GET',
  path: '/v1/limits/requests',
  summary: 'List requests for higher limits, newest first',
  audience,
  input: Type.Object(pageInput(200)),
  output: pageOf(TicketView),
  errors: [],
  example: { object: 'list', data: [ticketExample], next_cursor: '' },
  async run(context, input) {
    const caller = orgCaller(context);
    // A person reads live rows unless the other environment is asked for; a live key reads both.
    const environment = caller.kind === 'session' ? caller.environment : sightOf(caller);
    const args = { org_id: caller.org_id, environment };
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `limits.requests.list ${args.org_id} ${args.environment}`,
      cursor: input.cursor,
      limit: input.limit ?? DEFAULT_LIMIT,
      read: (after, limit) => listLimitTickets(context.db, { ...args, after, limit }),
      placeOf: (ticket) => ({ at: ticket.created_at.getTime(), id: ticket.id }),
    });
    return page(rows.map(viewTicket), next_cursor, cursorAt);
  },
});

export const supportOperations = [
  requestLimitsOperation,
  listLimitRequestsOperation,
  ...ticketOperations,
  listAnnouncementsOperation,
] as const;
