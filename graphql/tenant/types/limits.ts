// What keys may use, what is left of it, and requests for more.
import { getLimitsOperation } from '@svc/core/analytics/index.ts';
import {
  LimitsView,
  listLimitRequestsOperation,
  requestLimitsOperation,
  TicketView,
  ticketStatuses,
} from '@svc/core/support/index.ts';
import { builder, derive } from '../builder.ts';
import { connectionType, pageField } from '../connection.ts';
import { mutation } from '../mutation.ts';
import { EnvironmentEnum } from './common.ts';

derive.enum('TicketStatus', ticketStatuses);

const Limits = derive.output('Limits', getLimitsOperation.output);
const AppliedLimits = derive.output('AppliedLimits', LimitsView);
const LimitTicket = derive.output('LimitTicket', TicketView);
const TicketConnection = connectionType('LimitTicket', LimitTicket);

builder.queryFields((t) => ({
  limits: t.field({
    type: Limits,
    nullable: true,
    args: { environment: t.arg({ type: EnvironmentEnum }) },
    description: 'Limits of plan and keys, what is left of them, and what they refused.',
    extensions: { operation: getLimitsOperation.name },
    resolve: (_root, { environment }, { runner }) => runner.run(getLimitsOperation, {}, { environment }),
  }),
  limitRequests: pageField(t, 'LimitRequests', {
    operation: listLimitRequestsOperation,
    type: TicketConnection,
    description: 'Requests for higher limits, newest first.',
    environment: true,
    options: () => ({}),
  }),
}));

interface Payload {
  readonly answer: { readonly status: string; readonly applied: unknown; readonly ticket: unknown };
}

mutation({
  name: 'requestLimits',
  operation: requestLimitsOperation,
  input: requestLimitsOperation.input,
  description: 'Asks for higher limits of a key; what the plan allows is granted at once.',
  payload: (t) => ({
    status: t.string({
      description: '`approved`, or `open` where a person decides',
      resolve: ({ answer }: Payload) => answer.status,
    }),
    applied: t.field({ type: AppliedLimits, resolve: ({ answer }: Payload) => answer.applied }),
    ticket: t.field({ type: LimitTicket, resolve: ({ answer }: Payload) => answer.ticket }),
  }),
});
