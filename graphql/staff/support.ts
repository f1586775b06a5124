// Requests for higher limits in the staff schema.
import {
  approveLimitsOperation,
  LimitRequestView,
  listStaffLimitRequestsOperation,
  overrideLimitsOperation,
  refuseLimitsOperation,
  ticketStatuses,
} from '@svc/core/support/index.ts';
import { toWire } from '../derive.ts';
import { pageArgs, pageCost, rowsAsked } from '../page.ts';
import type { Runner } from '../run.ts';
import type { Parts } from './parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, this part of the schema does not
type Any = any;

/** Adds the requests, and the acts that decide them. */
export function addSupport({ builder, derive, connectionType, mutation }: Parts): void {
  derive.enum('TicketStatus', ticketStatuses);
  const Requests = connectionType('LimitRequest', derive.output('LimitRequest', LimitRequestView));
  builder.queryField('limitRequests', (t: Any) =>
    t.field({
      type: Requests,
      nullable: true,
      description: 'Requests for higher limits that wait for a decision, oldest first.',
      args: { after: t.arg.string(), first: t.arg.int() },
      complexity: pageCost,
      extensions: { operation: listStaffLimitRequestsOperation.name },
      resolve: async (_root: unknown, args: Record<string, unknown>, { runner }: { runner: Runner }) => {
        const given = toWire(
          listStaffLimitRequestsOperation.input,
          { ...args, first: rowsAsked(args) },
          pageArgs,
        );
        const page = await runner.run(listStaffLimitRequestsOperation, given);
        return { page, paged: typeof args['after'] === 'string' };
      },
    }),
  );
  const decided = (t: Any) => ({
    id: t.exposeID('id'),
    status: t.exposeString('status'),
    resolution: t.exposeString('resolution'),
  });
  mutation({
    name: 'approveLimits',
    operation: approveLimitsOperation,
    description: 'Grants a request, or other values of the limits that it names.',
    payload: decided,
  });
  mutation({
    name: 'refuseLimits',
    operation: refuseLimitsOperation,
    description: 'Refuses a request; the customer reads the answer.',
    payload: decided,
  });
  mutation({
    name: 'overrideLimits',
    operation: overrideLimitsOperation,
    description: 'Sets what an organization may use beyond its plan; null withdraws it.',
    rename: { id: 'orgId' },
    payload: (t) => ({
      rpm: t.exposeInt('rpm', { nullable: true }),
      tpm: t.exposeInt('tpm', { nullable: true }),
      concurrency: t.exposeInt('concurrency', { nullable: true }),
    }),
  });
}
